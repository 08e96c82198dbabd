/** App proofs as readers see them. */
import { activityForms } from "../generated/activities.ts";
import { isWholeBody } from "../rules/bearer_params.ts";
import type { AppProof } from "../state/app_proof.ts";
import type { ActivityRow } from "../store/activities.ts";
import { finalStatuses } from "../store/final_statuses.ts";

export function appProofsOf(json: string | null | undefined): readonly AppProof[] {
  return json === null || json === undefined ? [] : (JSON.parse(json) as AppProof[]);
}

/**
 * Whether it is worth looking for app proofs of an activity: its body asks for them, and it is over. Nearly none does, and most reads of an
 * activity shall cost no further one. A shown form does not say.
 */
export function mayHaveAppProofs(row: Pick<ActivityRow, "type" | "status" | "body" | "fingerprint">): boolean {
  if (!finalStatuses.some((status) => status === row.status)) return false;
  if (!isWholeBody(activityForms.get(row.type)?.activity, row)) return true;
  const text = Buffer.from(row.body.buffer, row.body.byteOffset, row.body.byteLength).toString("utf8");
  // A name may be spelled with escapes.
  if (!text.includes('"generateAppProofs"') && !text.includes("\\u")) return false;
  return (JSON.parse(text) as { generateAppProofs?: unknown }).generateAppProofs === true;
}
