/** One statement of PostgreSQL made of parts (`with … as (…)`), whose rows come as arrays: however many there are, its text stays. */
import { bytesArray } from "./postgres_bytes.ts";
import { type ColumnKind, type TableName, type Tables, tables } from "./tables.ts";
import { columnsOf, onConflict } from "./upserts.ts";

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
export function statementBuilder() {
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
      const type = arrayTypes[columns[column] as ColumnKind];
      const all = rows.map((row) => row[column]);
      values.push(type === "bytea[]" ? bytesArray(all as (Uint8Array | null)[]) : all);
      return `$${values.length}::${type}`;
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
    /** Rows for a table, whatever of the group commits. */
    insertAlways<T extends TableName>(table: T, rows: readonly Tables[T][]) {
      if (rows.length === 0) return;
      const columns = columnsOf(table).join(", ");
      parts.push({
        name: `place_${table}`,
        text: `insert into ${table} (${columns}) select ${columns} from ${unnest("input", tables[table], rows)}
          ${onConflict[table] ?? ""}`,
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

export type StatementBuilder = ReturnType<typeof statementBuilder>;

/** What a row is named by. */
export const rowKeyColumns = { organization_id: "text", id: "text" } as const;

/** Deletes rows of organizations whose change is committed. */
export function deleteRows(
  statement: StatementBuilder,
  table: TableName,
  column: string,
  gone: readonly { organization_id: string; id: string }[],
  suffix = "",
): void {
  if (gone.length === 0) return;
  statement.part(
    `delete_${table}${suffix}`,
    `delete from ${table} using ${statement.unnest("gone", rowKeyColumns, gone)}
      where ${table}.organization_id = gone.organization_id and ${table}.${column} = gone.id
        and gone.organization_id in (select organization_id from committed)`,
  );
}
