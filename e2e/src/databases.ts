/** Databases for tests: every suite runs on both kinds, each test on an empty one of its own. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import pg from "pg";

export const dialects = ["sqlite", "postgres"] as const;
export type Dialect = (typeof dialects)[number];

/** Where a database is. */
export type DatabaseSource = { kind: "sqlite"; folder: string } | { kind: "postgres"; url: string };

/**
 * A database that goes with the test, empty or a copy of what `template` prepared in PostgreSQL; undefined, with the test skipped, when
 * there is no PostgreSQL.
 */
export async function testSource(
  t: TestContext,
  dialect: Dialect,
  template?: DatabaseTemplate,
): Promise<DatabaseSource | undefined> {
  if (dialect === "sqlite") {
    const folder = await mkdtemp(join(tmpdir(), "keystead-store-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    return { kind: "sqlite", folder };
  }
  const base = process.env.KEYSTEAD_TEST_DATABASE_URL;
  if (base === undefined) {
    const reason = `no PostgreSQL: ${process.env.KEYSTEAD_TEST_DATABASE_MISSING ?? "run with --test-global-setup=scripts/test_setup.ts"}`;
    if (process.env.KEYSTEAD_CI === "1") throw new Error(reason);
    t.skip(reason);
    return undefined;
  }
  const name = newName();
  await administer(base, `create database ${name}${template ? ` template ${await template.nameIn(base)}` : ""}`);
  t.after(() => administer(base, `drop database ${name} with (force)`));
  return { kind: "postgres", url: databaseUrl(base, name) };
}

/** A database that others of the same test file are copied from. */
export type DatabaseTemplate = { nameIn(base: string): Promise<string> };

/** It is prepared when it is first needed, and goes with the last test of the file. */
export function databaseTemplate(prepare: (source: DatabaseSource) => Promise<void>): DatabaseTemplate {
  let prepared: Promise<string> | undefined;
  let drop = async (): Promise<void> => undefined;
  after(() => drop());
  return {
    nameIn(base) {
      prepared ??= (async () => {
        const name = newName();
        await administer(base, `create database ${name}`);
        drop = () => administer(base, `drop database ${name} with (force)`);
        await prepare({ kind: "postgres", url: databaseUrl(base, name) });
        return name;
      })();
      return prepared;
    },
  };
}

function newName(): string {
  return `keystead_test_${randomUUID().replaceAll("-", "")}`;
}

/** The same server, another database. The authority may be empty (a socket), which `URL` does not read. */
export function databaseUrl(base: string, name: string): string {
  return base.replace(/^(\w+:\/\/[^/?]*)(?:\/[^?]*)?/, `$1/${name}`);
}

/** A session of the test's own. */
export async function openSession(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: "test" });
  await client.connect();
  return client;
}

export async function administer(url: string, text: string): Promise<void> {
  const client = await openSession(url);
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
