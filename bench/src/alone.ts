/**
 * `npm run bench -- --attack --alone`: how much of what it asks one organization gets that is alone on the server. An earlier version is
 * asked for the same beside it, in turn, so that what sharing costs a lone organization is seen.
 */
import { startAttacker } from "@keystead/e2e/attackers/attack_process.ts";
import { type AttackName, allAttackNames } from "@keystead/e2e/attackers/attacks.ts";
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import { type AttackPlan, calmMs, pause } from "./attack.ts";
import type { DatabaseName } from "./databases.ts";
import type { EarlierBuild } from "./earlier_build.ts";
import { pidsOf } from "./measure.ts";
import { cpuMs } from "./processes.ts";
import { inTurn, openSides, removeSides, type Side } from "./sides.ts";
import { median } from "./statistics.ts";

/** Of what the earlier version does, this one must do so much. */
export const aloneTarget = 0.9;

/** Requests answered with 200: per second, and per second of the signer's CPU. */
type Throughput = { perSecond: number; perCpuSecond: number };

export type AloneRow = {
  database: DatabaseName;
  name: AttackName;
  commit: string;
  now: Measured;
  before: Measured;
};

export async function measureAlone(
  name: DatabaseName,
  plan: AttackPlan,
  earlier: EarlierBuild,
  say: (progress: string) => void,
): Promise<AloneRow[]> {
  const sides = await openSides(name, earlier);
  const rows: AloneRow[] = [];
  try {
    for (const attack of allAttackNames.filter((each) => plan.only.test(each))) {
      say(`${name}: ${attack} alone`);
      const measured = new Map<Side, Measured[]>([sides.now, sides.before].map((side) => [side, []]));
      // Whichever came first would be compiled while it is measured.
      for (const { server } of measured.keys()) await measureOnce(server, attack, { ...plan, seconds: 3 });
      await inTurn(sides, plan.rounds, async (side) => {
        measured.get(side)?.push(await measureOnce(side.server, attack, plan));
      });
      const middle = (side: Side) => middleOf(measured.get(side) ?? []);
      const { commit } = earlier;
      rows.push({ database: name, name: attack, commit, now: middle(sides.now), before: middle(sides.before) });
    }
  } finally {
    await removeSides(sides);
  }
  return rows;
}

/** With all that was answered, from the beginning of the last round on. */
type Measured = Throughput & { answers: Record<string, number> };

async function measureOnce(
  server: KeysteadServer,
  attack: AttackName,
  { seconds, leadMs }: AttackPlan,
): Promise<Measured> {
  const attacker = await startAttacker(attack, { ...server.bootstrap, url: server.url });
  await pause(leadMs);
  const { signer } = await pidsOf(server);
  const done = async () => (await attacker.look()).answers["200"] ?? 0;
  const [before, beganAt, signerMs] = [await done(), performance.now(), cpuMs(signer)];
  await pause(seconds * 1_000);
  const count = (await done()) - before;
  const tookSeconds = (performance.now() - beganAt) / 1_000;
  const cpuSeconds = (cpuMs(signer) - signerMs) / 1_000;
  const { tally } = await attacker.stop();
  await pause(calmMs);
  return { perSecond: count / tookSeconds, perCpuSecond: count / cpuSeconds, answers: tally.answers };
}

function middleOf(measured: readonly Measured[]): Measured {
  return {
    perSecond: median(measured.map(({ perSecond }) => perSecond)),
    perCpuSecond: median(measured.map(({ perCpuSecond }) => perCpuSecond)),
    answers: measured.at(-1)?.answers ?? {},
  };
}

export function aloneText(row: AloneRow): string {
  const { database, name, commit, now, before } = row;
  const figures = ({ perSecond, perCpuSecond, answers }: Measured) =>
    `${perSecond.toFixed(2)} per second, ${perCpuSecond.toFixed(2)} per second of the signer's CPU (${JSON.stringify(answers)})`;
  const ratio = ratioOf(row).toFixed(2);
  return `${database}: ${name} alone: ${figures(now)}; at ${commit} ${figures(before)}: ${ratio} times as much  (target ${aloneTarget})`;
}

/** No number where the earlier version did nothing, which would be no comparison. */
function ratioOf({ now, before }: AloneRow): number {
  return before.perSecond === 0 ? Number.NaN : now.perSecond / before.perSecond;
}

/** One line for each that gets less than it did. */
export function missedAlone(rows: readonly AloneRow[]): string[] {
  return rows.flatMap((row) => {
    const { database, name, commit } = row;
    const ratio = ratioOf(row);
    if (ratio >= aloneTarget) return [];
    const got = Number.isNaN(ratio) ? "cannot be compared: it got nothing" : `gets ${ratio.toFixed(2)} of what it got`;
    return [`${database}: ${name} alone ${got} at ${commit}`];
  });
}
