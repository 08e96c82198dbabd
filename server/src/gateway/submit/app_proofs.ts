/** App proofs in answers about activities. */
import { findAppProofs } from "../../store/app_proofs.ts";
import type { ActivityRecord } from "../../views/activity_view.ts";
import { appProofsOf, mayHaveAppProofs } from "../../views/app_proofs_view.ts";
import type { SubmitDependencies } from "./submit_dependencies.ts";

/** The activity with its app proofs, where it asked for them. */
export async function withAppProofs(
  { store, committer }: Pick<SubmitDependencies, "store" | "committer">,
  record: ActivityRecord,
): Promise<ActivityRecord> {
  const { organizationId, row } = record;
  if (!mayHaveAppProofs(row)) return record;
  const stored = await findAppProofs(store, organizationId, row.activityId);
  if (stored === undefined) return record;
  return { ...record, appProofs: appProofsOf(await committer.openProofs(stored)) };
}
