/** What the measured attacks came to, in words, and what of it misses its target. */
import type { Attack, Tally } from "@keystead/e2e/attackers/attack.ts";
import { type AttackName, attacks } from "@keystead/e2e/attackers/attacks.ts";
import { type AttackReport, type AttackRow, calmShares } from "./attack.ts";
import { type HonestName, honestNames } from "./attack_messages.ts";
import type { DatabaseName } from "./databases.ts";
import { median, quantile } from "./statistics.ts";
import { mostStolen } from "./stolen.ts";

export const attackTarget = 2;

/** How much slower honest requests may be under an attack. */
function targetOf(name: AttackName): number {
  const { ratio = attackTarget }: Attack = attacks[name];
  return ratio;
}

/**
 * How much slower somebody honest is; of who got no answer at all, endlessly. Of all rounds the middle one: a machine that others use
 * as well stands still now and then, and what is slowest in all rounds together would be that.
 */
function ratioOf({ rounds }: AttackRow, who: HonestName): number {
  return median(
    rounds.map(({ before, during }) => {
      const [calm, attacked] = [before[who].latencies, during[who].latencies];
      if (calm.length === 0) return Number.NaN;
      return attacked.length === 0 ? Number.POSITIVE_INFINITY : quantile(attacked, 0.99) / quantile(calm, 0.99);
    }),
  );
}

type When = "before" | "during";

function failuresOf({ rounds }: AttackRow, who: HonestName, when: When): number {
  return rounds.reduce((sum, round) => sum + round[when][who].failures.length, 0);
}

/**
 * Of what the server has taken up, the share that it has done. 429 and 503 are for what there was no time for: a flood asks for more than
 * that on purpose.
 */
function doneShare({ answers }: Tally): number {
  const { "200": done = 0, "429": _, "503": __, ...refused } = answers;
  return done / Object.values(refused).reduce((sum, count) => sum + count, done);
}

/** Why an attack whose requests should have been done was another; undefined where it was not. */
function undone({ name, tally }: AttackRow): string | undefined {
  const { isDone }: Attack = attacks[name];
  const share = doneShare(tally);
  if (isDone !== true || share >= 0.5) return undefined;
  const [why] = Object.entries(tally.said).toSorted(([, a], [, b]) => b - a)[0] ?? ["nobody said why"];
  if (Number.isNaN(share)) return `nothing of what it asks was done in its time: ${why}`;
  return `${(100 * share).toFixed(0)} % of what it asks was done, so that it was another attack: ${why}`;
}

/** One line for each attack that honest clients notice more than they may, that was refused too late, or that was none. */
export function missedAttacks({ database, rows, failed }: AttackReport): string[] {
  return [...failed.map((words) => `${database}: ${words}`), ...rows.flatMap((row) => missedIn(database, row))];
}

function missedIn(database: DatabaseName, row: AttackRow): string[] {
  const { holds = 0, withinMs, hurtsItsMember }: Attack = attacks[row.name];
  const missed: string[] = [];
  for (const who of honestNames) {
    const failedBefore = failuresOf(row, who, "before");
    if (failedBefore > 0 && !row.isCalmShared) missed.push(`${failedBefore} requests of the ${who} failed before it`);
    if (who === "member" && hurtsItsMember) continue;
    const [ratio, failed] = [ratioOf(row, who), failuresOf(row, who, "during")];
    if (!(ratio <= targetOf(row.name))) missed.push(`p99 of the ${who} is ${ratio.toFixed(2)} times what it was`);
    if (failed > 0) missed.push(`${failed} requests of the ${who} failed`);
  }
  if (row.held.most < holds) missed.push(`no more than ${row.held.most} of ${holds} connections were open`);
  const other = undone(row);
  if (other !== undefined) missed.push(other);
  if (withinMs !== undefined) {
    const ms = answeredWithin(row.tally);
    if (!(ms <= withinMs)) missed.push(`p99 of refusals is ${ms.toFixed(0)} ms, not ${withinMs}`);
  }
  return missed.map((words) => `${database}: ${row.name}: ${words}`);
}

function answeredWithin({ answeredMs }: Tally): number {
  return answeredMs.length === 0 ? Number.NaN : quantile(answeredMs, 0.99);
}

export function attackText({ database, restMb, rows }: AttackReport): string {
  const cells = (values: readonly string[]) =>
    values.map((value, index) => (index === 0 ? value.padEnd(nameWidth) : value.padStart(widths[index] ?? 9))).join("");
  const ms = ({ rounds }: AttackRow, who: HonestName, when: When, q: number) => {
    const measured = rounds.map((round) => round[when][who].latencies).filter(({ length }) => length > 0);
    return measured.length === 0 ? "-" : median(measured.map((latencies) => quantile(latencies, q))).toFixed(2);
  };
  return [
    `${database}: honest clients (50 errands per second each: questions, tags, signatures) before and during each attack, in ms: the`,
    "member whose key attackers know, then a neighbour in another organization; each the middle of all rounds. `ratio`: p99 during over",
    "p99 before in a round, the middle one. `held`: the attack's connections meanwhile, the mean. `gateway`, `attacker`: share of one",
    "core. `MB`: the most that gateway and signer took of their own; at rest",
    `${restMb.toFixed(0)}. \`stolen\`: the share of the machine's time that its host gave to others in the round in which that was most;`,
    `above ${100 * mostStolen} %, a round was tried anew, and the quietest counts. \`done\`: of the answers but for 429 and 503, those with 200. The attacks named costliest are so many that up to`,
    `${calmShares} of them in a row are held against one calm, and \`*\` marks those that did not measure their own. It is measured anew where a`,
    "few short looks after the attack before show it changed.",
    "",
    cells([
      "attack",
      ...honestNames.flatMap(() => ["p50", "p99", "p50 then", "p99 then", "ratio", "failed"]),
      "held",
      "gateway",
      "attacker",
      "MB",
      "stolen",
      "  answers",
    ]),
    ...rows.map((row) =>
      cells([
        row.isCalmShared ? `${row.name} *` : row.name,
        ...honestNames.flatMap((who) => [
          ms(row, who, "before", 0.5),
          ms(row, who, "before", 0.99),
          ms(row, who, "during", 0.5),
          ms(row, who, "during", 0.99),
          ratioOf(row, who).toFixed(2),
          String(failuresOf(row, who, "during")),
        ]),
        row.held.mean.toFixed(0),
        row.gatewayCpu.toFixed(2),
        row.attackerCpu.toFixed(2),
        row.mostMb.toFixed(0),
        `${(100 * Math.max(...row.rounds.map(({ stolen }) => stolen))).toFixed(0)} %`,
        `  ${answersText(row)}`,
      ]),
    ),
    "",
    ...rows.map(({ name }) => {
      const { says, isDone }: Attack = attacks[name];
      const told = `${name}: ${says} (target: ratio at most ${targetOf(name)})`;
      return typeof isDone === "string" ? `${told} (refused: ${isDone})` : told;
    }),
    "(target of all: no honest request failed; where a key is misused, its own member's are left out)",
    ...worstLines({ database, rows }),
  ].join("\n");
}

/** What all attacks together did to the neighbour, who has nothing to do with any of them. */
function worstLines({ database, rows }: Pick<AttackReport, "database" | "rows">): string[] {
  const shareOf = (row: AttackRow) => ratioOf(row, "neighbour") / targetOf(row.name);
  const [worst] = rows.toSorted((a, b) => shareOf(b) - shareOf(a));
  if (worst === undefined) return [];
  const failed = rows.reduce((sum, row) => sum + failuresOf(row, "neighbour", "during"), 0);
  return [
    `${database}: under ${rows.length} attacks ${failed} requests of the neighbour failed  (target 0)`,
    `${database}: under ${worst.name} the neighbour's p99 is ${ratioOf(worst, "neighbour").toFixed(2)} times what it was, and nowhere closer to its target  (target ${targetOf(worst.name)})`,
  ];
}

const nameWidth = 50;
const honestWidths = [8, 8, 9, 9, 7, 7] as const;
const widths = [nameWidth, ...honestWidths, ...honestWidths, 6, 8, 9, 6, 7, 0] as const;

function answersText({ name, tally }: AttackRow): string {
  const { connections, answers, silent, answeredMs } = tally;
  const { withinMs, isDone }: Attack = attacks[name];
  const statuses = Object.entries(answers).map(([status, count]) => `${status} ×${count}`);
  const slowest = answeredMs.reduce((most, each) => Math.max(most, each), 0);
  const target = withinMs === undefined ? "" : ` (target ${withinMs})`;
  const times =
    answeredMs.length === 0
      ? []
      : [`p99 after ${answeredWithin(tally).toFixed(0)} ms${target}, the last ${slowest.toFixed(0)}`];
  const none = silent > 0 ? [`no answer ×${silent}`] : [];
  const share = doneShare(tally);
  const done = isDone === undefined || Number.isNaN(share) ? [] : [`done ${(100 * share).toFixed(0)} %`];
  return [`${connections} connections`, ...statuses, ...done, ...times, ...none].join(", ");
}
