/**
 * PostgreSQL stopped immediately, again and again, under a load of all kinds of acts. The gateway says 503 meanwhile and goes on by
 * itself when the database is back; nothing acknowledged is lost. A sample here, 50 stops with `npm run figures`.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { administer, databaseUrl } from "@keystead/e2e/databases.ts";
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import { assertNotReplaced } from "@keystead/e2e/keystead_server.ts";
import { type OwnPostgres, startOwnPostgres } from "@keystead/e2e/postgres.ts";
import { patienceMs, testTimeoutMs } from "../../../core/test/patience.ts";
import { samples } from "../../../core/test/samples.ts";
import { type Random, seededRandom } from "../../../core/test/seeded_random.ts";
import { ActOracle } from "./act_oracle_process.ts";
import { checkActs, checkLog } from "./check_acts.ts";
import { ready } from "./readiness.ts";
import { startStepped } from "./stepped_server.ts";

const stops = samples.postgresStops;
const clients = 4;

test(`PostgreSQL stopped immediately ${stops} times under load: nothing is lost, half-applied or done twice`, {
  skip: process.platform !== "linux" && "needs /proc",
  timeout: testTimeoutMs,
}, async (t) => {
  const postgres = await ownPostgres(t);
  if (postgres === undefined) return;
  const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`KEYSTEAD_SEED=${seed}`);
  const random = seededRandom(seed);
  await administer(postgres.url, "create database keystead");
  const source = { kind: "postgres", url: databaseUrl(postgres.url, "keystead") } as const;
  const { server, stages } = await startStepped(t, source, source.url, clients * 4 + stops * 2);
  const before = await server.children();
  const oracle = new ActOracle(t);
  oracle.tell({ kind: "stages", url: server.url, stages });
  oracle.tell({ kind: "load", clients, seed });
  const startedMs = Date.now();
  let done = 0;
  const report = await (async () => {
    for (; done < stops; done++) {
      await moreAcknowledged(oracle, clients * 2);
      await stopOnce(postgres, server, oracle, random);
    }
    await moreAcknowledged(oracle, clients * 2);
    await oracle.ask({ kind: "endLoad" }, "ended");
    return oracle.finish();
  })().catch((error: Error) => {
    throw new Error(`after ${done} stops: ${error.message}\n${server.output().slice(-6000)}`, { cause: error });
  });
  await ready(server);
  await assertNotReplaced(server, before);
  await server.stop();
  const check = await checkActs(source, server.dataFolder, report);
  const log = await checkLog(source, server.dataFolder);
  const { acknowledged, repeated, waits } = report;
  t.diagnostic(
    `seed ${seed}: PostgreSQL stopped ${stops} times in ${Math.round((Date.now() - startedMs) / 1000)} s; ${acknowledged.length} acts acknowledged, ` +
      `${repeated} answers repeated, ${waits.unavailable} times 503, ${waits.cutOff + waits.refused} connections broken; ${check.activities} activities and ` +
      `${check.leaves} leaves in the database; lost ${check.lost.length}, wrong ${check.wrong.length}`,
  );
  assert.deepEqual(check.lost, [], "acknowledged acts that are lost");
  assert.deepEqual(check.wrong, [], "what is half-applied or there twice");
  assert.deepEqual(log, { code: 0, output: `${check.leaves} leaves in the database, 0 released ones missing\n` });
  assert.equal(waits.cutOff + waits.refused, 0, "the gateway answers while the database is away");
  assert.ok(waits.unavailable >= stops, "every stop was noticed");
});

/** Not the one that all tests share, and not one of the operator's. */
async function ownPostgres(t: TestContext): Promise<OwnPostgres | undefined> {
  try {
    const postgres = await startOwnPostgres();
    t.after(() => postgres.stop());
    return postgres;
  } catch (error) {
    if (process.env.KEYSTEAD_CI === "1") throw error;
    t.skip(`no PostgreSQL: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

async function moreAcknowledged(oracle: ActOracle, count: number): Promise<void> {
  const wanted = oracle.acknowledged + count;
  const until = Date.now() + patienceMs;
  while (oracle.acknowledged < wanted) {
    await oracle.hear("progress");
    if (Date.now() > until) throw new Error(`too little was acknowledged within ${patienceMs} ms`);
  }
}

/**
 * In the middle of whatever is going on, until somebody was refused for it; then for a moment or for longer than a request may take to
 * be refused.
 */
async function stopOnce(
  postgres: OwnPostgres,
  server: KeysteadServer,
  oracle: ActOracle,
  random: Random,
): Promise<void> {
  await pause(random.below(300));
  await postgres.stopImmediately();
  const before = oracle.unavailable;
  const answer = await fetch(`${server.url}/readyz`);
  assert.equal(answer.status, 503, await answer.text());
  assert.equal((await fetch(`${server.url}/healthz`)).status, 200);
  const until = Date.now() + patienceMs;
  while (oracle.unavailable === before) {
    await oracle.hear("progress");
    assert.ok(Date.now() < until, "nobody noticed the stop");
  }
  await pause(random.below(random.next() < 0.2 ? 3_000 : 300));
  await postgres.startAgain();
}
