/**
 * The crash matrix: kill -9 of gateway, signer, both or courier, and a cut database, exactly at every step of the pipeline, with acts of
 * every kind. A code of an OAuth 2.0 provider is exchanged once, whoever is killed. A sample here: every step, a third of the faults at each, the kinds of acts in turn. All of it with ten seeds by `npm run figures`.
 * KEYSTEAD_SEED repeats a run; KEYSTEAD_CRASH_ONLY is a pattern for the names of trials (step/fault/kind) that alone shall run.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext, TestOptions } from "node:test";
import { testSource } from "@keystead/e2e/databases.ts";
import { steps } from "@keystead/server/state/steps.ts";
import type { Store, StoreSource } from "@keystead/server/store/store.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { isFull, samples } from "../../../core/test/samples.ts";
import { actKinds } from "../acts/catalogue.ts";
import type { ActReport } from "./act_ledger.ts";
import { ActOracle } from "./act_oracle_process.ts";
import { type ActsCheck, checkActs, checkLog } from "./check_acts.ts";
import { checkPublicLog, notesIn } from "./check_public_log.ts";
import { openHold } from "./postgres_hold.ts";
import { openWire } from "./postgres_wire.ts";
import { ready } from "./readiness.ts";
import { type Room, runTrial } from "./run_trial.ts";
import { startStepped } from "./stepped_server.ts";
import { describeTrial, faultsOf, type Trial, trialsOf } from "./trials.ts";

const only = process.env.KEYSTEAD_CRASH_ONLY;
const seedCount = samples.crashSeeds;
const firstSeed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));

export type CrashMatrix = { name: string; options: TestOptions; run(t: TestContext): Promise<void> };

/** Each database has a suite of its own: with all trials, one of them alone takes more than an hour. */
export function crashMatrix(dialect: Store["dialect"]): CrashMatrix {
  const places = `${steps.length} steps × ${faultsOf(dialect, "identity").length} faults`;
  return {
    name: `${places} on ${dialect}: nothing is lost, half-applied or done twice`,
    options: { skip: process.platform !== "linux" && "needs /proc" },
    run: (t) => runSeeds(t, dialect, places),
  };
}

async function runSeeds(t: TestContext, dialect: Store["dialect"], places: string): Promise<void> {
  const total = {
    seeds: 0,
    trials: 0,
    faults: 0,
    acknowledged: 0,
    refused: 0,
    repeated: 0,
    activities: 0,
    leaves: 0,
    checkpoints: 0,
  };
  const waits = { cutOff: 0, refused: 0, unavailable: 0 };
  const startedMs = Date.now();
  for (let seed = firstSeed; seed < firstSeed + seedCount; seed++) {
    const trials = trialsOf(dialect, seed, isFull || only !== undefined).filter(({ name }) =>
      new RegExp(only ?? "").test(name),
    );
    await t.test(`seed ${seed}`, { timeout: testTimeoutMs }, async (t) => {
      const run = await runSeed(t, dialect, seed, trials);
      if (run === undefined) return;
      const { faults, report, check, checkpoints } = run;
      const { acknowledged, refused, repeated } = report;
      add(total, { seeds: 1, trials: trials.length, faults, acknowledged: acknowledged.length, refused, repeated });
      add(total, { activities: check.activities, leaves: check.leaves, checkpoints });
      add(waits, report.waits);
    });
  }
  if (total.seeds < seedCount) return;
  t.diagnostic(
    `${dialect}: ${total.trials} trials (${isFull ? "" : "a third of "}${places} × ${isFull ? "all" : "one in turn"} of ${actKinds.length} kinds of acts, ` +
      `${total.seeds} seed${total.seeds === 1 ? "" : "s"} from ${firstSeed}), ` +
      `${total.faults} faults in ${Math.round((Date.now() - startedMs) / 1000)} s; ${total.acknowledged} acts acknowledged, ` +
      `${total.refused} refused because the code was exchanged by a process that was killed, ` +
      `${total.repeated} answers repeated; ${waits.cutOff} answers cut off, ${waits.refused} connections refused, ` +
      `${waits.unavailable} times 503; ${total.activities} activities and ${total.leaves} leaves in the databases; ` +
      `0 lost, 0 half-applied, 0 done twice, 0 other answers; ${total.checkpoints} checkpoints of the log, all of one history`,
  );
  const faultsOfAll = actKinds.reduce((sum, kind) => sum + faultsOf(dialect, kind).length, 0);
  const fewest = steps.length * faultsOfAll * seedCount;
  if (isFull && only === undefined) assert.ok(total.trials >= fewest, "trials were left out");
}

function add<T extends Record<string, number>>(total: T, more: Partial<T>): void {
  for (const [name, count] of Object.entries(more))
    (total as Record<string, number>)[name] = (total[name] ?? 0) + count;
}

type Run = { faults: number; report: ActReport; check: ActsCheck; checkpoints: number };

async function runSeed(
  t: TestContext,
  dialect: Store["dialect"],
  seed: number,
  trials: readonly Trial[],
): Promise<Run | undefined> {
  const source = await testSource(t, dialect);
  if (source === undefined) return undefined;
  t.diagnostic(`KEYSTEAD_SEED=${seed}`);
  if (!isFull && only === undefined) assertEveryKind(trials);
  const wire = source.kind === "postgres" ? await openWire(t, source.url) : undefined;
  const stepped = await startStepped(t, source, wire?.url, Math.ceil(trials.length / 5) + 5);
  const { server } = stepped;
  const database =
    source.kind === "postgres" && wire !== undefined
      ? { url: source.url, wire, hold: await openHold(t, source.url) }
      : undefined;
  const oracle = new ActOracle(t);
  oracle.tell({ kind: "stages", url: server.url, stages: stepped.stages });
  const { dataFolder } = server;
  const kept: StoreSource = source.kind === "sqlite" ? { ...source, folder: join(dataFolder, "database") } : source;
  const faults = await runTrials({ stepped, oracle, source: kept, database }, dialect, seed, trials);
  const report = await oracle.finish();
  await ready(server);
  await server.stop();

  const check = await checkActs(kept, dataFolder, report);
  assert.deepEqual(check.lost, [], "acknowledged acts that are lost");
  assert.deepEqual(check.wrong, [], "what is half-applied or there twice");
  assert.deepEqual(await checkLog(kept, dataFolder), {
    code: 0,
    output: `${check.leaves} leaves in the database, 0 released ones missing\n`,
  });
  const publicLog = await checkPublicLog(kept, notesIn(readFileSync(stepped.checkpointFile, "utf8")));
  assert.deepEqual(publicLog.wrong, [], "leaves of the log that are lost, doubled or moved");
  assert.ok(publicLog.checkpoints > 1, "no checkpoint was signed");
  assert.equal(report.acknowledged.length + report.refused, trials.length, "every act was answered");
  return { faults, report, check, checkpoints: publicLog.checkpoints };
}

function assertEveryKind(trials: readonly Trial[]): void {
  for (const kind of actKinds) {
    assert.ok(
      trials.some((trial) => trial.kind === kind),
      `the sample has no act of ${kind}`,
    );
  }
}

async function runTrials(
  room: Room,
  dialect: Store["dialect"],
  seed: number,
  trials: readonly Trial[],
): Promise<number> {
  let faults = 0;
  for (const [index, trial] of trials.entries()) {
    try {
      faults += (await runTrial(room, trial)).faults;
    } catch (error) {
      const repeat = `KEYSTEAD_SEED=${seed} KEYSTEAD_CRASH_ONLY='^${trial.name}$'`;
      throw new Error(
        `${dialect}, trial ${index + 1} of ${trials.length}: ${describeTrial(trial)}. Repeat it alone with ${repeat}. ` +
          `${error instanceof Error ? error.message : error}\n${room.stepped.server.output().slice(-3000)}`,
        { cause: error },
      );
    }
  }
  return faults;
}
