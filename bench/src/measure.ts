/** One Keystead under load, phase by phase, with the bare costs measured in between. */
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import type { Bare, Baselines } from "./baselines.ts";
import type { Database, DatabaseName } from "./databases.ts";
import type { Load } from "./load.ts";
import type { Job, LoadResult } from "./load_messages.ts";
import { busyShare, type Neighbours } from "./neighbours.ts";
import { cpuMs, type Memory, memoryOf } from "./processes.ts";
import { median } from "./statistics.ts";

export const endpoints = ["whoami", "create_user_tag", "sign_raw_payload"] as const;
export const connectionCounts = [1, 16, 64] as const;

export type PhaseResult = {
  database: DatabaseName;
  endpoint: Job["endpoint"];
  connections: number;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU microseconds per request. */
  gatewayUs: number;
  signerUs: number;
  databaseUs: number;
  /** How busy all CPUs of the machine were, from 0 to 1. */
  busyShare: number;
};

export type ServerMemory = Record<"launcher" | "gateway" | "signer", Memory>;

export type Subject = {
  database: Database;
  server: KeysteadServer;
  /** The address of a wallet account on secp256k1. */
  signWith: readonly string[];
  baselines: Baselines;
  /** Everything measured so far. */
  bare: Bare[];
  atRest: Bare[];
  phases: PhaseResult[];
};

/** Just-in-time compilers and caches settle, and the state gets the journals of an hour's load: one per minute. */
export async function warmUp(load: Load, subject: Subject, seconds: number): Promise<void> {
  const common = { account: accountOf(subject.server), connections: 16, seconds };
  const { born } = await load.run({ ...common, endpoint: "create_wallet", connections: 1, requests: 1 });
  subject.signWith = born;
  await load.run({ ...common, endpoint: "create_user_tag", requests: 1_600, seconds: 60, spreadMs: 3_500_000 });
  await load.run({ ...common, endpoint: "whoami", requests: 0 });
  await load.run({ ...common, endpoint: "create_user_tag", requests: 4_000 * seconds });
  await load.run({ ...common, endpoint: "sign_raw_payload", signWith: born, requests: 4_000 * seconds });
  await subject.database.settle();
}

export async function measureBaselines({ baselines, bare, atRest }: Subject, neighbours: Neighbours): Promise<void> {
  atRest.push(await baselines.measure());
  bare.push(await neighbours.beside(() => baselines.measure()));
}

export async function measurePhase(
  load: Load,
  subject: Subject,
  endpoint: Job["endpoint"],
  connections: number,
  seconds: number,
): Promise<void> {
  const { database, server, signWith } = subject;
  const job = { account: accountOf(server), endpoint, signWith, connections, seconds, requests: 4_000 * seconds };
  subject.phases.push((await measureJob(load, database, server, job)).phase);
}

/** One job, and the CPU time it took the server and its database. */
export async function measureJob(
  load: Load,
  database: Database,
  server: KeysteadServer,
  job: Job,
): Promise<{ phase: PhaseResult; born: string[] }> {
  const { gateway, signer } = await pidsOf(server);
  let before = { gatewayMs: 0, signerMs: 0, databaseMs: async () => 0, busyShare: () => 0 };
  const result = await load.run(job, async () => {
    const databaseMs = await database.meter();
    before = { databaseMs, gatewayMs: cpuMs(gateway), signerMs: cpuMs(signer), busyShare: busyShare() };
  });
  const busy = before.busyShare();
  const perRequestUs = (ms: number) => (ms * 1000) / result.requests;
  const phase = {
    database: database.name,
    endpoint: job.endpoint,
    connections: job.connections,
    ...speedOf(result),
    gatewayUs: perRequestUs(cpuMs(gateway) - before.gatewayMs),
    signerUs: perRequestUs(cpuMs(signer) - before.signerMs),
    databaseUs: perRequestUs(await before.databaseMs()),
    busyShare: busy,
  };
  return { phase, born: result.born };
}

function speedOf({ requests, seconds, p50Ms, p99Ms }: LoadResult) {
  return { requestsPerSecond: requests / seconds, p50Ms, p99Ms };
}

export async function pidsOf(server: KeysteadServer): Promise<{ launcher: number; gateway: number; signer: number }> {
  const { gateway, signer } = await server.children();
  const launcher = server.launcher.pid;
  if (launcher === undefined || gateway === undefined || signer === undefined) throw new Error("a process is missing");
  return { launcher, gateway, signer };
}

export async function memoryOfServer(server: KeysteadServer): Promise<ServerMemory> {
  const { launcher, gateway, signer } = await pidsOf(server);
  return { launcher: memoryOf(launcher), gateway: memoryOf(gateway), signer: memoryOf(signer) };
}

export function accountOf({ url, bootstrap }: KeysteadServer): Job["account"] {
  const { organizationId, apiPublicKey, apiPrivateKey } = bootstrap;
  return { host: new URL(url).host, organizationId, apiPublicKey, apiPrivateKey };
}

/** The median over all rounds of every figure of one phase. */
export function summarise(phases: readonly PhaseResult[]): PhaseResult {
  const [first] = phases;
  if (first === undefined) throw new Error("a phase without rounds");
  const over = (pick: (phase: PhaseResult) => number) => median(phases.map(pick));
  return {
    ...first,
    requestsPerSecond: over((phase) => phase.requestsPerSecond),
    p50Ms: over((phase) => phase.p50Ms),
    p99Ms: over((phase) => phase.p99Ms),
    gatewayUs: over((phase) => phase.gatewayUs),
    signerUs: over((phase) => phase.signerUs),
    databaseUs: over((phase) => phase.databaseUs),
    busyShare: over((phase) => phase.busyShare),
  };
}
