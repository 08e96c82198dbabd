/** The two databases a Keystead can run on, as the bench needs them: fresh ones, a bare insert, and their own CPU time. */
import { randomBytes } from "node:crypto";
import { startPostgres } from "@keystead/e2e/postgres.ts";
import pg from "pg";
import { type DurableInsert, postgresMeter, preparePostgresInsert, prepareSqliteInsert } from "./baselines.ts";

export type DatabaseName = "sqlite" | "postgres";

export type Database = {
  name: DatabaseName;
  /** A new, empty one for a Keystead; undefined where it makes its own. */
  freshUrl(): Promise<string | undefined>;
  prepareInsert(seconds: number): Promise<DurableInsert>;
  /**
   * What the database does by itself within its first minute under load. PostgreSQL plans its statements for empty tables
   * until it has looked at them once, and reads whole tables meanwhile.
   */
  settle(): Promise<void>;
  /** Starts counting the CPU milliseconds of the database's own processes. */
  meter(): Promise<() => Promise<number>>;
  close(): Promise<void>;
};

export const openDatabase: Record<DatabaseName, () => Promise<Database>> = {
  sqlite: openSqlite,
  postgres: openPostgres,
};

async function openSqlite(): Promise<Database> {
  return {
    name: "sqlite",
    freshUrl: async () => undefined,
    prepareInsert: async (seconds) => prepareSqliteInsert(seconds),
    settle: async () => {},
    meter: async () => async () => 0,
    close: async () => {},
  };
}

async function openPostgres(): Promise<Database> {
  const server = await startPostgres();
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const created: string[] = [];
  // URL would refuse the empty host of a socket's URL.
  const urlOf = (name: string) => server.url.replace(/\/[^/?]*(?=\?|$)/, `/${name}`);
  async function freshUrl(): Promise<string> {
    const name = `keystead_bench_${randomBytes(6).toString("hex")}`;
    await client.query(`create database ${name}`);
    created.push(name);
    return urlOf(name);
  }
  return {
    name: "postgres",
    freshUrl,
    prepareInsert: async (seconds) => preparePostgresInsert(await freshUrl(), seconds),
    async settle() {
      for (const name of created) {
        const inside = new pg.Client({ connectionString: urlOf(name) });
        await inside.connect();
        await inside.query("analyze");
        await inside.end();
      }
    },
    meter: postgresMeter(client),
    async close() {
      for (const name of created) await client.query(`drop database ${name} with (force)`);
      await client.end();
      await server.stop();
    },
  };
}
