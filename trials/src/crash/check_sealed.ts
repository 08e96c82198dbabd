/**
 * Looks at a database while a process stands still at a step: a result that is worth something alone is in no row before it was
 * released, whoever reads the database meanwhile.
 */
import assert from "node:assert/strict";
import type { Step } from "@keystead/server/state/steps.ts";
import { isShownResult } from "../../../server/test/shown_result.ts";
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

/**
 * Of an act whose result is sealed, stopped at this step. False when it was stopped before the act's own leaf is there: a vote over
 * bytes that wait has the leaves from before it released once more, where nobody has marked them yet, and what came before the act is
 * settled on its own. An act that is settled without ever having been sealed never comes to this step again, which shows, too.
 */
export async function checkSealed(source: Source, step: Step): Promise<boolean> {
  if (!sealedSteps.includes(step)) return true;
  const raw = await openRaw(source);
  try {
    const leaves = await unreleasedLeaves(raw);
    const waiting = leaves.filter(({ sealed }) => sealed !== null);
    const isEarlier = step === "settling" || (leaves.length > 0 && (await areUndecided(raw, leaves)));
    if (waiting.length === 0 && isEarlier) return false;
    assert.ok(waiting.length > 0, `nothing is sealed in the database at ${step}`);
    for (const leaf of waiting) {
      const { type = "", result } = (await activityOf(raw, leaf)) ?? {};
      const where = `the result of ${leaf.activity_id} is in its row at ${step}: ${result}`;
      assert.ok(isSealed(String(type), result), where);
    }
    return true;
  } finally {
    await raw.close();
  }
}

/** Whether all of them are of activities that wait for votes. */
async function areUndecided(raw: RawDatabase, leaves: readonly Row[]): Promise<boolean> {
  for (const leaf of leaves) {
    if ((await activityOf(raw, leaf))?.status !== "ACTIVITY_STATUS_CONSENSUS_NEEDED") return false;
  }
  return true;
}

async function activityOf(raw: RawDatabase, { organization_id, activity_id }: Row): Promise<Row | undefined> {
  const rows = await raw.rows("activities", String(organization_id));
  return rows.find((row) => row.activity_id === activity_id);
}

/** No result; or one without its bearer value, which is in no row ever. */
function isSealed(type: string, result: Value | undefined): boolean {
  return result === null || (typeof result === "string" && isShownResult(type, result));
}

/** Leaves that nobody has marked as released. */
async function unreleasedLeaves(raw: RawDatabase): Promise<Row[]> {
  const found: Row[] = [];
  for (const { organization_id, boot, number } of await raw.rows("unreleased")) {
    const leaves = await raw.rows("leaves", String(organization_id));
    found.push(...leaves.filter((leaf) => leaf.boot === boot && leaf.number === number));
  }
  return found;
}
