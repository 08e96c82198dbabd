/** How much a member without any right can store: over HTTP, with the largest bodies, at two servers where there can be two, and after a restart. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "@keystead/e2e/databases.ts";
import { type KeysteadServer, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { type Answer, bytesOf } from "@keystead/e2e/wire.ts";
import { closeStore, openStore, type Store, type StoreSource } from "@keystead/server/store/store.ts";
import { seededRandom } from "../../core/test/seeded_random.ts";
import { freePort } from "./crash/free_port.ts";
import { startDeployment } from "./races/deployment.ts";
import { quickStamp } from "./races/quick_stamp.ts";
import { assertRefusedAs, type Organization, type Person, Stage, type Stamped } from "./races/stage.ts";

const refusedBytesPerUserPerDay = 4 * 1024 * 1024;
const bodyBytes = 1_000_000;
const sent = 24;
const sentAtOnce = 4;
const env = { KEYSTEAD_LIMITS: JSON.stringify({ refusedBytesPerUserPerDay }) };

function longRequest(stage: Stage, organization: Organization, person: Person): Stamped {
  const { body, ...rest } = stage.stamped(organization, person, "create_user_tag", { userTagName: "no", userIds: [] });
  const long = JSON.stringify({ ...JSON.parse(body), comment: "x".repeat(bodyBytes) });
  return { ...rest, body: long, stamp: ["X-Stamp", quickStamp(person.key, bytesOf(long))] };
}

async function flood(stage: Stage, organization: Organization, member: Person): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let round = 0; round < sent / sentAtOnce; round++) {
    answers.push(
      ...(await stage.sendAll(Array.from({ length: sentAtOnce }, () => longRequest(stage, organization, member)))),
    );
  }
  return answers;
}

/** Rows and bytes that the database has of refusals, and what it has counted. */
async function readStored(
  source: StoreSource,
): Promise<{ rows: number; bytes: number; leaves: number; counted: number }> {
  const store: Store = await openStore(source);
  try {
    const rows = await store.db.selectFrom("activities").select(["activity_id", "body", "failure"]).execute();
    const refused = rows.filter(({ failure }) => failure !== null);
    const ids = refused.map(({ activity_id }) => activity_id);
    const leaves = await store.db.selectFrom("leaves").select("number").where("activity_id", "in", ids).execute();
    const counted = await store.db.selectFrom("refused_bytes").select("bytes").execute();
    return {
      rows: refused.length,
      bytes: refused.reduce((sum, { body, failure }) => sum + body.length + (failure?.length ?? 0), 0),
      leaves: leaves.length,
      counted: counted.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  } finally {
    await closeStore(store);
  }
}

for (const dialect of dialects) {
  test(`on ${dialect} a member without rights stores its day's bytes and no more, and is always told the same`, async (t) => {
    const deployment = await startDeployment(t, dialect, { serversOnPostgres: 2, env });
    if (deployment === undefined) return;
    const stage = new Stage(deployment, seededRandom(1));
    const organization = await stage.found({ users: 1, threshold: 1 });
    const member = await stage.member(organization);
    const answers = await flood(stage, organization, member);
    const [first] = answers;
    for (const answer of answers) {
      assertRefusedAs(answer, 403, /You don't have sufficient permissions/);
      assert.deepEqual(answer.json, first?.json);
    }
    await deployment.stop();
    const stored = await readStored(deployment.source);
    t.diagnostic(
      `${sent} bodies of ${bodyBytes} bytes at ${deployment.servers.length} servers: ${JSON.stringify(stored)}`,
    );
    // Another gateway does not know what one has on its way.
    const most = refusedBytesPerUserPerDay + (deployment.servers.length - 1) * sentAtOnce * bodyBytes;
    assert.ok(stored.rows >= 3 && stored.bytes <= stored.counted && stored.counted <= most, JSON.stringify(stored));
    assert.equal(stored.leaves, stored.rows);

    const [{ dataFolder }] = deployment.servers as [KeysteadServer];
    const { source } = deployment;
    const place = { dataFolder, ...(source.kind === "postgres" && { databaseUrl: source.url }) };
    const again = await startKeystead({ ...place, port: await freePort(), env });
    t.after(() => again.stop());
    const later = new Stage({ ...deployment, urls: [again.url] }, seededRandom(2));
    for (const answer of await flood(later, organization, member)) assert.deepEqual(answer.json, first?.json);
    await again.stop();
    assert.match(again.output(), /has used up refusedBytesPerUserPerDay; refusals of this user are not stored today/);
    assert.deepEqual(await readStored(source), stored);
  });
}
