/**
 * `npm run bench -- --log`: what a signature and a start cost with the log and without it. Without it means the last version that had none,
 * built and run beside this one on a database of its own. Both are measured in turn, so that a host that slows down slows both. That version
 * also lacks what came with the log (disclosures, proofs, manifest): their cost is counted too.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KeysteadServer, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { type Database, type DatabaseName, openDatabase } from "./databases.ts";
import type { EarlierBuild } from "./earlier_build.ts";
import type { Load } from "./load.ts";
import type { Job } from "./load_messages.ts";
import { accountOf, measureJob, type PhaseResult, summarise } from "./measure.ts";
import { timedStart } from "./start_time.ts";
import { median } from "./statistics.ts";

/** The last version without a log. */
export const lastWithoutLog = "a3be260";

const connections = 16;

/** A phase lasts some seconds: checkpoints are signed once a second, and have to fall into each. */
export type LogCostPlan = { warmUpRequests: number; rounds: number; requests: number; starts: number };

type Side = {
  database: Database;
  server: KeysteadServer;
  signWith: readonly string[];
  phases: PhaseResult[];
  startMs: number[];
  start(): Promise<{ server: KeysteadServer; ms: number }>;
  remove(): Promise<void>;
};

/** The same phase of either, each the median of its rounds, and the medians of what each round says. */
export type LogCost = {
  database: DatabaseName;
  without: PhaseResult;
  with: PhaseResult;
  cpuRatio: number;
  p99Ratio: number;
  startMs: { without: number; with: number };
  startRatio: number;
};

export async function measureLogCost(
  load: Load,
  name: DatabaseName,
  earlier: EarlierBuild,
  plan: LogCostPlan,
  say: (progress: string) => void,
): Promise<LogCost> {
  say(`${name}: starting both`);
  const without = await open(name, earlier.folder);
  const sides = [without, await open(name)];
  const [, now] = sides as [Side, Side];
  try {
    for (const side of sides) await warmUp(load, side, plan.warmUpRequests);
    for (let round = 1; round <= plan.rounds; round++) {
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        say(`${name}: signatures ${side === now ? "with" : "without"} the log, round ${round} of ${plan.rounds}`);
        const job = jobOf(side, "sign_raw_payload", plan.requests);
        side.phases.push((await measureJob(load, side.database, side.server, job)).phase);
      }
    }
    for (const side of sides) await side.server.stop();
    for (let round = 1; round <= plan.starts; round++) {
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        say(`${name}: start ${round} of ${plan.starts}`);
        const { server, ms } = await side.start();
        side.startMs.push(ms);
        await server.stop();
      }
    }
    return reportOf(without, now);
  } finally {
    for (const side of sides) await side.remove();
  }
}

function reportOf(without: Side, now: Side): LogCost {
  const ratio = (pick: (side: Side) => number[]) => {
    const before = pick(without);
    return median(pick(now).map((value, round) => value / (before[round] ?? value)));
  };
  return {
    database: now.database.name,
    without: summarise(without.phases),
    with: summarise(now.phases),
    cpuRatio: ratio(({ phases }) => phases.map(costOf)),
    p99Ratio: ratio(({ phases }) => phases.map(({ p99Ms }) => p99Ms)),
    startMs: { without: median(without.startMs), with: median(now.startMs) },
    startRatio: ratio(({ startMs }) => startMs),
  };
}

/** The database's own processes store the places, so they count; there are none with SQLite. */
export function costOf({ gatewayUs, signerUs, databaseUs }: PhaseResult): number {
  return gatewayUs + signerUs + databaseUs;
}

async function open(name: DatabaseName, checkout?: string): Promise<Side> {
  const database = await openDatabase[name]();
  const folder = await mkdtemp(join(tmpdir(), "keystead-log-"));
  const databaseUrl = await database.freshUrl();
  const options = {
    dataFolder: join(folder, "data"),
    ...(checkout !== undefined && { checkout }),
    ...(databaseUrl !== undefined && { databaseUrl }),
  };
  const server = await startKeystead(options);
  return {
    ...{ database, server, signWith: [], phases: [], startMs: [] },
    start: () => timedStart(options),
    async remove() {
      await server.stop();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function warmUp(load: Load, side: Side, requests: number): Promise<void> {
  const { born } = await load.run({ ...jobOf(side, "create_wallet", 1), connections: 1 });
  side.signWith = born;
  await load.run(jobOf(side, "sign_raw_payload", requests));
  await side.database.settle();
}

function jobOf({ server, signWith }: Side, endpoint: Job["endpoint"], requests: number): Job {
  return { account: accountOf(server), endpoint, signWith, connections, seconds: 600, requests };
}
