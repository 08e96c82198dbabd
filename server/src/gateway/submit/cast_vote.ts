/** The submission of a vote on an activity that waits for consensus. */
import { Fault } from "@keystead/core/fault.ts";
import { costOf, stateShareOf } from "../../endpoints/cost.ts";
import type { AnyActivity } from "../../endpoints/define_activity.ts";
import { readBody, readEnvelope } from "../../endpoints/envelope.ts";
import { isNoSuchActivity, noSuchActivity } from "../../endpoints/known_faults.ts";
import { activityForms } from "../../generated/activities.ts";
import { isWholeBody } from "../../rules/bearer_params.ts";
import { type ActivityRow, findActivity, findActivityByFingerprint } from "../../store/activities.ts";
import { findSealedBody } from "../../store/sealed_bodies.ts";
import type { ActivityRecord, StoredVote } from "../../views/activity_view.ts";
import { waitingStatus } from "../../views/read_activity.ts";
import { declaredRecords } from "./declared_records.ts";
import { execute, type Submission } from "./execute.ts";
import { findKeyed } from "./idempotency.ts";
import type { StampedRequest } from "./stamped_request.ts";
import { authenticate, readReleased } from "./stored_answer.ts";
import type { SubmitDependencies } from "./submit_dependencies.ts";
import { declaredOnly } from "./wishes.ts";

export async function castVote(
  dependencies: SubmitDependencies,
  request: StampedRequest,
  vote: NonNullable<AnyActivity["vote"]>,
  fingerprint: string | undefined,
): Promise<ActivityRecord> {
  const { organizationId, keyed } = request;
  if (keyed !== undefined) {
    const { userId } = await authenticate(dependencies, request);
    const known = await findKeyed(dependencies.store, organizationId, userId, keyed);
    const row =
      known === undefined ? undefined : await findActivityByFingerprint(dependencies.store, organizationId, known);
    if (row !== undefined) return readReleased(dependencies, organizationId, row, { userId });
  }
  return execute(dependencies, voteOn(dependencies, request, `VOTE_SELECTION_${vote}`, fingerprint));
}

function voteOn(
  dependencies: SubmitDependencies,
  request: StampedRequest,
  selection: StoredVote["selection"],
  fingerprint: string | undefined,
): Submission {
  const { organizationId } = request;
  return {
    organizationId,
    async begin(turn) {
      const target =
        fingerprint === undefined
          ? undefined
          : await findActivityByFingerprint(dependencies.store, organizationId, fingerprint);
      if (target?.status !== waitingStatus) {
        return { answer: await answerLateVote(dependencies, request, target, selection) };
      }
      const answer = turn > 0 ? await findVoted(dependencies, request, target, selection) : undefined;
      if (answer !== undefined) return { answer };
      const vote = { target, sealedBody: await findClosedBody(dependencies, organizationId, target), selection };
      return { request: { ...request, ...targetNeeds(target), vote } };
    },
    afterRefusal(error) {
      // Decided a moment ago by somebody else's vote: the next turn finds what became of it.
      if (isNoSuchActivity(error)) return { kind: "again", reason: "voteEnded", needs: declaredOnly };
      return { kind: "refused", error };
    },
  };
}

/** The signer's box of what is voted on, where the row has the shown form. */
async function findClosedBody({ store }: SubmitDependencies, organizationId: string, target: ActivityRow) {
  if (isWholeBody(activityForms.get(target.type)?.activity, target)) return undefined;
  const sealed = await findSealedBody(store, organizationId, target.activityId);
  // Opened since the row was read.
  return sealed ?? (await findActivity(store, organizationId, target.activityId))?.body;
}

/** The records and the cost of a stored activity that is voted on: with this vote it may be done. */
function targetNeeds({
  type,
  body,
}: ActivityRow): Pick<StampedRequest, "records" | "cost" | "stateShare" | "isProven"> {
  const form = activityForms.get(type);
  if (form === undefined) return { records: [], cost: 0 };
  const envelope = readEnvelope(readBody(body));
  return {
    records: declaredRecords(form, envelope.parameters),
    cost: costOf(form, envelope, body.length),
    stateShare: stateShareOf(form.activity, envelope.generateAppProofs),
    isProven: envelope.generateAppProofs,
  };
}

/** The answer to a vote that the signer did not take, if the target says why. */
async function findVoted(
  dependencies: SubmitDependencies,
  request: StampedRequest,
  target: ActivityRow,
  selection: StoredVote["selection"],
): Promise<ActivityRecord | undefined> {
  const { userId } = await authenticate(dependencies, request);
  const record = await readReleased(dependencies, request.organizationId, target, { userId });
  // Over since it was found.
  if (record.row.status !== waitingStatus) return lateAnswer(record, userId, selection);
  // This user's approval stands: the same again changes nothing.
  const hasApproved = selection === "VOTE_SELECTION_APPROVED" && hasVotedSo(record, userId, selection);
  return hasApproved && !record.rights.canApprove ? record : undefined;
}

/** A vote on what is not there, or on what is over. Who has voted so already is shown what came of it. */
async function answerLateVote(
  dependencies: SubmitDependencies,
  request: StampedRequest,
  target: ActivityRow | undefined,
  selection: string,
): Promise<ActivityRecord> {
  const caller = await authenticate(dependencies, request);
  if (target === undefined) throw noSuchActivity();
  return lateAnswer(await readReleased(dependencies, request.organizationId, target, caller), caller.userId, selection);
}

function lateAnswer(record: ActivityRecord, userId: string, selection: string): ActivityRecord {
  if (hasVotedSo(record, userId, selection)) return record;
  throw new Fault(
    "permission_denied",
    `request not authorized: the activity is ${record.row.status.replace("ACTIVITY_STATUS_", "").toLowerCase()} and takes no votes`,
    { errorCode: "REQUEST_NOT_AUTHORIZED" },
  );
}

function hasVotedSo({ votes }: ActivityRecord, userId: string, selection: string): boolean {
  return votes.some(({ user, selection: own }) => user.userId === userId && own === selection);
}
