/**
 * Random operations by eight clients on many organizations, while gateways and signers are killed and paused: every organization's
 * history is linearizable, and its state in the end is what its log, executed anew, leads to. One server on SQLite, three on one
 * PostgreSQL. A sample here; 100,000 operations on both databases together with `npm run figures`. KEYSTEAD_SEED repeats a run's
 * choices (not its timing).
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { freshDataFolder } from "@keystead/e2e/data_folder.ts";
import { dialects } from "@keystead/e2e/databases.ts";
import { ownFault } from "@keystead/e2e/keystead_server.ts";
import { ownStateOf } from "@keystead/server/state/leaf_header.ts";
import { closeStore, openStore } from "@keystead/server/store/store.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { samples } from "../../../core/test/samples.ts";
import { seededRandom } from "../../../core/test/seeded_random.ts";
import { ready } from "../crash/readiness.ts";
import { type Deployment, startDeployment } from "../races/deployment.ts";
import { type Organization, Stage } from "../races/stage.ts";
import { checkHistory } from "./checker.ts";
import { type Disturbances, disturb } from "./disturb.ts";
import { credentialOf, type Entry, readLog } from "./log.ts";
import type { State } from "./model.ts";
import type { Commit, FromClients, Operation, Orders } from "./record.ts";
import { replay } from "./replay.ts";

const operations = samples.historyOperations;
const organizationCount = samples.historyOrganizations;
const clients = 8;
const serversOnPostgres = 3;
/** Of kills and of pauses. There is one of either about every hundred operations. */
const fewDisturbances = Math.max(2, Math.floor(operations / 1_250));

for (const dialect of dialects) {
  const skip = process.platform !== "linux" && "needs /proc";
  const title = `${operations} random operations by ${clients} clients on ${dialect}, with kills and pauses, are linearizable`;
  test(title, { skip, timeout: testTimeoutMs }, async (t) => {
    const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));
    t.diagnostic(`KEYSTEAD_SEED=${seed}`);
    const env = { KEYSTEAD_RESTART_PAUSE_MS: "200" };
    const deployment = await startDeployment(t, dialect, { serversOnPostgres, env });
    if (deployment === undefined) return;
    const stage = new Stage(deployment, seededRandom(seed));
    const organizations: { organization: Organization; threshold: number }[] = [];
    for (let index = 0; index < organizationCount; index++) {
      const threshold = 1 + (index % 2);
      organizations.push({ organization: await stage.found({ users: 3, threshold }), threshold });
    }

    const startedMs = Date.now();
    const file = `${freshDataFolder(t)}.history`;
    const ran = await runClients(t, deployment, {
      urls: deployment.urls,
      clients,
      operations,
      seed,
      file,
      organizations: organizations.map(({ organization: { organizationId, people } }) => ({
        organizationId,
        people: people.map(({ userId, key }) => ({
          userId,
          publicKey: key.publicKey,
          privateKey: toHex(key.privateKey),
        })),
      })),
    });
    const seconds = Math.round((Date.now() - startedMs) / 1000);
    // What a killed server left behind is released when it is back.
    for (const server of deployment.servers) await ready(server);
    await deployment.stop();
    for (const { output } of deployment.servers) assert.doesNotMatch(output(), ownFault);

    const history = readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line) => (line === "" ? [] : (JSON.parse(line) as Operation)));
    const violations = await checkAll(deployment, organizations, history);
    const again = await replay({ ...deployment, limits: {} });
    t.diagnostic(
      `${dialect}, ${deployment.servers.length} servers, seed ${seed}: ${history.length} operations by ${clients} clients on ` +
        `${organizationCount} organizations in ${seconds} s; ${ran.kills} kills, ${ran.pauses} pauses, ${ran.lost} answers lost; ` +
        `${violations.length} violations of linearizability`,
    );
    t.diagnostic(`${dialect}: answers: ${tally(history)}`);
    const kinds = Map.groupBy(history.filter(isServed), ({ credential }) => credential.kind);
    const served = [...kinds].map(([kind, all]) => `${kind} ${all.length}`).sort();
    t.diagnostic(`${dialect}: served: ${served.join(", ")}`);
    assert.equal(kinds.size, 3, "keys, passkeys and read-only sessions take part");
    t.diagnostic(
      `${dialect}: ${again.acts} acts of ${again.organizations} organizations executed anew, ${again.differences.length} differences`,
    );
    assert.deepEqual(violations, [], `KEYSTEAD_SEED=${seed}`);
    assert.deepEqual(again.differences, [], `KEYSTEAD_SEED=${seed}`);
    assert.equal(ran.unanswered, 0, "requests that were never answered");
    assert.ok(history.length >= operations);
    assert.deepEqual(again.unchecked, [], "what nobody could check");
    assert.equal(again.organizations, organizationCount + 1, "organizations executed anew, with the first");
    const isDisturbed = Math.min(ran.kills, ran.pauses) >= fewDisturbances;
    assert.ok(isDisturbed, `${ran.kills} kills and ${ran.pauses} pauses: too little disturbance`);
  });
}

/** The clients at work in their own process, and the disturbances here, until all is done. */
async function runClients(
  t: TestContext,
  deployment: Deployment,
  orders: Orders,
): Promise<Disturbances & { unanswered: number; lost: number }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "clients.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const progress = { done: 0 };
  const finished = new Promise<Extract<FromClients, { kind: "finished" }>>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = JSON.parse(line) as FromClients;
      if (message.kind === "progress") progress.done = message.done;
      else if (message.kind === "finished") resolve(message);
      else reject(new Error(message.message));
    });
    child.once("exit", (code) => reject(new Error(`the clients ended with ${code}`)));
  });
  child.stdin.write(`${JSON.stringify(orders)}\n`);
  const stop = new AbortController();
  let isEnough = false;
  const struck = ({ kills, pauses }: Disturbances) => {
    if (isEnough || Math.min(kills, pauses) < fewDisturbances) return;
    isEnough = true;
    child.stdin.write("enough\n");
  };
  const disturbing = disturb(deployment, seededRandom(orders.seed + 1_000), () => progress.done, stop.signal, struck);
  try {
    const { unanswered, lost } = await finished;
    stop.abort();
    return { ...(await disturbing), unanswered, lost };
  } finally {
    stop.abort();
    await disturbing;
  }
}

async function checkAll(
  { source }: Deployment,
  organizations: readonly { organization: Organization; threshold: number }[],
  history: readonly Operation[],
): Promise<string[]> {
  const store = await openStore(source);
  try {
    const byOrganization = Map.groupBy(history, ({ organizationId }) => organizationId);
    const violations: string[] = [];
    for (const { organization, threshold } of organizations) {
      const { organizationId } = organization;
      const log = await readLog(store, organizationId);
      const found = checkHistory({
        birth: birthOf(organization, threshold),
        operations: byOrganization.get(organizationId) ?? [],
        commits: log.entries.flatMap(toCommit),
      });
      violations.push(...found.map((violation) => `organization ${organizationId}: ${violation}`));
    }
    return violations;
  } finally {
    await closeStore(store);
  }
}

/** As the stage founds it. */
function birthOf({ people }: Organization, threshold: number): State {
  const users = people.map(({ userId, key }, index) => {
    const keys = [{ apiKeyId: "?", publicKey: key.publicKey }];
    return [userId, { userName: `Root ${index}`, tags: [], keys, passkeys: [] }] as const;
  });
  const none = {
    tags: new Map(),
    policies: new Map(),
    wallets: new Map(),
    privateKeys: new Map(),
    activities: new Map(),
  };
  const quorum = { threshold, userIds: people.map(({ userId }) => userId) };
  return { organizationName: "Stage", users: new Map(users), quorum, ...none };
}

function toCommit({ leaf, version, activity }: Entry): Commit[] {
  const [stamp] = leaf.evidence;
  const decidedOn = ownStateOf(leaf)?.version ?? 0;
  if (leaf.event === "BIRTH" || stamp === undefined) return [];
  const isEnd = leaf.event !== "SUBMITTED" && leaf.event !== "VOTED";
  const { code, message } = JSON.parse((isEnd && activity?.failure) || "{}");
  return [
    {
      before: decidedOn,
      after: version ?? decidedOn,
      event: leaf.event,
      fingerprint: toHex(leaf.fingerprint),
      activityId: uuidFromBytes(leaf.activityId),
      stamped: toHex(stamp.body),
      credential: credentialOf(stamp.content),
      timeMs: leaf.timeMs,
      result: leaf.event === "COMPLETED" ? JSON.parse(activity?.result ?? "null") : undefined,
      failure: code === undefined ? undefined : { code, message },
    },
  ];
}

/** Whether it was answered with what it asked for. */
function isServed({ tries }: Operation): boolean {
  const answer = tries.at(-1)?.answer;
  return answer !== undefined && answer.kind !== "refusal";
}

/** How the operations ended: a run in which all end alike has shown little. */
function tally(history: readonly Operation[]): string {
  const ends = history.map(({ kind, tries }) => {
    const answer = tries.at(-1)?.answer;
    if (answer?.kind === "refusal") return `${kind} ${answer.status}`;
    return answer?.kind === "activity" ? `${kind} ${answer.activity.status}` : kind;
  });
  return [...Map.groupBy(ends, (end) => end)]
    .map(([end, all]) => `${end} ${all.length}`)
    .sort()
    .join(", ");
}
