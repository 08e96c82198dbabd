/**
 * `npm run bench -- --attack --alone`: how much of what it asks one organization gets that is alone on the server. With `--against REF` an
 * earlier version gets the same beside it, in turn, so that what sharing costs a lone organization is seen.
 */
import { startAttacker } from "@keystead/e2e/attackers/attack_process.ts";
import { type AttackName, allAttackNames } from "@keystead/e2e/attackers/attacks.ts";
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import { type AttackPlan, calmMs, pause } from "./attack.ts";
import { type DatabaseName, openDatabase } from "./databases.ts";
import type { EarlierBuild } from "./earlier_build.ts";
import { pidsOf } from "./measure.ts";
import { cpuMs } from "./processes.ts";
import { measureStarts } from "./start_time.ts";
import { median } from "./statistics.ts";

/** Of what the earlier version does, this one must do so much. */
export const aloneTarget = 0.9;

/** Requests answered with 200: per second, and per second of the signer's CPU. */
type Throughput = { perSecond: number; perCpuSecond: number };

export type AloneRow = {
  database: DatabaseName;
  name: AttackName;
  now: Throughput;
  answers: Record<string, number>;
  earlier?: Throughput & { commit: string };
};

export async function measureAlone(
  name: DatabaseName,
  plan: AttackPlan,
  earlier: EarlierBuild | undefined,
  say: (progress: string) => void,
): Promise<AloneRow[]> {
  const sides = [await openSide(name)];
  if (earlier !== undefined) sides.push(await openSide(name, earlier));
  const rows: AloneRow[] = [];
  try {
    for (const attack of allAttackNames.filter((each) => plan.only.test(each))) {
      say(`${name}: ${attack} alone`);
      const measured = sides.map((): Measured[] => []);
      const rounds = earlier === undefined ? 1 : plan.rounds;
      // Whichever came first would be compiled while it is measured.
      if (earlier !== undefined)
        for (const { server } of sides) await measureOnce(server, attack, { ...plan, seconds: 3 });
      for (let round = 0; round < rounds; round++) {
        for (const [index, { server }] of round % 2 === 0 ? [...sides.entries()] : [...sides.entries()].toReversed()) {
          measured[index]?.push(await measureOnce(server, attack, plan));
        }
      }
      const [now = [], before] = measured;
      rows.push({
        ...{ database: name, name: attack, now: middleOf(now), answers: now.at(-1)?.answers ?? {} },
        ...(before && earlier && { earlier: { commit: earlier.commit, ...middleOf(before) } }),
      });
    }
  } finally {
    for (const { close } of sides) await close();
  }
  return rows;
}

async function openSide(name: DatabaseName, earlier?: EarlierBuild) {
  const database = await openDatabase[name]();
  const { server, remove } = await measureStarts(database, 1, {}, earlier?.folder);
  return {
    server,
    async close() {
      await remove();
      await database.close();
    },
  };
}

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

function middleOf(measured: readonly Throughput[]): Throughput {
  return {
    perSecond: median(measured.map(({ perSecond }) => perSecond)),
    perCpuSecond: median(measured.map(({ perCpuSecond }) => perCpuSecond)),
  };
}

export function aloneText({ database, name, now, earlier, answers }: AloneRow): string {
  const figures = ({ perSecond, perCpuSecond }: Throughput) =>
    `${perSecond.toFixed(2)} per second, ${perCpuSecond.toFixed(2)} per second of the signer's CPU`;
  const line = `${database}: ${name} alone: ${figures(now)} (${JSON.stringify(answers)})`;
  if (earlier === undefined) return line;
  const ratio = ratioOf(now, earlier).toFixed(2);
  return `${line}; at ${earlier.commit} ${figures(earlier)}: ${ratio} times as much  (target ${aloneTarget})`;
}

function ratioOf(now: Throughput, earlier: Throughput): number {
  return now.perSecond / earlier.perSecond;
}

/** One line for each that gets less than it did. */
export function missedAlone(rows: readonly AloneRow[]): string[] {
  return rows.flatMap(({ database, name, now, earlier }) => {
    if (earlier === undefined || ratioOf(now, earlier) >= aloneTarget) return [];
    return [`${database}: ${name} alone gets ${ratioOf(now, earlier).toFixed(2)} of what it got at ${earlier.commit}`];
  });
}
