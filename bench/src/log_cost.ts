/**
 * `npm run bench -- --log`: what a signature and a start cost with the log and without it. Without it means the last version that had none,
 * built and run beside this one on a database of its own. Both are measured in turn, so that a host that slows down slows both. That version
 * also lacks what came with the log (disclosures, proofs, manifest): their cost is counted too.
 */
import type { DatabaseName } from "./databases.ts";
import type { EarlierBuild } from "./earlier_build.ts";
import type { Load } from "./load.ts";
import { measureJob, type PhaseResult, summarise } from "./measure.ts";
import { inTurn, jobOf, openSides, removeSides, type Side, type Sides, warmUp } from "./sides.ts";
import { median, medianRatio } from "./statistics.ts";

/** A phase lasts some seconds: checkpoints are signed once a second, and have to fall into each. */
export type LogCostPlan = { warmUpRequests: number; rounds: number; requests: number; starts: number };

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
  const sides = await openSides(name, earlier);
  const { before, now } = sides;
  try {
    for (const side of [before, now]) await warmUp(load, side, plan.warmUpRequests);
    await inTurn(sides, plan.rounds, async (side, round) => {
      say(`${name}: signatures ${side === now ? "with" : "without"} the log, round ${round} of ${plan.rounds}`);
      const job = jobOf(side, "sign_raw_payload", plan.requests);
      side.phases.push((await measureJob(load, side.database, side.server, job)).phase);
    });
    for (const side of [before, now]) await side.server.stop();
    await inTurn(sides, plan.starts, async (side, round) => {
      say(`${name}: start ${round} of ${plan.starts}`);
      const { server, ms } = await side.start();
      side.startMs.push(ms);
      await server.stop();
    });
    return reportOf(sides);
  } finally {
    await removeSides(sides);
  }
}

function reportOf({ before, now }: Sides): LogCost {
  const ratio = (pick: (side: Side) => number[]) => medianRatio(pick(now), pick(before));
  return {
    database: now.database.name,
    without: summarise(before.phases),
    with: summarise(now.phases),
    cpuRatio: ratio(({ phases }) => phases.map(costOf)),
    p99Ratio: ratio(({ phases }) => phases.map(({ p99Ms }) => p99Ms)),
    startMs: { without: median(before.startMs), with: median(now.startMs) },
    startRatio: ratio(({ startMs }) => startMs),
  };
}

/** The database's own processes store the places, so they count; there are none with SQLite. */
export function costOf({ gatewayUs, signerUs, databaseUs }: PhaseResult): number {
  return gatewayUs + signerUs + databaseUs;
}
