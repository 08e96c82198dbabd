import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { type Kysely, sql } from "kysely";
import { dialects, openTestStore, testSource } from "../../../test/open_test_store.ts";
import { birth, newApiKey, newUser } from "../../../test/store_items.ts";
import { commitGroup } from "../commit.ts";
import { closeStore, openStore, type Store } from "../store.ts";
import { type ColumnKind, tables } from "../tables.ts";
import { migrate, migrations } from "./migrate.ts";
import { columnTypes } from "./step.ts";

const bookkeeping = ["migrations", "migrations_lock"];

/** What a column of this kind is called by each database. */
const typeNames = {
  sqlite: { text: "TEXT", integer: "INTEGER", bytes: "BLOB" },
  postgres: { text: "text", integer: "int8", bytes: "bytea" },
} as const;

async function primaryKeys(store: Store): Promise<Map<string, string[]>> {
  const { rows } =
    store.dialect === "sqlite"
      ? await sql<{ table: string; column: string }>`
          select m.name as "table", c.name as "column" from sqlite_schema m join pragma_table_info(m.name) c
          where m.type = 'table' and c.pk > 0 order by m.name, c.pk`.execute(store.db)
      : await sql<{ table: string; column: string }>`
          select t.table_name as "table", k.column_name as "column"
          from information_schema.table_constraints t join information_schema.key_column_usage k using (constraint_name)
          where t.constraint_type = 'PRIMARY KEY' and t.table_schema = 'public'
          order by t.table_name, k.ordinal_position`.execute(store.db);
  const keys = new Map<string, string[]>();
  for (const { table, column } of rows) keys.set(table, [...(keys.get(table) ?? []), column]);
  return keys;
}

for (const dialect of dialects) {
  describe(`migrations on ${dialect}`, () => {
    test("an empty database becomes exactly the declared tables", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const built = (await store.db.introspection.getTables()).filter(({ name }) => !bookkeeping.includes(name));
      const actual = Object.fromEntries(
        built.map(({ name, columns }) => [
          name,
          columns
            .map((column) => `${column.name} ${column.dataType.toLowerCase()}${column.isNullable ? "?" : ""}`)
            .sort(),
        ]),
      );
      const expected = Object.fromEntries(
        Object.entries(tables).map(([name, columns]) => [
          name,
          Object.entries(columns)
            .map(([column, kind]: [string, ColumnKind]) => {
              const base = kind.replace("?", "") as "text" | "integer" | "bytes";
              return `${column} ${typeNames[dialect][base].toLowerCase()}${kind.endsWith("?") ? "?" : ""}`;
            })
            .sort(),
        ]),
      );
      assert.deepEqual(actual, expected);
    });

    test("every primary key begins with the organization, except where there is none", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const keys = await primaryKeys(store);
      assert.deepEqual([...keys.keys()].sort(), [...Object.keys(tables), ...bookkeeping].sort());
      const without = [...keys].filter(([, columns]) => columns[0] !== "organization_id").map(([table]) => table);
      assert.deepEqual(without.sort(), ["deployment", "log_entries", "log_tiles", "logs", ...bookkeeping].sort());
    });

    test("opening twice migrates once, and a database from a newer release is refused untouched", async (t) => {
      const source = await testSource(t, dialect);
      if (source === undefined) return;
      await closeStore(await openStore(source));
      const store = await openStore(source);
      const applied = () => sql<{ name: string }>`select name from migrations order by name`.execute(store.db);
      assert.deepEqual(
        (await applied()).rows.map(({ name }) => name),
        Object.keys(migrations),
      );
      await migrate(store.db, dialect, {
        ...migrations,
        "9999_from_the_future": (db) => db.schema.createTable("future").addColumn("id", "integer").execute(),
      });
      await closeStore(store);
      await assert.rejects(openStore(source), {
        code: "failed_precondition",
        message: "the database was written by a newer release: it has migration `9999_from_the_future`",
      });
      // The refusal let go of the file too.
      await assert.rejects(openStore(source), { message: /newer release/ });
    });

    test("keys that came with their organization are proven in a database of before, and others are not", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const organizationId = randomUUID();
      const [born, added] = [newApiKey(), newApiKey()];
      const keys = [born, { ...added, createdAtMs: born.createdAtMs + 1 }];
      await commitGroup(store, [birth(organizationId, [newUser({ apiKeys: keys })])], []);
      // As the step before left it.
      const { "0006_proven_keys": step } = migrations;
      await sql`drop index credentials_across_by_age`.execute(store.db);
      await store.db.schema.alterTable("credentials").dropColumn("proven").execute();
      await step?.(store.db as unknown as Kysely<unknown>, columnTypes(dialect));
      const rows = await store.db.selectFrom("credentials").select(["credential_id", "proven"]).execute();
      const byId = Object.fromEntries(rows.map(({ credential_id, proven }) => [credential_id, proven]));
      assert.deepEqual(byId, { [born.apiKeyId]: 1, [added.apiKeyId]: 0 });
    });

    test("a step that fails leaves the database as it was", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const before = (await store.db.introspection.getTables()).map(({ name }) => name);
      const failing = async (db: Parameters<NonNullable<(typeof migrations)[string]>>[0]) => {
        await db.schema.createTable("half").addColumn("id", "integer").execute();
        throw new Error("no further");
      };
      await assert.rejects(migrate(store.db, dialect, { ...migrations, "9999_failing": failing }), /no further/);
      assert.deepEqual(
        (await store.db.introspection.getTables()).map(({ name }) => name),
        before,
      );
    });
  });
}

test("two stores that open an empty postgres together migrate it once", async (t) => {
  const source = await testSource(t, "postgres");
  if (source === undefined) return;
  const stores = await Promise.all([openStore(source), openStore(source), openStore(source)]);
  await Promise.all(stores.map(closeStore));
});

test("SQLite tables check types, and only wide ones have hidden row ids", async (t) => {
  const store = await openTestStore(t, "sqlite");
  assert(store?.dialect === "sqlite");
  const rows = store.sqlite.database.prepare("pragma table_list").all() as {
    name: string;
    strict: number;
    wr: number;
  }[];
  for (const { name, strict, wr } of rows) {
    const isWide = [
      "activities",
      "app_proofs",
      "boot_proofs",
      "decision_contexts",
      "outbox",
      "sealed_bodies",
      "sealed_disclosures",
      "log_entries",
      "log_tiles",
      "loaded_files",
    ].includes(name);
    if (Object.hasOwn(tables, name)) assert.deepEqual({ name, strict, wr }, { name, strict: 1, wr: isWide ? 0 : 1 });
  }
});

test("PostgreSQL stores pages as they are, and compresses what is written once", async (t) => {
  const store = await openTestStore(t, "postgres");
  if (store === undefined) return;
  const { rows } = await sql<{ place: string; storage: string }>`
    select c.relname || '.' || a.attname as place, a.attstorage as storage
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where (c.relname, a.attname) in (('pages', 'content'), ('activities', 'body')) order by place`.execute(store.db);
  assert.deepEqual(rows, [
    { place: "activities.body", storage: "x" },
    { place: "pages.content", storage: "e" },
  ]);
});
