/**
 * Looks at a database while a process stands still at a step: a result that is worth something alone is in no row before it was
 * released, whoever reads the database meanwhile.
 */
import assert from "node:assert/strict";
import { activityForms } from "@keystead/server/generated/activities.ts";
import type { Step } from "@keystead/server/state/steps.ts";
import { openRaw, type RawDatabase, type Row, type Source, type Value } from "../hostile/raw_database.ts";

/** From the commit to the moment before the row gets its result. */
const sealedSteps: readonly Step[] = [
  "committed",
  "checked",
  "remembered",
  "opened",
  "released",
  "answering",
  "answered",
  "settling",
];

/** Of an act whose result is sealed, stopped at this step. */
export async function checkSealed(source: Source, step: Step): Promise<void> {
  if (!sealedSteps.includes(step)) return;
  const raw = await openRaw(source);
  try {
    const waiting = await sealedLeaves(raw);
    assert.ok(waiting.length > 0, `nothing is sealed in the database at ${step}`);
    for (const { organization_id, activity_id } of waiting) {
      const rows = await raw.rows("activities", String(organization_id));
      const row = rows.find((row) => row.activity_id === activity_id);
      const { type = "", result } = row ?? {};
      assert.ok(isSealed(String(type), result), `the result of ${activity_id} is in its row at ${step}: ${result}`);
    }
  } finally {
    await raw.close();
  }
}

/** No result; or one without its bearer value, which is in no row ever. */
function isSealed(type: string, result: Value | undefined): boolean {
  const field = activityForms.get(type)?.activity.bearer?.field;
  return result === null || (field !== undefined && typeof result === "string" && JSON.parse(result)[field] === "");
}

/** Leaves that nobody has marked as released, and whose results are sealed. */
async function sealedLeaves(raw: RawDatabase): Promise<Row[]> {
  const found: Row[] = [];
  for (const { organization_id, boot, number } of await raw.rows("unreleased")) {
    const leaves = await raw.rows("leaves", String(organization_id));
    found.push(...leaves.filter((leaf) => leaf.boot === boot && leaf.number === number && leaf.sealed !== null));
  }
  return found;
}
