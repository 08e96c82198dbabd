/**
 * Everything a writer to the database can do to one row, one column, one table or one organization. The lists are made from the
 * declared tables: what is done to a column follows from its kind.
 */
import { rowKeys } from "@keystead/server/store/projection.ts";
import {
  type ColumnKind,
  type OrganizationTable,
  organizationTables,
  type TableName,
  tables,
} from "@keystead/server/store/tables.ts";
import type { Random } from "../../../core/test/seeded_random.ts";
import {
  byOrganization,
  type Damage,
  type Found,
  found,
  hugeLength,
  type Patient,
  partlyFound,
  rowFound,
} from "./damage.ts";
import { madeUpDamages } from "./made_up_damages.ts";
import { isSameTable, type RawDatabase, type Row, rollBack, tableNames, type Value } from "./raw_database.ts";

type Sort = "text" | "integer" | "bytes";
const sortOf = (kind: ColumnKind) => kind.replace("?", "") as Sort;

const flips: Record<Sort, (value: Value, random: Random) => Value> = {
  text: (value, random) => {
    const text = String(value);
    if (text === "") return "x";
    const at = random.below(text.length);
    const other = text[at] === "a" ? "b" : "a";
    return text.slice(0, at) + other + text.slice(at + 1);
  },
  integer: (value, random) => Number(value) + random.pick([-1, 1, 1_000]),
  bytes: (value, random) => {
    const bytes = Uint8Array.from((value as Uint8Array) ?? []);
    if (bytes.length === 0) return Uint8Array.of(1);
    const at = random.below(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    return bytes;
  },
};

const empties: Record<Sort, Value> = { text: "", integer: 0, bytes: new Uint8Array() };
const extremes: Record<Sort, Value> = {
  text: "\u{1f480}".repeat(20_000),
  integer: 2n ** 62n,
  bytes: new Uint8Array(hugeLength),
};

type Change = (
  table: { rows: readonly Row[]; old: readonly Row[]; theirs: readonly Row[]; keys: readonly string[] },
  column: string,
  kind: ColumnKind,
  random: Random,
) => { row: Row; value: Value }[];

const same = (a: Value | undefined, b: Value | undefined) =>
  a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : a === b;

/** What becomes of a column. Nothing, where no row gives occasion for it. */
const changes = {
  "is bent": ({ rows }, column, kind, random) => {
    const candidates = rows.filter((row) => row[column] !== null);
    return candidates.length === 0
      ? []
      : [random.pick(candidates)].map((row) => ({ row, value: flips[sortOf(kind)](row[column] ?? null, random) }));
  },
  "is emptied": ({ rows }, column, kind, random) => {
    const value = kind.endsWith("?") ? null : empties[sortOf(kind)];
    const candidates = rows.filter((row) => !same(row[column], value));
    return candidates.length === 0 ? [] : [{ row: random.pick(candidates), value }];
  },
  "is beyond all measure": ({ rows }, _column, kind, random) =>
    rows.length === 0 ? [] : [{ row: random.pick(rows), value: extremes[sortOf(kind)] }],
  "takes the place of another row's": ({ rows }, column, _kind, random) => {
    const one = rows.length < 2 ? undefined : random.pick(rows);
    const others = rows.filter((row) => one !== undefined && !same(row[column], one[column]));
    if (one === undefined || others.length === 0) return [];
    const other = random.pick(others);
    return [
      { row: one, value: other[column] ?? null },
      { row: other, value: one[column] ?? null },
    ];
  },
  "is another organization's": ({ rows, theirs }, column, _kind, random) => {
    if (rows.length === 0 || theirs.length === 0) return [];
    const row = random.pick(rows);
    const others = theirs.filter((each) => !same(each[column], row[column]));
    return others.length === 0 ? [] : [{ row, value: random.pick(others)[column] ?? null }];
  },
  "is what it was before": ({ rows, old, keys }, column, _kind, random) => {
    const isSameRow = (a: Row, b: Row) => keys.every((key) => same(a[key], b[key]));
    const pairs = rows.flatMap((row) =>
      old
        .filter((each) => isSameRow(row, each) && !same(row[column], each[column]))
        .map((each) => ({ row, value: each[column] ?? null })),
    );
    return pairs.length === 0 ? [] : [random.pick(pairs)];
  },
} as const satisfies Record<string, Change>;

function columnDamages(table: TableName): Damage[] {
  return Object.entries(tables[table]).flatMap(([column, kind]) =>
    Object.entries(changes).map(([what, change]) => ({
      name: `${table}.${column} ${what}`,
      ...{ table, column, what },
      found:
        (what === "is bent" ? partlyFound[`${table}.${column}`] : undefined) ??
        (found[table] as Record<string, Found>)[column] ??
        byOrganization,
      async apply(raw: RawDatabase, patient: Patient, donor: Patient, random: Random) {
        const rows = await raw.rows(table, patient.targetOrganization.organizationId);
        const theirs = await raw.rows(table, donor.targetOrganization.organizationId);
        const old = patient.before.get(table) ?? [];
        const made = change({ rows, theirs, old, keys: rowKeys[table] }, column, kind, random);
        let applied = false;
        for (const { row, value } of made) applied = (await raw.update(table, row, column, value)) || applied;
        return applied;
      },
    })),
  );
}

function rowDamages(table: OrganizationTable): Damage[] {
  const { removed = byOrganization, added = byOrganization, before: rolledBack } = rowFound[table] ?? {};
  return [
    {
      name: `${table}: a row is deleted`,
      table,
      what: "a row is deleted",
      found: removed,
      async apply(raw, { targetOrganization }, _donor, random) {
        const rows = await raw.rows(table, targetOrganization.organizationId);
        if (rows.length === 0) return false;
        await raw.remove(table, random.pick(rows));
        return true;
      },
    },
    {
      name: `${table}: a row is doubled under another key`,
      table,
      what: "a row is doubled under another key",
      found: added,
      async apply(raw, { targetOrganization }, _donor, random) {
        const rows = await raw.rows(table, targetOrganization.organizationId);
        const column = rowKeys[table][0];
        if (rows.length === 0 || column === undefined) return false;
        const row = random.pick(rows);
        const kind = (tables[table] as Record<string, ColumnKind>)[column] ?? "text";
        return raw.insert(table, { ...row, [column]: flips[sortOf(kind)](row[column] ?? null, random) });
      },
    },
    {
      name: `${table}: a row of another organization is put in`,
      table,
      what: "a row of another organization is put in",
      found: added,
      async apply(raw, { targetOrganization }, donor, random) {
        const rows = await raw.rows(table, donor.targetOrganization.organizationId);
        if (rows.length === 0) return false;
        return raw.insert(table, { ...random.pick(rows), organization_id: targetOrganization.organizationId });
      },
    },
    {
      name: `${table}: all rows are what they were before`,
      table,
      what: "all rows are what they were before",
      found: rolledBack ?? (typeof removed === "string" ? "check-database" : removed),
      async apply(raw, { targetOrganization, before }) {
        const rows = await raw.rows(table, targetOrganization.organizationId);
        if (isSameTable(table, rows, before.get(table) ?? [])) return false;
        await rollBack(raw, targetOrganization.organizationId, before, [table]);
        return true;
      },
    },
  ];
}

/** What is done to an organization as a whole. They count for the table that says where it stands. */
const organizationDamages: Damage[] = [
  {
    name: "the whole organization is what it was before",
    table: "organizations",
    what: "the whole organization is what it was before",
    found: "check-database",
    async apply(raw, { targetOrganization, before }) {
      await rollBack(raw, targetOrganization.organizationId, before);
      return true;
    },
  },
  {
    name: "the whole organization is what it was before, but for its log",
    table: "organizations",
    what: "the whole organization is what it was before, but for its log",
    found: "check-database",
    async apply(raw, { targetOrganization, before }) {
      const tablesBut = tableNames.filter((table) => !["leaves", "activities", "votes"].includes(table));
      await rollBack(raw, targetOrganization.organizationId, before, tablesBut);
      return true;
    },
  },
  {
    name: "the whole organization is deleted",
    table: "organizations",
    what: "the whole organization is deleted",
    found: "check-database",
    async apply(raw, { targetOrganization }) {
      await rollBack(raw, targetOrganization.organizationId, new Map());
      return true;
    },
  },
];

/** Rows of these are the first organization's alone, and the damages are done to others. */
const ofFirstOrganization: readonly TableName[] = ["boot_proofs", "loaded_files"];

/** Tables with rows of organizations; what is done to the deployment's own row is a test of its own. */
export const damagedTables: readonly OrganizationTable[] = organizationTables.filter(
  (table) => !ofFirstOrganization.includes(table),
);

export const damages: readonly Damage[] = [
  ...damagedTables.flatMap((table) => [...columnDamages(table), ...rowDamages(table)]),
  ...madeUpDamages,
  ...organizationDamages,
];
