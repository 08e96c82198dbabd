/**
 * A group commit in PostgreSQL: one statement, hence one round trip, and row locks held no longer than it runs.
 * Its parts write only for organizations that the part `committed` lists; parts that a group does not need are left out.
 */
import pg from "pg";
import type { KeyRecordKind } from "../state/records.ts";
import type { ReleasedLeaf } from "./commit.ts";
import { type OrganizationPlan, organizationRow, projectionRows } from "./commit_plan.ts";
import { type KeyRowChange, keyTables, privateKeyAddressRows, privateKeyTagRow } from "./key_rows.ts";
import type { PostgresStore } from "./store.ts";
import { type ColumnKind, type TableName, type Tables, tables } from "./tables.ts";
import { columnsOf, onConflict } from "./upserts.ts";

/** The ids of the organizations whose items were committed. */
export async function write(
  { pool }: PostgresStore,
  plans: readonly OrganizationPlan[],
  released: readonly ReleasedLeaf[],
): Promise<Set<string>> {
  const statement = toStatement(plans, released);
  analyzeWhileGrowing(pool, plans.length);
  try {
    return await repeatedly(async () => idsOf(await pool.query(statement)));
  } catch (error) {
    if (!isViolation(error)) throw error;
  }
  return repeatedly(() => writeApart(pool, plans, released));
}

const written = new WeakMap<pg.Pool, { count: number; next: number }>();

/**
 * A new database has no statistics, and plans made for empty tables read far too many rows of full ones. Autovacuum looks
 * once a minute; until it has something to go by, we ask for statistics ourselves, ever more seldom.
 */
function analyzeWhileGrowing(pool: pg.Pool, organizations: number): void {
  const growth = written.get(pool) ?? { count: 0, next: 100 };
  growth.count += organizations;
  written.set(pool, growth);
  if (growth.count < growth.next) return;
  growth.next *= 10;
  pool.query("analyze").catch(() => undefined);
}

/** All in one transaction, each organization on its own savepoint, so that one that violates takes only itself back. */
async function writeApart(
  pool: pg.Pool,
  plans: readonly OrganizationPlan[],
  released: readonly ReleasedLeaf[],
): Promise<Set<string>> {
  const client = await pool.connect();
  let broken = true;
  try {
    const done = new Set<string>();
    await client.query("begin");
    if (released.length > 0) await client.query(toStatement([], released));
    for (const plan of plans) {
      await client.query("savepoint organization");
      try {
        for (const id of idsOf(await client.query(toStatement([plan], [])))) done.add(id);
      } catch (error) {
        if (!isViolation(error)) throw error;
        await client.query("rollback to savepoint organization");
      }
    }
    await client.query("commit");
    broken = false;
    return done;
  } finally {
    // A connection whose transaction did not end well is closed, and the server takes the transaction back.
    client.release(broken);
  }
}

function idsOf({ rows }: pg.QueryResult): Set<string> {
  return new Set(rows.map((row: { organization_id: string }) => row.organization_id));
}

function isViolation(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  if (error.code === "23505") return true;
  const column = `${error.table}.${error.column}`;
  return error.code === "23502" && (column === "activities.status" || column === "idempotency_keys.request");
}

/** Deadlocks and serialization failures (of stricter engines) took everything back: the same statement may run again. */
async function repeatedly<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const { code } = error as { code?: string };
      if (attempt === 10 || (code !== "40001" && code !== "40P01")) throw error;
    }
  }
}

const arrayTypes: Record<ColumnKind, string> = {
  text: "text[]",
  "text?": "text[]",
  integer: "bigint[]",
  "integer?": "bigint[]",
  bytes: "bytea[]",
  "bytes?": "bytea[]",
};

type Part = { name: string; text: string };

const statementNames = new Map<string, string>();

/** Statements are prepared under a name per combination of parts; PostgreSQL cuts names after 63 bytes. */
function nameOf(parts: readonly Part[]): string {
  const key = parts.map(({ name }) => name).join();
  let name = statementNames.get(key);
  if (name === undefined) {
    name = `commit_${statementNames.size}`;
    statementNames.set(key, name);
  }
  return name;
}

/** Collects the parts of one statement and the arrays they unnest. */
function statementBuilder() {
  const parts: Part[] = [];
  const values: unknown[] = [];
  /** `unnest(…) as name(columns…)`: the rows as a table. */
  const unnest = (
    name: string,
    columns: Readonly<Record<string, ColumnKind>>,
    rows: readonly Readonly<Record<string, unknown>>[],
  ) => {
    const names = Object.keys(columns);
    const arrays = names.map((column) => {
      values.push(rows.map((row) => row[column]));
      return `$${values.length}::${arrayTypes[columns[column] as ColumnKind]}`;
    });
    return `unnest(${arrays.join(", ")}) as ${name}(${names.join(", ")})`;
  };
  return {
    unnest,
    part(name: string, text: string) {
      parts.push({ name, text });
    },
    /** Rows for a table, of those organizations that commit. `after` is a part to wait for. */
    insert<T extends TableName>(table: T, rows: readonly Tables[T][], after?: string) {
      if (rows.length === 0) return;
      const columns = columnsOf(table).join(", ");
      const wait = after === undefined ? "" : ` and (select count(*) from ${after}) >= 0`;
      parts.push({
        name: `insert_${table}`,
        text: `insert into ${table} (${columns}) select ${columns} from ${unnest("input", tables[table], rows)}
          where organization_id in (select organization_id from committed)${wait} ${onConflict[table] ?? ""}`,
      });
    },
    build(): { name: string; text: string; values: unknown[] } {
      return {
        name: nameOf(parts),
        text: `with ${parts.map(({ name, text }) => `${name} as (${text})`).join(",\n")}
          select organization_id from committed`,
        values,
      };
    },
  };
}

const headColumns = {
  organization_id: "text",
  expected_version: "integer",
  expected_header: "bytes?",
  version: "integer?",
  header: "bytes?",
  directory: "bytes?",
  organization_name: "text?",
  updated_at_ms: "integer?",
  deleted_at_ms: "integer?",
} as const;

const userColumns = { organization_id: "text", user_id: "text" } as const;
const userTagColumns = { organization_id: "text", tag_id: "text" } as const;
const credentialColumns = { organization_id: "text", credential_id: "text" } as const;
const releasedColumns = { organization_id: "text", boot: "text", number: "integer" } as const;
const openedColumns = { organization_id: "text", activity_id: "text", result: "text" } as const;

function toStatement(groups: readonly OrganizationPlan[], released: readonly ReleasedLeaf[]) {
  const statement = statementBuilder();
  addHeads(statement, groups);
  const plans = groups.flatMap((plan) => [plan, ...plan.births]);
  statement.insert(
    "pages",
    plans.flatMap(({ pages }) => [...pages.values()]),
  );
  statement.insert(
    "leaves",
    plans.flatMap(({ leaves }) => leaves),
  );
  statement.insert(
    "unreleased",
    plans.flatMap(({ leaves }) => leaves),
  );
  statement.insert(
    "activities",
    plans.flatMap(({ activities }) => [...activities.values()]),
  );
  statement.insert(
    "votes",
    plans.flatMap(({ votes }) => votes),
  );
  statement.insert(
    "idempotency_keys",
    plans.flatMap(({ idempotencyKeys }) => idempotencyKeys),
  );
  addProjection(statement, plans);
  addKeys(statement, plans);
  addReleased(statement, released);
  return statement.build();
}

type Builder = ReturnType<typeof statementBuilder>;

/**
 * Locks, compares and moves the versions. Rows are locked in the order of ids, in one pass and with one strength, so
 * that groups of two gateways never wait for each other in a circle; items that only need their version to stand share it.
 */
function addHeads(statement: Builder, plans: readonly OrganizationPlan[]): void {
  const committed = ["select null::text as organization_id where false"];
  const standing = plans.filter(({ birth }) => birth === undefined);
  if (standing.length > 0) {
    const moves = standing.some(({ head }) => head !== undefined);
    const rows = standing.map(({ organizationId, expectedVersion, expectedHeader, version, head, settings }) => ({
      organization_id: organizationId,
      expected_version: expectedVersion,
      expected_header: expectedHeader,
      version: head && version,
      header: head?.header,
      directory: head?.directory,
      organization_name: settings?.organizationName,
      updated_at_ms: settings?.updatedAtMs,
      deleted_at_ms: settings?.deleted === true ? settings.updatedAtMs : undefined,
    }));
    statement.part("heads", `select * from ${statement.unnest("heads", headColumns, rows)}`);
    statement.part(
      moves ? "locked" : "locked_shared",
      `select organizations.organization_id from organizations join heads using (organization_id)
        where organizations.version = heads.expected_version
          and organizations.header = coalesce(heads.expected_header, organizations.header)
        order by organizations.organization_id for ${moves ? "no key update" : "share"} of organizations`,
    );
    if (moves) {
      statement.part(
        "moved",
        `update organizations set version = heads.version, header = heads.header, directory = heads.directory,
          organization_name = coalesce(heads.organization_name, organizations.organization_name),
          updated_at_ms = coalesce(heads.updated_at_ms, organizations.updated_at_ms),
          deleted_at_ms = coalesce(heads.deleted_at_ms, organizations.deleted_at_ms)
          from heads join locked using (organization_id)
          where organizations.organization_id = heads.organization_id
            and organizations.version = heads.expected_version and heads.version is not null
          returning organizations.organization_id`,
      );
      committed.push("select organization_id from moved");
      committed.push("select organization_id from locked join heads using (organization_id) where version is null");
    } else committed.push("select organization_id from locked_shared");
  }
  const born = plans.flatMap((plan) => [plan, ...plan.births].flatMap((each) => bornRow(each, plan)));
  if (born.length > 0) {
    statement.part("stood", committed.join(" union all "));
    const columns = columnsOf("organizations").join(", ");
    const rows = statement.unnest("input", bornColumns, born);
    statement.part(
      "born",
      `insert into organizations (${columns}) select ${columns} from ${rows}
        where requires is null or requires in (select organization_id from stood) returning organization_id`,
    );
    committed.push("select organization_id from born");
  }
  const keyrings = plans.flatMap(({ birth }) =>
    birth?.keyring === undefined ? [] : { id: 1, keyring: birth.keyring },
  );
  if (keyrings.length > 0) {
    const rows = statement.unnest("input", tables.deployment, keyrings);
    statement.part("keyring", `insert into deployment (id, keyring) select id, keyring from ${rows}`);
  }
  statement.part("committed", committed.join(" union all "));
}

const bornColumns = { ...tables.organizations, requires: "text?" } as const;

/** An organization that is born by another's item comes into the world only if that item commits. */
function bornRow(plan: OrganizationPlan, by: OrganizationPlan) {
  if (plan.birth === undefined) return [];
  return [
    { ...organizationRow({ ...plan, birth: plan.birth }), requires: plan === by ? undefined : by.organizationId },
  ];
}

/** Credentials are deleted before any is written, so that a key can move from one to another. */
function addProjection(statement: Builder, plans: readonly OrganizationPlan[]): void {
  const touched = plans.flatMap(({ organizationId, users }) =>
    [...users.keys()].map((userId) => ({ organization_id: organizationId, user_id: userId })),
  );
  const projections = plans.map((plan) => ({ organization_id: plan.organizationId, ...projectionRows(plan) }));
  const credentials = projections.flatMap((rows) => rows.credentials);
  if (touched.length > 0) {
    statement.part(
      "delete_credentials",
      `delete from credentials using ${statement.unnest("touched", userColumns, touched)}
        where credentials.organization_id = touched.organization_id and credentials.user_id = touched.user_id
          and touched.organization_id in (select organization_id from committed)
          and not exists (select from ${statement.unnest("kept", credentialColumns, credentials)}
            where kept.organization_id = credentials.organization_id and kept.credential_id = credentials.credential_id)
        returning 1`,
    );
  }
  const remove = (table: "users" | "user_tags", key: string, columns: Record<string, ColumnKind>, ids: object[]) => {
    if (ids.length === 0) return;
    statement.part(
      `delete_${table}`,
      `delete from ${table} using ${statement.unnest("gone", columns, ids as Record<string, unknown>[])}
        where ${table}.organization_id = gone.organization_id and ${table}.${key} = gone.${key}
          and gone.organization_id in (select organization_id from committed)`,
    );
  };
  remove(
    "users",
    "user_id",
    userColumns,
    projections.flatMap(({ organization_id, removedUsers }) =>
      removedUsers.map((user_id) => ({ organization_id, user_id })),
    ),
  );
  remove(
    "user_tags",
    "tag_id",
    userTagColumns,
    projections.flatMap(({ organization_id, removedUserTags }) =>
      removedUserTags.map((tag_id) => ({ organization_id, tag_id })),
    ),
  );
  statement.insert(
    "users",
    projections.flatMap((rows) => rows.users),
  );
  statement.insert("credentials", credentials, "delete_credentials");
  statement.insert(
    "user_tags",
    projections.flatMap((rows) => rows.userTags),
  );
}

/**
 * Wallets, accounts and private keys, in no certain order: where a name passes from one to another, this may violate its
 * uniqueness, and the group is written in smaller parts.
 */
function addKeys(statement: Builder, plans: readonly OrganizationPlan[]): void {
  const changed = plans.flatMap(({ organizationId, keys }) =>
    [...keys.changed.values()].map((change) => ({ organization_id: organizationId, ...change })),
  );
  const kinds = Object.keys(keyTables) as KeyRecordKind[];
  for (const kind of kinds) {
    const { table, id } = keyTables[kind];
    const own = changed.filter((change) => change.kind === kind);
    const gone = own.filter(({ deleted }) => deleted);
    deleteKeys(statement, table, id, gone);
    if (kind === "wallet") deleteKeys(statement, "wallet_accounts", "wallet_id", gone, "of_wallets");
    if (kind === "privateKey") deleteKeys(statement, "private_key_addresses", "private_key_id", gone);
    changeKeys(
      statement,
      kind,
      own.filter(({ deleted }) => !deleted),
    );
  }
  const all = plans.map(({ keys }) => keys);
  statement.insert(
    "wallets",
    all.flatMap(({ wallets }) => [...wallets.values()]),
  );
  statement.insert(
    "wallet_accounts",
    all.flatMap(({ accounts }) => [...accounts.values()]),
  );
  const privateKeys = all.flatMap((keys) => [...keys.privateKeys.values()]);
  statement.insert("private_keys", privateKeys);
  statement.insert("private_key_addresses", privateKeys.flatMap(privateKeyAddressRows));
  const tags = plans.flatMap(({ organizationId, keys }) =>
    [...keys.tags].map(([tagId, tag]) => ({ organization_id: organizationId, id: tagId, tag })),
  );
  deleteKeys(
    statement,
    "private_key_tags",
    "tag_id",
    tags.filter(({ tag }) => tag === undefined),
  );
  statement.insert(
    "private_key_tags",
    tags.flatMap(({ organization_id, tag }) => (tag === undefined ? [] : privateKeyTagRow(organization_id, tag))),
  );
}

const keyColumns = { organization_id: "text", id: "text" } as const;

function deleteKeys(
  statement: Builder,
  table: TableName,
  column: string,
  gone: readonly { organization_id: string; id: string }[],
  suffix = "",
): void {
  if (gone.length === 0) return;
  statement.part(
    `delete_${table}${suffix}`,
    `delete from ${table} using ${statement.unnest("gone", keyColumns, gone)}
      where ${table}.organization_id = gone.organization_id and ${table}.${column} = gone.id
        and gone.organization_id in (select organization_id from committed)`,
  );
}

function changeKeys(
  statement: Builder,
  kind: KeyRecordKind,
  changed: readonly (KeyRowChange & { organization_id: string })[],
): void {
  if (changed.length === 0) return;
  const { table, id } = keyTables[kind];
  const columns: Record<string, ColumnKind> = { name_key: "text?", updated_at_ms: "integer" };
  for (const change of changed)
    for (const column of Object.keys(change.columns)) columns[column] ??= kindOf(table, column);
  const rows = changed.map(({ organization_id, id: key, columns }) => ({ organization_id, id: key, ...columns }));
  const assignments = Object.keys(columns).map(
    (column) => `${column} = coalesce(changed.${column}, ${table}.${column})`,
  );
  statement.part(
    `change_${table}_${Object.keys(columns).join("_")}`,
    `update ${table} set ${assignments.join(", ")}
      from ${statement.unnest("changed", { ...keyColumns, ...columns }, rows)}
      where ${table}.organization_id = changed.organization_id and ${table}.${id} = changed.id
        and changed.organization_id in (select organization_id from committed)`,
  );
}

/** As the table declares it, or null where a row says nothing about it. */
function kindOf(table: TableName, column: string): ColumnKind {
  const kind = (tables[table] as Readonly<Record<string, ColumnKind>>)[column] ?? "text";
  return kind.endsWith("?") ? kind : (`${kind}?` as ColumnKind);
}

function addReleased(statement: Builder, released: readonly ReleasedLeaf[]): void {
  if (released.length === 0) return;
  const leaves = released.map(({ organizationId, boot, number }) => ({
    organization_id: organizationId,
    boot,
    number,
  }));
  statement.part(
    "release",
    `delete from unreleased using ${statement.unnest("done", releasedColumns, leaves)}
      where unreleased.organization_id = done.organization_id and unreleased.boot = done.boot
        and unreleased.number = done.number`,
  );
  const opened = released.flatMap(({ organizationId, activityId, result }) =>
    activityId === undefined || result === undefined
      ? []
      : { organization_id: organizationId, activity_id: activityId, result },
  );
  if (opened.length === 0) return;
  statement.part(
    "open",
    `update activities set result = opened.result from ${statement.unnest("opened", openedColumns, opened)}
      where activities.organization_id = opened.organization_id and activities.activity_id = opened.activity_id
        and activities.result is null`,
  );
}
