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
import { type FromHonest, type HonestJob, type HonestResults, honestNames, type ToHonest } from "./attack_messages.ts";
import { type DatabaseName, openDatabase } from "./databases.ts";
import type { Load } from "./load.ts";
import { accountOf, pidsOf } from "./measure.ts";
import { cpuMs, ownMb } from "./processes.ts";
import { measureStarts } from "./start_time.ts";
import { quantile } from "./statistics.ts";
import { leastDisturbed, mostStolen, watchStolen } from "./stolen.ts";

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

/** For what an attack leaves behind to be cleared away: the signer is at what it asked last for up to five seconds. */
export const calmMs = 8_000;

/** So many attacks of those that share it are held against one calm at most. */
export const calmShares = 5;
/**
 * After each of them honest clients are looked at for so long, until they are about as fast as before. Where they stay slower, calm is
 * measured anew.
 */
const lookSeconds = 2;
const lookRatio = 1.5;
const mostLooks = 10;

/** For an attack to hold what it says; one that never does is reported. */
const holdingMs = 30_000;

/** `stolen`: the share of the machine's time that its host gave to others meanwhile. */
type Measured = { results: HonestResults; stolen: number };

export type Round = { before: HonestResults; during: HonestResults; stolen: number };

export type AttackRow = {
  name: AttackName;
  rounds: Round[];
  /** It was held against what was measured before an earlier one. */
  isCalmShared: boolean;
  tally: Tally;
  /** Connections while honest clients were measured: the most at once, in the round in which they were fewest, and the mean. */
  held: { most: number; mean: number };
  /** Shares of one core during the attack. */
  attackerCpu: number;
  gatewayCpu: number;
  /** The most that gateway and signer took at once. */
  mostMb: number;
};

/** `failed`: attacks that could not be measured, and why. The hours of the others are not lost for it. */
export type AttackReport = { database: DatabaseName; restMb: number; rows: AttackRow[]; failed: string[] };

type Honest = { measure(job: HonestJob): Promise<Measured>; stop(): void };

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
      const stolen = watchStolen();
      const answer = await ask({ kind: "go" });
      if (answer.kind !== "done") throw new Error("an unexpected answer");
      return { results: answer.results, stolen: stolen() };
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
    const restMb = await ownMbOf(server);
    const rows: AttackRow[] = [];
    const failed: string[] = [];
    const calm = calmOf(honest, server);
    for (const attack of allAttackNames.filter((each) => plan.only.test(each))) {
      say(`${name}: ${attack}`);
      try {
        rows.push(await measureAttack({ server, honest, calm }, jobFor(attack, job, plan), attack, plan));
      } catch (error) {
        failed.push(`${attack}: ${error instanceof Error ? error.message : error}`);
      }
    }
    return { database: name, restMb, rows, failed };
  } finally {
    honest.stop();
    await remove();
    await database.close();
  }
}

type Stage = { server: KeysteadServer; honest: Honest; calm: Calm };

type Calm = {
  measure(job: HonestJob): Promise<Measured>;
  /** What was measured last, while it may still be used. */
  shared(): Measured | undefined;
  /** Is the server as it was? */
  look(job: HonestJob): Promise<void>;
};

/** What honest clients notice of a server that nobody attacks. */
function calmOf(honest: Honest, server: KeysteadServer): Calm {
  let last: Measured | undefined;
  let shares = 0;
  return {
    async measure(job) {
      // Whatever looking costs, it costs as much before the attack.
      const watch = watchMemory(server);
      last = withFailures(await leastDisturbed(() => honest.measure(job)));
      shares = last.stolen > mostStolen ? calmShares : 1;
      await watch.stop();
      return last;
    },
    shared: () => (last !== undefined && shares++ < calmShares ? last : undefined),
    async look(job) {
      // What an attack leaves behind may take a while, and is not the calm that the next one is held against.
      for (let looks = 0; last !== undefined && looks < mostLooks; looks++) {
        const { results } = await honest.measure({ ...job, seconds: lookSeconds });
        if (isLike(last.results, results)) return;
      }
      last = undefined;
    },
  };
}

/** By what nine of ten requests took: a look has too few of them for more. */
export function isLike(calm: HonestResults, seen: HonestResults): boolean {
  return honestNames.every((who) => {
    const [before, after] = [calm[who].latencies, seen[who].latencies];
    if (before.length === 0 || after.length === 0 || seen[who].failures.length > 0) return false;
    return quantile(after, 0.9) <= lookRatio * quantile(before, 0.9);
  });
}

async function measureAttack(stage: Stage, job: HonestJob, name: AttackName, plan: AttackPlan): Promise<AttackRow> {
  const { calm } = stage;
  const { rounds } = sizeOf(name, plan);
  const { sharesCalm, isOnceAnHour }: Attack = attacks[name];
  const row: AttackRow = {
    name,
    rounds: [],
    isCalmShared: false,
    tally: newTally(),
    held: { most: Number.POSITIVE_INFINITY, mean: 0 },
    attackerCpu: 0,
    gatewayCpu: 0,
    mostMb: 0,
  };
  for (let round = 0; round < rounds; round++) {
    const shared = sharesCalm ? calm.shared() : undefined;
    const before = shared ?? (await calm.measure(job));
    row.isCalmShared = shared !== undefined;
    const measure = async () => {
      const seen = await measureRound(stage, job, name, plan.leadMs);
      if (sharesCalm) await calm.look(job);
      else await pause(calmMs);
      return seen;
    };
    const seen = await (isOnceAnHour ? measure() : leastDisturbed(measure).then(withFailures));
    const stolen = Math.max(before.stolen, seen.stolen);
    row.rounds.push({ before: before.results, during: seen.results, stolen });
    row.gatewayCpu += seen.gatewayCpu / rounds;
    row.attackerCpu += seen.attackerCpu / rounds;
    row.held.most = Math.min(row.held.most, seen.held.most);
    row.held.mean += seen.held.mean / rounds;
    row.mostMb = Math.max(row.mostMb, seen.mostMb);
    addTally(row.tally, seen.tally);
  }
  return row;
}

/** Whatever else the machine did, a request that failed in a round that does not count did fail. */
export function withFailures<T extends Pick<Measured, "results">>({ best, dropped }: { best: T; dropped: T[] }): T {
  for (const who of honestNames) {
    best.results[who].failures.push(...dropped.flatMap(({ results }) => results[who].failures));
  }
  return best;
}

type Seen = Measured & Pick<AttackRow, "tally" | "held" | "attackerCpu" | "gatewayCpu" | "mostMb">;

/** One attack, from its beginning to its end. */
async function measureRound(
  { server, honest }: Stage,
  job: HonestJob,
  name: AttackName,
  leadMs: number,
): Promise<Seen> {
  const { gateway } = await pidsOf(server);
  const attackedAt = performance.now();
  const attacker = await startAttacker(name, { ...server.bootstrap, url: server.url });
  const watch = watchMemory(server);
  await pause(leadMs);
  await untilHeld(attacker, attacks[name]);
  const open = await watchOpen(attacker);
  const [beganAt, gatewayMs] = [performance.now(), cpuMs(gateway)];
  const measured = await honest.measure(job);
  const gatewayCpu = (cpuMs(gateway) - gatewayMs) / (performance.now() - beganAt);
  const held = await open.stop();
  const { tally, cpuMs: attackerMs } = await attacker.stop();
  const attackerCpu = attackerMs / (performance.now() - attackedAt);
  return { ...measured, tally, held, attackerCpu, gatewayCpu, mostMb: await watch.stop() };
}

function jobFor(name: AttackName, job: HonestJob, plan: AttackPlan): HonestJob {
  const { againstLarge }: Attack = attacks[name];
  return { ...job, ...sizeOf(name, plan), sendsLarge: againstLarge === true };
}

function sizeOf(name: AttackName, { seconds, rounds, isQuick }: AttackPlan): { seconds: number; rounds: number } {
  const { measured }: Attack = attacks[name];
  return isQuick === true || measured === undefined ? { seconds, rounds } : measured;
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
  for (const counts of ["answers", "said"] as const) {
    for (const [what, count] of Object.entries(tally[counts])) to[counts][what] = (to[counts][what] ?? 0) + count;
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function ownMbOf(server: KeysteadServer): Promise<number> {
  const { gateway, signer } = await pidsOf(server);
  return ownMb(gateway) + ownMb(signer);
}

function watchMemory(server: KeysteadServer): { stop(): Promise<number> } {
  let most = 0;
  const look = async () => {
    most = Math.max(most, await ownMbOf(server));
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
