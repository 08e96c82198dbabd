/**
 * `npm run bench -- --against REF`: what requests cost gateway and signer beside what they cost in an earlier version. The ratios of the
 * bench itself are to bare costs, of which another run measures others: a twentieth would be lost among them.
 */
import type { DatabaseName } from "./databases.ts";
import type { EarlierBuild } from "./earlier_build.ts";
import type { Load } from "./load.ts";
import { endpoints, measureJob, type PhaseResult, summarise } from "./measure.ts";
import { inTurn, jobOf, openSides, removeSides, type Sides, warmUp } from "./sides.ts";
import { medianRatio } from "./statistics.ts";

/** Of what the earlier version costs, this one may cost so much. */
export const againstTarget = 1.05;

export type AgainstPlan = { warmUpRequests: number; rounds: number; seconds: number };

/** The same phase of either, the median of its rounds; the ratio is that of a round, the middle one. */
export type AgainstRow = { commit: string; now: PhaseResult; before: PhaseResult; ratio: number };

export async function measureAgainst(
  load: Load,
  name: DatabaseName,
  earlier: EarlierBuild,
  plan: AgainstPlan,
  say: (progress: string) => void,
): Promise<AgainstRow[]> {
  say(`${name}: starting both`);
  const sides = await openSides(name, earlier);
  try {
    for (const side of [sides.before, sides.now]) await warmUp(load, side, plan.warmUpRequests);
    for (const endpoint of endpoints) {
      // The first of them compiles what only this endpoint needs, and is not counted.
      await inTurn(sides, plan.rounds + 1, async (side, round) => {
        say(`${name}: ${endpoint}, round ${round - 1} of ${plan.rounds}`);
        const job = { ...jobOf(side, endpoint, 4_000 * plan.seconds), seconds: plan.seconds };
        const { phase } = await measureJob(load, side.database, side.server, job);
        if (round > 1) side.phases.push(phase);
      });
    }
    return endpoints.map((endpoint) => rowOf(sides, endpoint, earlier));
  } finally {
    await removeSides(sides);
  }
}

function rowOf({ before, now }: Sides, endpoint: PhaseResult["endpoint"], { commit }: EarlierBuild): AgainstRow {
  const [earlier, later] = [before, now].map(({ phases }) => phases.filter((phase) => phase.endpoint === endpoint)) as [
    PhaseResult[],
    PhaseResult[],
  ];
  return {
    commit,
    now: summarise(later),
    before: summarise(earlier),
    ratio: medianRatio(later.map(ownUs), earlier.map(ownUs)),
  };
}

/** Of our own processes, which is what the bench's ratios are of. */
function ownUs({ gatewayUs, signerUs }: PhaseResult): number {
  return gatewayUs + signerUs;
}

export function againstText({ commit, now, before, ratio }: AgainstRow): string {
  const us = (phase: PhaseResult) => `${ownUs(phase).toFixed(0).padStart(5)} µs`;
  const name = `${now.database.padEnd(10)}${now.endpoint.padEnd(18)}`;
  return `${name}${us(now)}, at ${commit} ${us(before)}: ${ratio.toFixed(2)}   (target ${againstTarget})`;
}

/** One line for each that costs more than it did by more than a twentieth. */
export function missedAgainst(rows: readonly AgainstRow[]): string[] {
  return rows
    .filter(({ ratio }) => !(ratio <= againstTarget))
    .map(({ commit, now, ratio }) => {
      return `${now.database}: ${now.endpoint} costs ${ratio.toFixed(2)} times what it cost at ${commit}`;
    });
}
