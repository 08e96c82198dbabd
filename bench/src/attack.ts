/**
 * `npm run bench -- --attack`: what honest clients notice of an attack. Their latency before and during each attack, in turn, on
 * one server; the attacker is a process of its own, and shares the machine's cores with everybody else.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Attack, newTally, type Tally } from "@keystead/e2e/attackers/attack.ts";
import { type Attacker, startAttacker } from "@keystead/e2e/attackers/attack_process.ts";
import { type AttackName, allAttackNames, attacks } from "@keystead/e2e/attackers/attacks.ts";
import { newNeighbour } from "@keystead/e2e/attackers/neighbour.ts";
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import {
  type FromHonest,
  type HonestJob,
  type HonestName,
  type HonestResults,
  honestNames,
  type ToHonest,
} from "./attack_messages.ts";
import { type DatabaseName, openDatabase } from "./databases.ts";
import type { Load } from "./load.ts";
import { accountOf, memoryOfServer, pidsOf } from "./measure.ts";
import { cpuMs } from "./processes.ts";
import { measureStarts } from "./start_time.ts";
import { median, quantile } from "./statistics.ts";

export type AttackPlan = {
  rounds: number;
  /** Of honest work, before and during the attack each. */
  seconds: number;
  /** From the attack's beginning to the honest work's, which also waits until the attack holds what it says. */
  leadMs: number;
  only: RegExp;
  /** Every attack is measured for as long and as often as the plan says, whatever it says itself. */
  isQuick?: boolean;
};

export const attackTarget = 2;

/** For what an attack leaves behind to be cleared away. */
const calmMs = 2_000;

/** For an attack to hold what it says; one that never does is reported. */
const holdingMs = 30_000;

type Round = { before: HonestResults; during: HonestResults };

export type AttackRow = {
  name: AttackName;
  rounds: Round[];
  tally: Tally;
  /** Connections while honest clients were measured: the most at once, in the round in which they were fewest, and the mean. */
  held: { most: number; mean: number };
  /** Shares of one core during the attack. */
  attackerCpu: number;
  gatewayCpu: number;
  /** The most that gateway and signer took at once. */
  pssMb: number;
};

export type AttackReport = { database: DatabaseName; restMb: number; rows: AttackRow[] };

type Honest = { measure(job: HonestJob): Promise<HonestResults>; stop(): void };

function startHonest(): Honest {
  const child = fork(fileURLToPath(new URL("./attack_honest_entry.ts", import.meta.url)));
  const ask = async (message: ToHonest): Promise<FromHonest> => {
    const answered = once(child, "message") as Promise<[FromHonest]>;
    child.send(message);
    return (await answered)[0];
  };
  return {
    async measure(job) {
      await ask({ kind: "prepare", job });
      const answer = await ask({ kind: "go" });
      if (answer.kind !== "done") throw new Error("an unexpected answer");
      return answer.results;
    },
    stop: () => child.disconnect(),
  };
}

export async function measureAttacks(
  load: Load,
  name: DatabaseName,
  plan: AttackPlan,
  say: (progress: string) => void,
): Promise<AttackReport> {
  const database = await openDatabase[name]();
  const { server, remove } = await measureStarts(database, 1);
  const honest = startHonest();
  try {
    const common = { account: accountOf(server), connections: 16, seconds: 60 };
    const { born } = await load.run({ ...common, endpoint: "create_wallet", connections: 1, requests: 1 });
    await load.run({ ...common, endpoint: "create_user_tag", requests: 4_000 });
    await load.run({ ...common, endpoint: "sign_raw_payload", signWith: born, requests: 4_000 });
    await database.settle();
    const { signWith, url, ...neighbour } = await newNeighbour(server);
    const clients = {
      member: { account: accountOf(server), signWith: born[0] ?? "" },
      neighbour: { account: { ...neighbour, host: new URL(url).host }, signWith },
    };
    const job: HonestJob = { clients, seconds: plan.seconds };
    await honest.measure(job);
    const restMb = await pssOf(server);
    const rows: AttackRow[] = [];
    for (const attack of allAttackNames.filter((each) => plan.only.test(each))) {
      say(`${name}: ${attack}`);
      rows.push(await measureAttack(server, honest, jobFor(attack, job, plan), attack, plan));
    }
    return { database: name, restMb, rows };
  } finally {
    honest.stop();
    await remove();
    await database.close();
  }
}

async function measureAttack(
  server: KeysteadServer,
  honest: Honest,
  job: HonestJob,
  name: AttackName,
  plan: AttackPlan,
): Promise<AttackRow> {
  const { leadMs } = plan;
  const { rounds } = sizeOf(name, plan);
  const row: AttackRow = {
    name,
    rounds: [],
    tally: newTally(),
    held: { most: Number.POSITIVE_INFINITY, mean: 0 },
    attackerCpu: 0,
    gatewayCpu: 0,
    pssMb: 0,
  };
  const { gateway } = await pidsOf(server);
  for (let round = 0; round < rounds; round++) {
    // Looking at a process's memory holds it up a little, so it is looked at before the attack as well.
    const calm = watchMemory(server);
    const before = await honest.measure(job);
    await calm.stop();
    const attackedAt = performance.now();
    const attacker = await startAttacker(name, { ...server.bootstrap, url: server.url });
    const watch = watchMemory(server);
    await pause(leadMs);
    await untilHeld(attacker, attacks[name]);
    const open = await watchOpen(attacker);
    const [beganAt, gatewayMs] = [performance.now(), cpuMs(gateway)];
    const during = await honest.measure(job);
    const seconds = (performance.now() - beganAt) / 1000;
    row.gatewayCpu += (cpuMs(gateway) - gatewayMs) / 1000 / seconds / rounds;
    row.rounds.push({ before, during });
    const { most, mean } = await open.stop();
    row.held.most = Math.min(row.held.most, most);
    row.held.mean += mean / rounds;
    const { tally, cpuMs: attackerMs } = await attacker.stop();
    row.attackerCpu += attackerMs / (performance.now() - attackedAt) / rounds;
    row.pssMb = Math.max(row.pssMb, await watch.stop());
    addTally(row.tally, tally);
    await pause(calmMs);
  }
  return row;
}

function jobFor(name: AttackName, job: HonestJob, plan: AttackPlan): HonestJob {
  const { againstLarge }: Attack = attacks[name];
  return { ...job, ...sizeOf(name, plan), sendsLarge: againstLarge === true };
}

function sizeOf(name: AttackName, { seconds, rounds, isQuick }: AttackPlan): { seconds: number; rounds: number } {
  const { measured }: Attack = attacks[name];
  return isQuick === true || measured === undefined ? { seconds, rounds } : measured;
}

/** How much of what it asks one organization gets that is alone on the server, in requests per second that are answered 200. */
export async function measureAlone(
  name: DatabaseName,
  { seconds, leadMs, only }: AttackPlan,
  say: (progress: string) => void,
): Promise<string> {
  const database = await openDatabase[name]();
  const { server, remove } = await measureStarts(database, 1);
  const lines: string[] = [];
  try {
    for (const attack of allAttackNames.filter((each) => only.test(each))) {
      say(`${name}: ${attack} alone`);
      const attacker = await startAttacker(attack, { ...server.bootstrap, url: server.url });
      await pause(leadMs);
      const { signer } = await pidsOf(server);
      const [before, beganAt, signerMs] = [
        (await attacker.look()).answers["200"] ?? 0,
        performance.now(),
        cpuMs(signer),
      ];
      await pause(seconds * 1_000);
      const done = ((await attacker.look()).answers["200"] ?? 0) - before;
      const tookSeconds = (performance.now() - beganAt) / 1_000;
      const cpuSeconds = (cpuMs(signer) - signerMs) / 1_000;
      const { tally } = await attacker.stop();
      const perCpu = (done / cpuSeconds).toFixed(2);
      lines.push(
        `${name}: ${attack} alone: ${(done / tookSeconds).toFixed(2)} per second, ${perCpu} per second of the signer's CPU ` +
          `(${JSON.stringify(tally.answers)})`,
      );
      await pause(calmMs);
    }
  } finally {
    await remove();
    await database.close();
  }
  return lines.join("\n");
}

/** However slow the machine is, within reason. */
async function untilHeld(attacker: Attacker, { holds = 0 }: Attack): Promise<void> {
  const until = performance.now() + holdingMs;
  while (performance.now() < until && (await attacker.look()).open < holds) await pause(100);
}

/** How many connections the attack has from now on. */
async function watchOpen(attacker: Attacker): Promise<{ stop(): Promise<{ most: number; mean: number }> }> {
  await attacker.countAnew();
  const seen: number[] = [];
  let isOver = false;
  const watching = (async () => {
    for (; !isOver; await pause(500)) seen.push((await attacker.look()).open);
  })();
  return {
    async stop() {
      isOver = true;
      await watching;
      const { mostOpen } = await attacker.look();
      return { most: mostOpen, mean: seen.reduce((sum, open) => sum + open, 0) / seen.length };
    },
  };
}

function addTally(to: Tally, tally: Tally): void {
  to.connections += tally.connections;
  to.mostOpen = Math.max(to.mostOpen, tally.mostOpen);
  to.silent += tally.silent;
  to.answeredMs.push(...tally.answeredMs);
  for (const [status, count] of Object.entries(tally.answers)) to.answers[status] = (to.answers[status] ?? 0) + count;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function pssOf(server: KeysteadServer): Promise<number> {
  const { gateway, signer } = await memoryOfServer(server);
  return gateway.pssMb + signer.pssMb;
}

function watchMemory(server: KeysteadServer): { stop(): Promise<number> } {
  let most = 0;
  const look = async () => {
    most = Math.max(most, await pssOf(server));
  };
  const timer = setInterval(() => void look(), 1_000);
  return {
    async stop() {
      clearInterval(timer);
      await look();
      return most;
    },
  };
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

function failuresOf({ rounds }: AttackRow, who: HonestName, when: keyof Round): number {
  return rounds.reduce((sum, round) => sum + round[when][who].failures.length, 0);
}

/** One line for each attack that honest clients notice more than they may, that was refused too late, or that was none. */
export function missedAttacks({ database, rows }: AttackReport): string[] {
  return rows.flatMap((row) => {
    const { holds = 0, withinMs, hurtsItsMember, ratio: target }: Attack = attacks[row.name];
    const missed: string[] = [];
    for (const who of honestNames) {
      const failedBefore = failuresOf(row, who, "before");
      if (failedBefore > 0) missed.push(`${failedBefore} requests of the ${who} failed before it`);
      if (who === "member" && hurtsItsMember) continue;
      const [ratio, failed] = [ratioOf(row, who), failuresOf(row, who, "during")];
      if (!(ratio <= (target ?? attackTarget)))
        missed.push(`p99 of the ${who} is ${ratio.toFixed(2)} times what it was`);
      if (failed > 0) missed.push(`${failed} requests of the ${who} failed`);
    }
    if (row.held.most < holds) missed.push(`no more than ${row.held.most} of ${holds} connections were open`);
    if (withinMs !== undefined) {
      const ms = answeredWithin(row.tally);
      if (!(ms <= withinMs)) missed.push(`p99 of refusals is ${ms.toFixed(0)} ms, not ${withinMs}`);
    }
    return missed.map((words) => `${database}: ${row.name}: ${words}`);
  });
}

function answeredWithin({ answeredMs }: Tally): number {
  return answeredMs.length === 0 ? Number.NaN : quantile(answeredMs, 0.99);
}

export function attackText({ database, restMb, rows }: AttackReport): string {
  const cells = (values: readonly string[]) =>
    values.map((value, index) => (index === 0 ? value.padEnd(30) : value.padStart(widths[index] ?? 9))).join("");
  const ms = ({ rounds }: AttackRow, who: HonestName, when: keyof Round, q: number) => {
    const measured = rounds.map((round) => round[when][who].latencies).filter(({ length }) => length > 0);
    return measured.length === 0 ? "-" : median(measured.map((latencies) => quantile(latencies, q))).toFixed(2);
  };
  return [
    `${database}: honest clients (50 errands per second each: questions, tags, signatures) before and during each attack, in ms: the`,
    "member whose key attackers know, then a neighbour in another organization; each the middle of all rounds. `ratio`: p99 during over",
    "p99 before in a round, the middle one. `held`: the attack's connections meanwhile, the mean. `gateway`, `attacker`: share of one",
    "core. `MB`: the most that gateway and signer took, PSS; at rest",
    `${restMb.toFixed(0)}.`,
    "",
    cells([
      "attack",
      ...honestNames.flatMap(() => ["p50", "p99", "p50 then", "p99 then", "ratio", "failed"]),
      "held",
      "gateway",
      "attacker",
      "MB",
      "  answers",
    ]),
    ...rows.map((row) =>
      cells([
        row.name,
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
        row.pssMb.toFixed(0),
        `  ${answersText(row)}`,
      ]),
    ),
    "",
    ...rows.map(({ name }) => `${name}: ${attacks[name].says}`),
    `(target: ratio at most ${attackTarget}, no honest request failed; where a key is misused, its own member's are left out)`,
    ...worstLines({ database, rows }),
  ].join("\n");
}

/** What all attacks together did to the neighbour, who has nothing to do with any of them. */
function worstLines({ database, rows }: Pick<AttackReport, "database" | "rows">): string[] {
  const targetOf = ({ name }: AttackRow) => (attacks[name] as Attack).ratio ?? attackTarget;
  const shareOf = (row: AttackRow) => ratioOf(row, "neighbour") / targetOf(row);
  const [worst] = rows.toSorted((a, b) => shareOf(b) - shareOf(a));
  if (worst === undefined) return [];
  const failed = rows.reduce((sum, row) => sum + failuresOf(row, "neighbour", "during"), 0);
  return [
    `${database}: under ${rows.length} attacks ${failed} requests of the neighbour failed  (target 0)`,
    `${database}: under ${worst.name} the neighbour's p99 is ${ratioOf(worst, "neighbour").toFixed(2)} times what it was, and nowhere closer to its target  (target ${targetOf(worst)})`,
  ];
}

const honestWidths = [8, 8, 9, 9, 7, 7] as const;
const widths = [30, ...honestWidths, ...honestWidths, 6, 8, 9, 6, 0] as const;

function answersText({ name, tally }: AttackRow): string {
  const { connections, answers, silent, answeredMs } = tally;
  const { withinMs }: Attack = attacks[name];
  const statuses = Object.entries(answers).map(([status, count]) => `${status} ×${count}`);
  const slowest = answeredMs.reduce((most, each) => Math.max(most, each), 0);
  const target = withinMs === undefined ? "" : ` (target ${withinMs})`;
  const times =
    answeredMs.length === 0
      ? []
      : [`p99 after ${answeredWithin(tally).toFixed(0)} ms${target}, the last ${slowest.toFixed(0)}`];
  const none = silent > 0 ? [`no answer ×${silent}`] : [];
  return [`${connections} connections`, ...statuses, ...times, ...none].join(", ");
}
