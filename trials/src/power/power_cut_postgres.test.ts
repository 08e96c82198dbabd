/**
 * The machine of gateway and signer loses power while PostgreSQL stays: the signer's memory is behind the database, by
 * whatever was not synced. Service goes on by itself, and a database that is set back past what was synced is still refused. A
 * sample here, 20 cuts with `npm run figures`.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { freshDataFolder } from "@keystead/e2e/data_folder.ts";
import { administer, testSource } from "@keystead/e2e/databases.ts";
import { untilSaid } from "@keystead/e2e/faults/deployment.ts";
import { startKeystead } from "@keystead/e2e/keystead_server.ts";
import { envelope } from "@keystead/e2e/matrix/fixture.ts";
import { noTestDisk } from "@keystead/e2e/test_disk/test_disk.ts";
import { tables } from "@keystead/server/store/tables.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { samples } from "../../../core/test/samples.ts";
import { seededRandom } from "../../../core/test/seeded_random.ts";
import { checkCut, createCutter, keepForLater, rebuild, recordRun, serverEnv } from "./power_cut.ts";
import type { SeenCheckpoint } from "./watch_log.ts";
import { furnishTheatre, type Ledger, sendOnce } from "./workload.ts";

const cuts = samples.postgresPowerCuts;
const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));

test(`${cuts} power cuts beside PostgreSQL: the signer's memory catches up by itself, and lets nobody set it back`, {
  skip: noTestDisk(),
  timeout: testTimeoutMs,
}, async (t) => {
  const source = await testSource(t, "postgres");
  if (source?.kind !== "postgres") return;
  t.diagnostic(`KEYSTEAD_SEED=${seed}`);
  const random = seededRandom(seed);
  const { url: databaseUrl } = source;
  let dataFolder = freshDataFolder(t);
  await (await startKeystead({ dataFolder, databaseUrl })).stop();
  const theatre = await furnishTheatre(dataFolder, databaseUrl, 3);
  const setBack = await keepTables(databaseUrl);

  let ledger: Ledger = [];
  let seen: SeenCheckpoint[] = [];
  let torn = 0;
  for (let n = 1; n <= cuts; n++) {
    const workMs = 200 + random.below(400);
    const run = await recordRun(t, { dataFolder, databaseUrl, ledger, seen, theatre, workMs, random });
    const hint = `cut ${n}, KEYSTEAD_SEED=${seed}`;
    assert.deepEqual(run.complaints, [], hint);
    const cut = createCutter(run)(run.changes.length - 1, random);
    if (cut.kept.moods["signer/memory"] !== undefined) torn += 1;
    const left = rebuild(run, cut, freshDataFolder(t));
    [dataFolder, ledger, seen] = [left, cut.ledger, cut.seen];
    if (n < cuts) continue;
    const complaints = await checkCut(left, cut, theatre, databaseUrl);
    if (complaints.length > 0) t.diagnostic(`${cut.name}; what it left is in ${keepForLater(run, cut)}`);
    assert.deepEqual(complaints, [], hint);
  }
  t.diagnostic(
    `PostgreSQL, seed ${seed}: ${cuts} power cuts, ${torn} with releases that were not synced; ` +
      `${ledger.length} answers were the same after each, and none was lost; ${seen.length} checkpoints, all of one history`,
  );
  // Checkpoints wait for the disk once a second, so that a few cuts may all find everything there.
  assert.ok(cuts < 10 || torn > cuts / 4, "the memory was on the disk nearly always: the cuts are too kind");

  // The signer has started since, so what was released before that is on the disk.
  await setBack();
  const server = await startKeystead({ dataFolder, databaseUrl, env: serverEnv });
  t.after(() => server.stop());
  // Each of them has moved since: the last start made something new in all.
  let refused = 0;
  let repeated = 0;
  for (const { organizationId, root } of theatre.stages.flatMap(({ parent, sub }) => [parent, sub])) {
    const own = ledger.filter(({ body }) => JSON.parse(body).organizationId === organizationId);
    const told = own.find(({ answer }) => answer?.status === 200);
    const tag = { userTagName: `Set back ${crypto.randomUUID()}`, userIds: [] };
    const body = JSON.stringify(envelope("ACTIVITY_TYPE_CREATE_USER_TAG", organizationId, tag));
    const fresh = { path: "create_user_tag", body, key: root.p256, sentAt: 0 };
    for (const exchange of told === undefined ? [fresh] : [fresh, { ...told, key: root.p256 }]) {
      const answer = await sendOnce(server.url, exchange);
      assert.equal(answer.status, 503, `${exchange.path}: ${answer.text}`);
      refused += 1;
    }
    if (told !== undefined) repeated += 1;
    await untilSaid(server.output, new RegExp(`organization ${organizationId}: .*accept-database`));
  }
  t.diagnostic(`${refused} requests to ${2 * theatre.stages.length} organizations that were set back, all refused`);
  assert.ok(repeated >= theatre.stages.length, `only ${repeated} of them had been worked in`);
});

/** Keeps all rows as they are; what it returns brings them back. */
async function keepTables(url: string): Promise<() => Promise<void>> {
  const names = Object.keys(tables);
  await administer(
    url,
    `create schema kept; ${names.map((name) => `create table kept.${name} as table ${name};`).join(" ")}`,
  );
  const restored = names.map((name) => `insert into ${name} select * from kept.${name};`);
  return () => administer(url, `truncate ${names.join(", ")}; ${restored.join(" ")}`);
}
