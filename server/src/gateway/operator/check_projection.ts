/** The tables whose rows an organization's pages list: users, credentials, tags, policies, interfaces of contracts. */
import { withoutMac } from "../../state/authenticity.ts";
import { decodeRecord } from "../../state/records.ts";
import { toInterfaceRow } from "../../store/policy_rows.ts";
import { differingColumns, type ListedTable, listedRows, listedTables } from "../../store/projection.ts";
import { deleteRow, type Inside, insertRow, keyOf, rowsOf, updateRow } from "../../store/projection_rows.ts";
import type { Tables } from "../../store/tables.ts";
import type { Findings } from "./check_findings.ts";
import type { CheckedState } from "./check_state.ts";
import type { Vouching } from "./vouching.ts";

const rowsAtOnce = 500;

export async function checkListed(
  tx: Inside,
  { organizationId, pages }: CheckedState,
  findings: Findings,
): Promise<void> {
  const expected = listedRows(organizationId, pages);
  for (const table of listedTables) await checkTable(tx, table, organizationId, expected[table], findings);
}

/** What must go, goes before anything is written: a key may pass from one row to another, and has one place at a time. */
async function checkTable<T extends ListedTable>(
  tx: Inside,
  table: T,
  organizationId: string,
  rows: readonly Tables[T][],
  findings: Findings,
): Promise<void> {
  const nameOf = (row: Tables[T]) => `${table} ${keyOf(table, row).join(" ")}`;
  const missing = new Map(rows.map((row) => [nameOf(row), row]));
  const rebuilt: Tables[T][] = [];
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
  for (const own of rebuilt) await insertRow(tx, table, own);
}

/** Texts are long. */
const interfacesAtOnce = 10;

/** The text of an interface lies in its row alone, with a MAC of its own. */
export async function checkInterfaces(
  tx: Inside,
  vouching: Vouching,
  { organizationId, pages }: CheckedState,
  findings: Findings,
): Promise<void> {
  const missing = new Map(pages.contractInterfaces);
  for await (const rows of rowsOf(tx, "contract_interfaces", organizationId, interfacesAtOnce)) {
    const verdicts = await vouching.records(rows.map(({ record }) => ({ content: record, sealed: new Uint8Array() })));
    for (const [index, row] of rows.entries()) {
      const name = `contract_interfaces ${row.interface_id}`;
      const listed = missing.get(row.interface_id);
      missing.delete(row.interface_id);
      if (listed === undefined) {
        if (findings.differs(`${name}: it is not in the state`)) await deleteRow(tx, "contract_interfaces", row);
        continue;
      }
      if (verdicts[index]?.own !== true || !isTextOf(row, listed.length))
        findings.lost(`${name}: its text was changed`);
      const own = toInterfaceRow(organizationId, listed, row.record);
      const columns = differingColumns(own, row);
      if (columns.length > 0 && findings.differs(`${name}: ${columns.join(", ")} not as in the state`)) {
        await updateRow(tx, "contract_interfaces", row, own);
      }
    }
  }
  for (const id of missing.keys()) findings.lost(`contract_interfaces ${id}: its row and its text are missing`);
}

function isTextOf({ organization_id, interface_id, record }: Tables["contract_interfaces"], length: number): boolean {
  const content = decodeRecord(withoutMac(record));
  return (
    content.kind === "contractInterface" &&
    content.organizationId === organization_id &&
    content.interfaceId === interface_id &&
    Buffer.byteLength(content.text) === length
  );
}
