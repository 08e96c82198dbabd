/**
 * Leaves as rows, and what hangs on them: the columns beside each, the marks of those that wait for release, and the activities
 * they tell of. Whether any leaf is missing is `check-log`'s question.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import { isOperatorEvent } from "@keystead/core/log/leaf_words.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { ownHeaderOf } from "../../state/leaf_header.ts";
import { differingColumns } from "../../store/projection.ts";
import { deleteRow, type Inside, insertRow, rowsOf, rowsWith, updateRow } from "../../store/projection_rows.ts";
import type { Tables } from "../../store/tables.ts";
import { checkActivities } from "./check_activities.ts";
import { checkNamed } from "./check_disclosures.ts";
import { mayMakeRecords } from "./check_made.ts";
import type { LeafCheck, LeafInRow } from "./leaf_check.ts";

const leavesAtOnce = 200;

export async function checkLeaves(check: LeafCheck): Promise<void> {
  const { tx, organizationId, findings } = check;
  const loosened = new Set<string>();
  for await (const rows of rowsOf(tx, "leaves", organizationId, leavesAtOnce)) {
    const found = await ownLeaves(check, rows);
    for (const { leaf, row } of found) {
      if (await compareRow(check, leaf, row)) loosened.add(nameOf(row));
      await dropStrayRecords(check, leaf, row);
      if (leaf.event === "BOOTED") check.starts.set(toHex(leaf.outcome), row.boot);
    }
    await checkNamed(check, found);
    await checkActivities(check, found);
    for (const each of found) await checkMark(check, each);
  }
  if (loosened.size > 0) await settle(check, loosened);
  for await (const rows of rowsOf(tx, "unreleased", organizationId, leavesAtOnce)) {
    const leaves = await leavesNamed(tx, rows);
    for (const row of rows) {
      if (leaves.has(nameOf(row))) continue;
      if (findings.differs(`unreleased ${nameOf(row)}: there is no such leaf`)) await deleteRow(tx, "unreleased", row);
    }
  }
}

async function ownLeaves(
  { tx, vouching, organizationId, findings }: LeafCheck,
  rows: readonly Tables["leaves"][],
): Promise<LeafInRow[]> {
  const own = await vouching.leaves(rows.map(({ leaf }) => leaf));
  const marks = await rowsWith(tx, "unreleased", organizationId, "number", [
    ...new Set(rows.map(({ number }) => number)),
  ]);
  const marked = new Set(marks.map(nameOf));
  return rows.flatMap((row, index) => {
    if (own[index] !== true) {
      findings.lost(`leaves ${nameOf(row)}: the leaf is not the signer's`);
      return [];
    }
    const leaf = decodeLeaf(withoutMac(row.leaf));
    const name = nameOf({ boot: toHex(leaf.boot), number: leaf.number });
    if (uuidFromBytes(leaf.organizationId) !== organizationId || name !== nameOf(row)) {
      findings.lost(
        `leaves ${nameOf(row)}: it holds leaf ${name} of organization ${uuidFromBytes(leaf.organizationId)}`,
      );
      return [];
    }
    return [{ leaf, row, isMarked: marked.has(nameOf(row)) }];
  });
}

function nameOf({ boot, number }: { boot: string; number: number }): string {
  return `${boot} ${number}`;
}

/** The columns that repeat what the leaf says. */
function columnsOf(leaf: Leaf): Pick<Tables["leaves"], "version" | "header" | "activity_id"> {
  const { event, activityId } = leaf;
  const header = ownHeaderOf(leaf);
  const isOfActivity = !isOperatorEvent(event);
  return {
    version: header === undefined ? null : decodeHeader(withoutMac(header)).version,
    header: header ?? null,
    activity_id: isOfActivity ? uuidFromBytes(activityId) : null,
  };
}

/** True when the row gave its version free: another may have it, and no two can. */
async function compareRow({ tx, findings }: LeafCheck, leaf: Leaf, row: Tables["leaves"]): Promise<boolean> {
  const columns = differingColumns(columnsOf(leaf), row);
  if (columns.length === 0) return false;
  if (!findings.differs(`leaves ${nameOf(row)}: ${columns.join(", ")} not as in the leaf`)) return false;
  await updateRow(tx, "leaves", row, { ...columnsOf(leaf), version: null });
  return true;
}

/** What was made is told beside the leaf that tells of making it, and beside no other. */
async function dropStrayRecords({ tx, findings }: LeafCheck, leaf: Leaf, row: Tables["leaves"]): Promise<void> {
  if (row.made === null || mayMakeRecords(leaf)) return;
  if (findings.differs(`leaves ${nameOf(row)}: made, though it tells of nothing new`)) {
    await updateRow(tx, "leaves", row, { made: null });
  }
}

/** Only what was loosened, and so was found to be the signer's own leaf in its own row. */
async function settle({ tx, organizationId }: LeafCheck, loosened: ReadonlySet<string>): Promise<void> {
  for await (const rows of rowsOf(tx, "leaves", organizationId, leavesAtOnce)) {
    for (const row of rows) {
      if (!loosened.has(nameOf(row))) continue;
      const { version } = columnsOf(decodeLeaf(withoutMac(row.leaf)));
      await updateRow(tx, "leaves", row, { version });
    }
  }
}

/** A committed leaf that was never released must be marked so, or nobody will ever ask for what it holds. */
async function checkMark(
  { tx, organizationId, released, findings }: LeafCheck,
  { row, isMarked }: LeafInRow,
): Promise<void> {
  const { boot, number } = row;
  if (isMarked || released(boot, number) !== false) return;
  if (findings.differs(`leaves ${nameOf(row)}: it waits for its release and is not marked so`)) {
    await insertRow(tx, "unreleased", { organization_id: organizationId, boot, number });
  }
}

async function leavesNamed(tx: Inside, rows: readonly Tables["unreleased"][]): Promise<Set<string>> {
  const [first] = rows;
  if (first === undefined) return new Set();
  const numbers = [...new Set(rows.map(({ number }) => number))];
  return new Set((await rowsWith(tx, "leaves", first.organization_id, "number", numbers)).map(nameOf));
}
