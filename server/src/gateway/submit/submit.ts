/** One submit, from raw bytes to answer. The stamp is the signer's to verify; this only carries, stores and repeats. */
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault, faultCodes } from "@keystead/core/fault.ts";
import { costOf, stateShareOf } from "../../endpoints/cost.ts";
import type { ActivityForm, AnyActivity } from "../../endpoints/define_activity.ts";
import { type Envelope, readBody, readEnvelope, readOrganizationId } from "../../endpoints/envelope.ts";
import { explainMismatch } from "../../endpoints/explain_schema.ts";
import { parseFingerprint } from "../../fields/fingerprint.ts";
import { activityForms } from "../../generated/activities.ts";
import { activityValidators } from "../../generated/activity_validators.ts";
import type { RequestSource } from "../../rules/ip_allowlists.ts";
import { sha256 } from "../../state/digest.ts";
import { type ActivityRecord, activityView } from "../../views/activity_view.ts";
import type { Dialect } from "../../views/dialect.ts";
import type { Failure } from "../../views/error_body.ts";
import { claimedCredential, findWhereItRuns } from "../evidence/authenticate_query.ts";
import { castVote } from "./cast_vote.ts";
import { declaredRecords } from "./declared_records.ts";
import { execute } from "./execute.ts";
import { type KeyedRequest, keyedRequest } from "./idempotency.ts";
import { newActivity } from "./new_activity.ts";
import type { SignUpRequest, StampedRequest } from "./stamped_request.ts";
import { authenticate } from "./stored_answer.ts";
import type { SubmitDependencies } from "./submit_dependencies.ts";

export type SubmitAnswer = { activity: ReturnType<typeof activityView> } | { failure: Failure };

/** A request as it arrived. */
export type Arrival = {
  body: Uint8Array;
  evidence: SentEvidence;
  idempotencyKey?: string | undefined;
  /** For IP allowlists; undefined where nobody asks. */
  source?: RequestSource | undefined;
  /** The caller's, for what is counted by address. */
  address?: string | undefined;
  /** Of a sign-up through the auth proxy: what it claims, and the bytes that stand for it when they come again. */
  signUp?: SignUpRequest & { keyed: KeyedRequest };
};

const likelyNewMs = 10_000;

export async function submit(
  dependencies: SubmitDependencies,
  activity: AnyActivity,
  arrival: Arrival,
  dialect: Dialect,
): Promise<SubmitAnswer> {
  const { body, evidence, idempotencyKey, source, address } = arrival;
  const value = readBody(body);
  const organizationId = readOrganizationId(value);
  const openToParent = activity.openToParent === true;
  const byRecoveryKey = activity.byRecoveryKey === true;
  const opens = { openToParent, byRecoveryKey };
  const sent = { body, evidence, source, address };
  const request: StampedRequest = { organizationId, ...opens, ...sent, records: [], cost: 0 };
  let asked: { form: ActivityForm; envelope: Envelope };
  try {
    asked = readAsked(activity, value);
  } catch (fault) {
    // A stranger hears that it is one, before anything about the body.
    await authenticate(dependencies, request, activity.findsSubOrganization === true ? "sub-organization" : "named");
    throw fault;
  }
  if (activity.findsSubOrganization === true) {
    request.organizationId = await findWhereItRuns(dependencies, request);
    request.namesParent = request.organizationId !== organizationId;
  }
  if (idempotencyKey !== undefined) request.keyed = keyedRequest(idempotencyKey, value);
  if (arrival.signUp !== undefined) {
    request.keyed = arrival.signUp.keyed;
    request.signUp = arrival.signUp;
  }
  if (activity.vote !== undefined) {
    const { fingerprint } = asked.envelope.parameters as { fingerprint: string };
    return toAnswer(await castVote(dependencies, request, activity.vote, parseFingerprint(fingerprint)), dialect);
  }
  request.parameters = asked.envelope.parameters;
  request.records = declaredRecords(asked.form, asked.envelope.parameters);
  request.cost = costOf(asked.form, asked.envelope, body.length);
  request.stateShare = stateShareOf(activity, asked.envelope.generateAppProofs);
  request.isProven = asked.envelope.generateAppProofs;
  // A body of this very moment is most likely new. If it is not, its journal, its unique fingerprint or a refusal makes us
  // look; a look before each would cost every new activity a query.
  const looksFirst = Math.abs(Date.now() - asked.envelope.timestampMs) >= likelyNewMs || request.keyed !== undefined;
  const answer = toAnswer(await executeAlone(dependencies, request, looksFirst), dialect);
  if (isReachedLimit(answer)) await dependencies.reachedLimits.leave(request.organizationId);
  return answer;
}

function isReachedLimit(answer: SubmitAnswer): boolean {
  return "failure" in answer && answer.failure.code === faultCodes.resource_exhausted;
}

/** The same bytes at the same moment, or the same idempotency key, wait for each other: the second finds the first. */
async function executeAlone(
  dependencies: SubmitDependencies,
  request: StampedRequest,
  looksFirst: boolean,
): Promise<ActivityRecord> {
  const { organizationId, body, evidence, keyed } = request;
  const { repeats } = dependencies;
  const name = `${organizationId} ${toHex(sha256(body))}`;
  const executed = () =>
    repeats.alone(name, async (waited) => {
      const record = await execute(
        dependencies,
        newActivity(dependencies, request, looksFirst || waited || repeats.wasNoted(name)),
      );
      if (record.row.slot === null) repeats.note(name);
      return record;
    });
  if (keyed === undefined) return executed();
  // Nobody has looked at this evidence yet: what cannot be read is refused here, and one credential has one spelling.
  const claimed = claimedCredential(dependencies, evidence);
  return repeats.alone(`${organizationId} ${claimed} ${keyed.idempotencyKey}`, executed);
}

function readAsked(activity: AnyActivity, value: Record<string, unknown>): { form: ActivityForm; envelope: Envelope } {
  const envelope = readEnvelope(value);
  const { type, parameters } = envelope;
  const form = activityForms.get(type);
  if (activity.formerTypes !== undefined && Object.hasOwn(activity.formerTypes, type)) {
    const instead = activity.formerTypes[type];
    throw new Fault("invalid_argument", `Invalid activity type: \`${type}\` is no longer supported: ${instead}`);
  }
  if (form?.activity !== activity) {
    throw new Fault("invalid_argument", `Invalid activity type: \`${type}\` does not belong to ${activity.path}`);
  }
  if (activityValidators[type]?.(parameters) !== true) throw explainMismatch(form.params, parameters, "parameters");
  return { form, envelope };
}

/** What was refused or failed inside its own request repeats the same error each time it is sent. */
function toAnswer(record: ActivityRecord, dialect: Dialect): SubmitAnswer {
  const { row, votes } = record;
  if (row.failure !== null && votes.length === 1) return { failure: JSON.parse(row.failure) as Failure };
  return { activity: activityView(record, dialect) };
}
