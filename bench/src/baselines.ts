/**
 * What the request cannot do without, measured bare: one P-256 verification, one secp256k1 signature, one durable insert
 * committed alone.
 */
import { generateKeyPairSync, randomBytes, randomUUID, sign, verify } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { nodeSigning } from "@keystead/server/curves/node_signing.ts";
import pg from "pg";
import { cpuMs } from "./processes.ts";
import { median } from "./statistics.ts";

/** About what an activity's body has. */
const messageLength = 300;

function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Something that computes and nothing else. */
export type Computation = { measureUs(): number };

export function measureUs(seconds: number, compute: () => void): number {
  const [before, until] = [processCpuMs(), performance.now() + seconds * 1000];
  let count = 0;
  for (; performance.now() < until; count++) compute();
  return ((processCpuMs() - before) * 1000) / count;
}

/** CPU of one ECDSA signature on secp256k1, by the library that the signer uses. */
export function prepareSignature(seconds: number): Computation {
  const privateKey = new Uint8Array(randomBytes(32)).fill(1, 0, 1);
  const digest = new Uint8Array(randomBytes(32));
  return { measureUs: () => measureUs(seconds, () => nodeSigning.ecdsa.CURVE_SECP256K1(privateKey, digest)) };
}

/** CPU of one verification with a key that was imported before, as the server keeps its own. */
export function prepareVerification(seconds: number): Computation {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const message = randomBytes(messageLength);
  const key = { key: publicKey, dsaEncoding: "ieee-p1363" } as const;
  const signature = sign("sha256", message, { key: privateKey, dsaEncoding: "ieee-p1363" });
  return {
    measureUs: () =>
      measureUs(seconds, () => {
        if (!verify("sha256", message, key, signature)) throw new Error("a good signature was refused");
      }),
  };
}

/** CPU of one insert: of this process, and of the database's processes where it has any. */
export type InsertCost = { clientUs: number; databaseUs: number };

export type DurableInsert = { measure(): Promise<InsertCost>; close(): Promise<void> };

/** What a request cannot do without. */
export type Bare = { verificationUs: number; signatureUs: number; insert: InsertCost };

export type Baselines = { measure(): Promise<Bare>; close(): Promise<void> };

/** Each for so long. */
export async function prepareBaselines(
  seconds: number,
  prepareInsert: (seconds: number) => Promise<DurableInsert>,
): Promise<Baselines> {
  const verification = prepareVerification(seconds);
  const signature = prepareSignature(seconds);
  const insert = await prepareInsert(seconds);
  return {
    measure: async () => ({
      verificationUs: verification.measureUs(),
      signatureUs: signature.measureUs(),
      insert: await insert.measure(),
    }),
    close: insert.close,
  };
}

/** The median of every figure. */
export function medianOf(measured: readonly Bare[]): Bare {
  const over = (pick: (bare: Bare) => number) => median(measured.map(pick));
  return {
    verificationUs: over(({ verificationUs }) => verificationUs),
    signatureUs: over(({ signatureUs }) => signatureUs),
    insert: {
      clientUs: over(({ insert }) => insert.clientUs),
      databaseUs: over(({ insert }) => insert.databaseUs),
    },
  };
}

const row = () => [randomUUID(), randomBytes(32).toString("hex"), randomBytes(messageLength)] as const;

/** A table of its own in a file of its own, set as the server sets its file. */
export function prepareSqliteInsert(seconds: number): DurableInsert {
  const folder = mkdtempSync(join(tmpdir(), "keystead-bench-"));
  const database = new DatabaseSync(join(folder, "baseline.db"));
  database.exec("pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -32768");
  database.exec("create table activities (id text primary key, fingerprint text not null, body blob not null)");
  const insert = database.prepare("insert into activities values (?, ?, ?)");
  return {
    async measure() {
      const [before, until] = [processCpuMs(), performance.now() + seconds * 1000];
      let count = 0;
      for (; performance.now() < until; count++) insert.run(...row());
      return { clientUs: ((processCpuMs() - before) * 1000) / count, databaseUs: 0 };
    },
    async close() {
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A table of its own in a database of its own, one connection, a prepared statement. */
export async function preparePostgresInsert(url: string, seconds: number): Promise<DurableInsert> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("create table activities (id text primary key, fingerprint text not null, body bytea not null)");
  const text = "insert into activities values ($1, $2, $3)";
  const meter = postgresMeter(client);
  return {
    async measure() {
      const databaseMs = await meter();
      const [before, until] = [processCpuMs(), performance.now() + seconds * 1000];
      let count = 0;
      for (; performance.now() < until; count++) await client.query({ name: "insert", text, values: [...row()] });
      const clientUs = ((processCpuMs() - before) * 1000) / count;
      return { clientUs, databaseUs: ((await databaseMs()) * 1000) / count };
    },
    close: () => client.end(),
  };
}

/**
 * CPU time of all processes of a PostgreSQL, its own ones (WAL, checkpoints) included, from the call until the returned
 * function is called. One that was given by `DATABASE_URL` may be on another machine: zero then.
 */
export function postgresMeter(client: pg.Client): () => Promise<() => Promise<number>> {
  async function read(): Promise<Map<number, number>> {
    if (process.env.DATABASE_URL) return new Map();
    const { rows } = await client.query<{ pid: number }>("select pid from pg_stat_activity");
    return new Map(rows.map(({ pid }) => [pid, cpuMs(pid)]));
  }
  return async () => {
    const before = await read();
    return async () => {
      let sum = 0;
      for (const [pid, ms] of await read()) sum += ms - (before.get(pid) ?? 0);
      return sum;
    };
  };
}
