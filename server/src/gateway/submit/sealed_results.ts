/**
 * Results that their rows do not show whole, because whoever has one can use it: the row keeps the rest, and the signer opens the whole
 * for the user whom it was made for, until it ends.
 */
import { activityForms } from "../../generated/activities.ts";
import { isWholeBody } from "../../rules/bearer_params.ts";
import { isBearing, leafOf, shownResult } from "../../rules/bearer_results.ts";
import type { ActivityRow } from "../../store/activities.ts";
import { findLeaf } from "../../store/leaves.ts";
import type { ActivityRecord } from "../../views/activity_view.ts";
import { refusedLeaf, toLeftover } from "./stored_leaf.ts";
import type { SubmitDependencies } from "./submit_dependencies.ts";

function bearingActivity({ type }: ActivityRow) {
  const activity = activityForms.get(type)?.activity;
  return activity?.bearer === undefined ? undefined : activity;
}

/** An opened result, as everybody may see it. */
export function shownOf(row: ActivityRow, result: string): string {
  const activity = bearingActivity(row);
  return activity === undefined ? result : shownResult(activity, result);
}

/** Who is to be shown a result, and whether it came with the bytes that the result was made for. */
export type BearerReader = { userId: string; hasSentBody?: boolean };

/**
 * Whether this reader may see all of its result: of most activities every reader may. Where the body itself is asked for, that counts only
 * as long as others do not have it: once the row shows the body and its stamp, anyone could send both.
 */
export function maySeeBearer({ row, votes }: ActivityRecord, { userId, hasSentBody = false }: BearerReader): boolean {
  const activity = bearingActivity(row);
  if (activity === undefined) return true;
  if (votes[0]?.user.userId !== userId) return false;
  return activity.bearer?.onlyForSameBytes !== true || (hasSentBody && !isWholeBody(activity, row));
}

/** The activity with its whole result, where its row shows less of it and this reader may see it now. */
export async function withBearer(
  { store, committer }: Pick<SubmitDependencies, "store" | "committer">,
  record: ActivityRecord,
  reader: BearerReader,
): Promise<ActivityRecord> {
  const { organizationId, row } = record;
  const activity = bearingActivity(row);
  if (activity === undefined || row.result === null || !maySeeBearer(record, reader)) return record;
  if (!isBearing(activity, row.result, Date.now())) return record;
  const { boot, number } = leafOf(row.result);
  const leaf = await findLeaf(store, organizationId, boot, number);
  if (leaf === undefined) return record;
  const [outcome] = await committer.open([toLeftover(leaf)]);
  if (outcome?.kind !== "released") throw refusedLeaf(leaf, outcome?.message ?? "the signer opened nothing");
  return { ...record, row: { ...row, result: outcome.result ?? row.result } };
}
