/** Answers that are stored already, released before anybody sees them. */
import type { ShownEvidence } from "@keystead/core/crypto/evidence.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import type { Caller } from "../../endpoints/define_query.ts";
import { organizationMismatch } from "../../endpoints/known_faults.ts";
import { isUnknownCredential, shownEvidence } from "../../evidence/evidence.ts";
import { activityForms } from "../../generated/activities.ts";
import { recoversOnly } from "../../rules/recovery.ts";
import { sha256 } from "../../state/digest.ts";
import { type ActivityRow, findActivity, listVotes } from "../../store/activities.ts";
import { findUnreleasedLeaves } from "../../store/leaves.ts";
import { findCallerByUser } from "../../store/organizations.ts";
import type { ActivityRecord, StoredVote } from "../../views/activity_view.ts";
import { readActivity } from "../../views/read_activity.ts";
import { authenticateQuery, type Scope } from "../evidence/authenticate_query.ts";
import { claimedSourceCheck } from "../evidence/check_source.ts";
import { withAppProofs } from "./app_proofs.ts";
import { type BearerReader, shownOf, withBearer } from "./sealed_results.ts";
import type { StampedRequest } from "./stamped_request.ts";
import { refusedLeaf, toLeftover } from "./stored_leaf.ts";
import type { SubmitDependencies } from "./submit_dependencies.ts";

/**
 * Who may submit here. A member of the parent may submit what is open to parents; of all else it may only read, and is told so before
 * anything about the body.
 */
export async function authenticate(
  dependencies: SubmitDependencies,
  request: StampedRequest,
  scope: Scope = "named",
): Promise<Caller> {
  const { organizationId, body, evidence, source } = request;
  const caller = await authenticateQuery(dependencies, organizationId, evidence, body, scope, source);
  if (caller.hasRecoveryKey && request.byRecoveryKey !== true) throw recoversOnly();
  if (caller.organizationId === caller.subjectId || request.openToParent === true) return caller;
  throw organizationMismatch(organizationId, caller.organizationId);
}

/**
 * Who sends a stored activity once more. Its own act may have ended the credential that it was sent with: `recover_user` ends the recovery
 * key, and users delete their own keys. The very same request, stamp and all, is answered as it was, so that a client which lost its
 * answer learns what came of it.
 */
export async function submitterOf(
  dependencies: SubmitDependencies,
  request: StampedRequest,
  row: ActivityRow,
): Promise<Pick<Caller, "userId">> {
  try {
    return await authenticate(dependencies, request, "former");
  } catch (error) {
    const [vote] = JSON.parse(row.votes) as StoredVote[];
    if (vote === undefined || !isUnknownCredential(error) || !mayHaveEndedCaller(row)) throw error;
    const { organizationId, body, evidence } = request;
    // What others voted on later is not the answer that was given: a former member learns nothing new.
    if ((await listVotes(dependencies.store, organizationId, row.activityId)).length > 0) throw error;
    const isSameBody = row.fingerprint === toHex(sha256(body));
    if (!isSameBody || !isSameShown(shownEvidence(evidence, vote.user), vote)) throw error;
    const { ipAllowlists } = (await findCallerByUser(dependencies.store, organizationId, "")) ?? {};
    if (ipAllowlists !== undefined) claimedSourceCheck(dependencies, request)?.(ipAllowlists);
    return { userId: vote.user.userId };
  }
}

function mayHaveEndedCaller({ type, status }: ActivityRow): boolean {
  return status === "ACTIVITY_STATUS_COMPLETED" && activityForms.get(type)?.activity.mayEndCaller === true;
}

function isSameShown(one: ShownEvidence, other: ShownEvidence): boolean {
  return one.publicKey === other.publicKey && one.signature === other.signature && one.scheme === other.scheme;
}

/** A stored activity, once everything about it has been released. */
export async function readReleased(
  dependencies: SubmitDependencies,
  organizationId: string,
  row: ActivityRow,
  reader: BearerReader,
): Promise<ActivityRecord> {
  const { store, committer } = dependencies;
  const unreleased = await findUnreleasedLeaves(store, organizationId, row.activityId);
  let { result } = row;
  if (unreleased.length > 0) {
    for (const [index, outcome] of (await committer.release(unreleased.map(toLeftover))).entries()) {
      if (outcome.kind === "refused") throw refusedLeaf(unreleased[index], outcome.message);
      if (outcome.result !== undefined) result = shownOf(row, outcome.result);
    }
  } else if (row.status === "ACTIVITY_STATUS_COMPLETED" && result === null) {
    // Released since the row was read: its result was written in that same moment.
    const released = await findActivity(store, organizationId, row.activityId);
    result = released?.result ?? null;
  }
  const read = await readActivity(store, organizationId, { ...row, result }, reader.userId);
  const record = await withAppProofs(dependencies, await withBearer(dependencies, read, reader));
  // Over since it was found: what ended it must be released, too.
  return record.row.status === row.status ? record : readReleased(dependencies, organizationId, record.row, reader);
}
