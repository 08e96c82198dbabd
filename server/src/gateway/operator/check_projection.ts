/** The tables that show entities: every row follows from the pages, or from the pages and a record of its own. */
import { withoutMac } from "../../state/authenticity.ts";
import { entitiesIn } from "../../state/pages.ts";
import { decodeRecord } from "../../state/records.ts";
import { type EntityRow, rowsOfPages, toRows } from "../../store/entity_rows.ts";
import { type EntityTableName, hasRecord, type TabledKind, tabledKinds, tableOf } from "../../store/entity_tables.ts";
import { differingColumns } from "../../store/projection.ts";
import { deleteRow, type Inside, insertRow, keyOf, rowsOf, updateRow } from "../../store/projection_rows.ts";
import type { Findings } from "./check_findings.ts";
import type { CheckedState } from "./check_state.ts";
import type { Vouching } from "./vouching.ts";

const rowsAtOnce = 500;

export async function checkListed(
  tx: Inside,
  { organizationId, pages }: CheckedState,
  findings: Findings,
): Promise<void> {
  for (const [table, rows] of rowsOfPages(organizationId, pages)) {
    await checkTable(tx, table, organizationId, rows, findings);
  }
}

/** What must go, goes before anything is written: a key may pass from one row to another, and has one place at a time. */
async function checkTable(
  tx: Inside,
  table: EntityTableName,
  organizationId: string,
  rows: readonly EntityRow[],
  findings: Findings,
): Promise<void> {
  const nameOf = (row: object) => `${table} ${keyOf(table, row as never).join(" ")}`;
  const missing = new Map(rows.map((row) => [nameOf(row), row]));
  const rebuilt: EntityRow[] = [];
  for await (const stored of rowsOf(tx, table, organizationId, rowsAtOnce)) {
    for (const row of stored) {
      const name = nameOf(row);
      const own = missing.get(name);
      missing.delete(name);
      const columns = own && differingColumns(own, row);
      if (columns?.length === 0) continue;
      const what = columns === undefined ? "it is not in the state" : `${columns.join(", ")} not as in the state`;
      if (!findings.differs(`${name}: ${what}`)) continue;
      await deleteRow(tx, table, row);
      if (own !== undefined) rebuilt.push(own);
    }
  }
  for (const [name, own] of missing) if (findings.differs(`${name}: it is missing`)) rebuilt.push(own);
  for (const own of rebuilt) await insertRow(tx, table, own as never);
}

/** Texts are long. */
const textsAtOnce = 10;

export async function checkTexts(
  tx: Inside,
  vouching: Vouching,
  state: CheckedState,
  findings: Findings,
): Promise<void> {
  for (const kind of tabledKinds) if (hasRecord(kind)) await checkTextsOf(kind, tx, vouching, state, findings);
}

/** The text of an entity lies in its row alone, with a MAC of its own. */
async function checkTextsOf(
  kind: TabledKind,
  tx: Inside,
  vouching: Vouching,
  { organizationId, pages }: CheckedState,
  findings: Findings,
): Promise<void> {
  const { table, id, text } = tableOf(kind);
  const missing = new Map(entitiesIn(pages, kind));
  for await (const stored of rowsOf(tx, table, organizationId, textsAtOnce)) {
    const rows = stored as unknown as (EntityRow & { record: Uint8Array })[];
    const verdicts = await vouching.records(rows.map(({ record }) => ({ content: record, sealed: new Uint8Array() })));
    for (const [index, row] of rows.entries()) {
      const entityId = String(row[id]);
      const name = `${table} ${entityId}`;
      const listed = missing.get(entityId);
      missing.delete(entityId);
      if (listed === undefined) {
        if (findings.differs(`${name}: it is not in the state`)) await deleteRow(tx, table, row as never);
        continue;
      }
      const record = verdicts[index]?.own === true ? decodeRecord(withoutMac(row.record)) : undefined;
      if (record?.organizationId !== organizationId || text?.isOf(record, listed) !== true) {
        findings.lost(`${name}: its text was changed`);
      }
      const { row: own } = toRows(kind, organizationId, listed, row.record);
      const columns = differingColumns(own, row);
      if (columns.length > 0 && findings.differs(`${name}: ${columns.join(", ")} not as in the state`)) {
        await updateRow(tx, table, row as never, own as never);
      }
    }
  }
  for (const entityId of missing.keys()) findings.lost(`${table} ${entityId}: its row and its text are missing`);
}
