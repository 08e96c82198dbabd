/**
 * `npm run bench -- --attack`: what honest clients notice of an attack. Their latency before and during each attack, in turn, on
 * one server; the attacker is a process of its own, and shares the machine's cores with everybody else.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Tally } from "@keystead/e2e/attackers/attack.ts";
import { startAttacker } from "@keystead/e2e/attackers/attack_process.ts";
import { type AttackName, attackNames, attacks } from "@keystead/e2e/attackers/attacks.ts";
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import type { FromHonest, HonestJob, HonestResult, ToHonest } from "./attack_messages.ts";
import { type DatabaseName, openDatabase } from "./databases.ts";
import type { Load } from "./load.ts";
import { accountOf, memoryOfServer, pidsOf } from "./measure.ts";
import { cpuMs } from "./processes.ts";
import { measureStarts } from "./start_time.ts";
import { quantile } from "./statistics.ts";

export type AttackPlan = {
  rounds: number;
  /** Of honest work, before and during the attack each. */
  seconds: number;
  /** From the attack's beginning to the honest work's: it takes a while until all connections are there. */
  leadMs: number;
  only: RegExp;
};

export const attackTarget = 2;

/** For what an attack leaves behind to be cleared away. */
const calmMs = 3_000;

export type AttackRow = {
  name: AttackName;
  before: HonestResult;
  during: HonestResult;
  tally: Tally;
  /** Shares of one core during the attack. */
  attackerCpu: number;
  gatewayCpu: number;
  /** The most that gateway and signer took at once. */
  pssMb: number;
};

export type AttackReport = { database: DatabaseName; restMb: number; rows: AttackRow[] };

type Honest = { measure(job: HonestJob): Promise<HonestResult>; stop(): void };

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
      return answer.result;
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
    const job: HonestJob = { account: accountOf(server), signWith: born[0] ?? "", seconds: plan.seconds };
    await honest.measure(job);
    const restMb = await pssOf(server);
    const rows: AttackRow[] = [];
    for (const attack of attackNames.filter((each) => plan.only.test(each))) {
      say(`${name}: ${attack}`);
      rows.push(await measureAttack(server, honest, job, attack, plan));
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
  { rounds, leadMs }: AttackPlan,
): Promise<AttackRow> {
  const before: HonestResult = { latencies: [], failures: [] };
  const during: HonestResult = { latencies: [], failures: [] };
  const row: AttackRow = { name, before, during, tally: emptyTally(), attackerCpu: 0, gatewayCpu: 0, pssMb: 0 };
  const { gateway } = await pidsOf(server);
  for (let round = 0; round < rounds; round++) {
    // Looking at a process's memory holds it up a little, so it is looked at before the attack as well.
    const calm = watchMemory(server);
    add(before, await honest.measure(job));
    await calm.stop();
    const attacker = await startAttacker(name, { ...server.bootstrap, url: server.url });
    const watch = watchMemory(server);
    await pause(leadMs);
    const [beganAt, gatewayMs] = [performance.now(), cpuMs(gateway)];
    add(during, await honest.measure(job));
    const seconds = (performance.now() - beganAt) / 1000;
    row.gatewayCpu += (cpuMs(gateway) - gatewayMs) / 1000 / seconds / rounds;
    const { tally, cpuMs: attackerMs } = await attacker.stop();
    row.attackerCpu += attackerMs / 1000 / (seconds + leadMs / 1000) / rounds;
    row.pssMb = Math.max(row.pssMb, await watch.stop());
    addTally(row.tally, tally);
    await pause(calmMs);
  }
  return row;
}

function add(to: HonestResult, { latencies, failures }: HonestResult): void {
  to.latencies.push(...latencies);
  to.failures.push(...failures);
}

function emptyTally(): Tally {
  return { connections: 0, mostOpen: 0, answers: {}, silent: 0, slowestMs: 0 };
}

function addTally(to: Tally, tally: Tally): void {
  to.connections += tally.connections;
  to.silent += tally.silent;
  to.slowestMs = Math.max(to.slowestMs, tally.slowestMs);
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

export function ratioOf({ before, during }: AttackRow): number {
  return quantile(during.latencies, 0.99) / quantile(before.latencies, 0.99);
}

/** One line for each attack that honest clients notice more than they may. */
export function missedAttacks({ database, rows }: AttackReport): string[] {
  return rows.flatMap((row) => {
    const missed: string[] = [];
    if (!(ratioOf(row) <= attackTarget)) missed.push(`p99 is ${ratioOf(row).toFixed(2)} times what it was`);
    if (row.during.failures.length > 0) missed.push(`${row.during.failures.length} honest requests failed`);
    return missed.map((words) => `${database}: ${row.name}: ${words}`);
  });
}

export function attackText({ database, restMb, rows }: AttackReport): string {
  const cells = (values: readonly string[]) =>
    values.map((value, index) => (index === 0 ? value.padEnd(30) : value.padStart(widths[index] ?? 9))).join("");
  const ms = (latencies: readonly number[], q: number) => quantile(latencies, q).toFixed(2);
  return [
    `${database}: honest clients (100 errands per second: questions, tags, signatures) before and during each attack, in ms;`,
    "`ratio`: p99 during over p99 before. `gateway`, `attacker`: share of one core meanwhile. `MB`: the most that gateway and signer",
    `took, PSS; at rest ${restMb.toFixed(0)}.`,
    "",
    cells([
      "attack",
      "p50",
      "p99",
      "p50 then",
      "p99 then",
      "ratio",
      "failed",
      "gateway",
      "attacker",
      "MB",
      "  answers",
    ]),
    ...rows.map((row) =>
      cells([
        row.name,
        ms(row.before.latencies, 0.5),
        ms(row.before.latencies, 0.99),
        ms(row.during.latencies, 0.5),
        ms(row.during.latencies, 0.99),
        ratioOf(row).toFixed(2),
        String(row.during.failures.length),
        row.gatewayCpu.toFixed(2),
        row.attackerCpu.toFixed(2),
        row.pssMb.toFixed(0),
        `  ${answersText(row.tally)}`,
      ]),
    ),
    "",
    ...rows.map(({ name }) => `${name}: ${attacks[name].says}`),
    `(target: ratio at most ${attackTarget}, no honest request failed)`,
  ].join("\n");
}

const widths = [30, 7, 8, 9, 9, 7, 7, 8, 9, 6, 0] as const;

function answersText({ connections, answers, silent, slowestMs }: Tally): string {
  const statuses = Object.entries(answers).map(([status, count]) => `${status} ×${count}`);
  const slowest = statuses.length > 0 ? [`the last after ${slowestMs.toFixed(0)} ms`] : [];
  const none = silent > 0 ? [`no answer ×${silent}`] : [];
  return [`${connections} connections`, ...statuses, ...slowest, ...none].join(", ");
}
