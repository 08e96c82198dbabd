/** One submit, from raw bytes to answer. The stamp is the signer's to verify; this only carries, stores and repeats. */
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { costOf } from "../../endpoints/cost.ts";
import type { ActivityForm, AnyActivity } from "../../endpoints/define_activity.ts";
import type { Caller } from "../../endpoints/define_query.ts";
import { type Envelope, readBody, readEnvelope, readOrganizationId } from "../../endpoints/envelope.ts";
import { explainMismatch } from "../../endpoints/explain_schema.ts";
import { isNoSuchActivity, noSuchActivity } from "../../endpoints/known_faults.ts";
import { parseFingerprint } from "../../fields/fingerprint.ts";
import { activityForms } from "../../generated/activities.ts";
import { activityValidators } from "../../generated/activity_validators.ts";
import { sha256 } from "../../state/digest.ts";
import type { RecordWish } from "../../state/record_wish.ts";
import { type ActivityRow, findActivity, findActivityByFingerprint } from "../../store/activities.ts";
import { findUnreleasedLeaves } from "../../store/leaves.ts";
import { type ActivityRecord, activityView } from "../../views/activity_view.ts";
import type { Dialect } from "../../views/dialect.ts";
import type { Failure } from "../../views/error_body.ts";
import { readActivity, waitingStatus } from "../../views/read_activity.ts";
import { authenticateQuery, claimedCredential, type Scope } from "../evidence/authenticate_query.ts";
import { toLeftover } from "./committer.ts";
import { executeOnce, organizationMismatch, type StampedRequest, type SubmitRoom } from "./execute.ts";
import { findKeyed, keyedRequest, rememberKeyed } from "./idempotency.ts";

export type SubmitAnswer = { activity: ReturnType<typeof activityView> } | { failure: Failure };

/** What arrives at the door. */
export type Arrival = { body: Uint8Array; evidence: SentEvidence; idempotencyKey?: string | undefined };

/** Another gateway may win several times in a row; each time is one more round against fresh state. */
const maxRounds = 40;
const likelyNewMs = 10_000;

export async function submit(
  room: SubmitRoom,
  activity: AnyActivity,
  arrival: Arrival,
  dialect: Dialect,
): Promise<SubmitAnswer> {
  const { body, evidence, idempotencyKey } = arrival;
  const value = readBody(body);
  const organizationId = readOrganizationId(value);
  const request: StampedRequest = { organizationId, body, evidence, records: [], cost: 0 };
  let asked: { form: ActivityForm; envelope: Envelope };
  try {
    asked = readAsked(activity, value);
  } catch (fault) {
    // A stranger hears that it is one, before anything about the body.
    await authenticate(room, request);
    throw fault;
  }
  if (idempotencyKey !== undefined) request.keyed = keyedRequest(idempotencyKey, value);
  if (activity.vote !== undefined) {
    const { fingerprint } = asked.envelope.parameters as { fingerprint: string };
    return toAnswer(await castVote(room, request, activity.vote, parseFingerprint(fingerprint)), dialect);
  }
  request.parameters = asked.envelope.parameters;
  request.records = wishesOf(asked.form, asked.envelope.parameters);
  request.cost = costOf(asked.form, asked.envelope.parameters, body.length);
  // A body of this very moment is most likely new. If it is not, its journal, its unique fingerprint or a refusal makes us
  // look; a look before each would cost every new activity a query.
  const looksFirst = Math.abs(Date.now() - asked.envelope.timestampMs) >= likelyNewMs || request.keyed !== undefined;
  return toAnswer(await executeAlone(room, request, looksFirst), dialect);
}

/** The same bytes at the same moment, or the same idempotency key, wait for each other: the second finds the first. */
async function executeAlone(room: SubmitRoom, request: StampedRequest, looksFirst: boolean): Promise<ActivityRecord> {
  const { organizationId, body, evidence, keyed } = request;
  const { repeats } = room;
  const name = `${organizationId} ${toHex(sha256(body))}`;
  const executed = () =>
    repeats.alone(name, async (waited) => {
      const record = await execute(room, request, looksFirst || waited || repeats.wasNoted(name));
      if (record.row.slot === null) repeats.note(name);
      return record;
    });
  if (keyed === undefined) return executed();
  // Nobody has looked at this evidence yet: what cannot be read is refused here, and one credential has one spelling.
  const claimed = claimedCredential(room, evidence);
  return repeats.alone(`${organizationId} ${claimed} ${keyed.idempotencyKey}`, executed);
}

function wishesOf({ activity, translate }: ActivityForm, parameters: unknown): readonly RecordWish[] {
  return activity.records?.(translate(parameters) as never) ?? [];
}

/** The wishes and the cost of a stored activity that is voted on: with this vote it may be done. */
function wantsOfRow({ type, body }: ActivityRow): Pick<StampedRequest, "records" | "cost"> {
  const form = activityForms.get(type);
  if (form === undefined) return { records: [], cost: 0 };
  const { parameters } = readEnvelope(readBody(body));
  return { records: wishesOf(form, parameters), cost: costOf(form, parameters, body.length) };
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

/** Who may submit here: a member of the parent may read, and is told so before anything about the body. */
async function authenticate(room: SubmitRoom, request: StampedRequest, scope: Scope = "named"): Promise<Caller> {
  const { organizationId, body, evidence } = request;
  const caller = await authenticateQuery(room, organizationId, evidence, body, scope);
  if (caller.organizationId !== organizationId) throw organizationMismatch(organizationId, caller.organizationId);
  return caller;
}

/** Rounds until the request is decided, or found to have been. */
async function execute(room: SubmitRoom, request: StampedRequest, looksFirst: boolean): Promise<ActivityRecord> {
  let hasLooked = looksFirst;
  if (hasLooked) {
    const known = await findRepeated(room, request);
    if (known !== undefined) return known;
  }
  for (let round = 0; round < maxRounds; round++) {
    try {
      const fresh = await executeOnce(room, request);
      if (fresh !== undefined) return fresh;
    } catch (fault) {
      const known = hasLooked ? undefined : await findRepeated(room, request);
      if (known !== undefined) return known;
      throw fault;
    }
    await pause(round);
    hasLooked = true;
    const known = await findRepeated(room, request);
    if (known !== undefined) return known;
  }
  throw changedAllTheTime(request.organizationId);
}

/**
 * The answer to what was asked before: the same bytes, or the same request under the caller's idempotency key. None while
 * the activity waits for consensus and the caller's stamp would be a new approval of it.
 */
async function findRepeated(room: SubmitRoom, request: StampedRequest): Promise<ActivityRecord | undefined> {
  const { organizationId, keyed } = request;
  const own = toHex(sha256(request.body));
  let caller: Caller | undefined;
  let known: string | undefined;
  if (keyed !== undefined) {
    caller = await authenticate(room, request, "former");
    known = await findKeyed(room.store, organizationId, caller.userId, keyed);
  }
  const row = await findActivityByFingerprint(room.store, organizationId, known ?? own);
  if (row === undefined) return undefined;
  caller ??= await authenticate(room, request, "former");
  const { userId } = caller;
  const record = await readReleased(room, organizationId, row, userId);
  const hasVoted = record.votes.some(({ user }) => user.userId === userId);
  if (record.row.status === waitingStatus && known === undefined && !hasVoted) return undefined;
  // These bytes were answered before they came under a key: from now on the key stands for them. Not for a refusal: one that is sent
  // under a thousand keys would be a thousand rows that nobody counts.
  if (keyed !== undefined && known === undefined && record.row.failure === null) {
    await rememberKeyed(room.store, organizationId, userId, keyed, row.fingerprint);
  }
  return record;
}

async function castVote(
  room: SubmitRoom,
  request: StampedRequest,
  vote: NonNullable<AnyActivity["vote"]>,
  fingerprint: string | undefined,
): Promise<ActivityRecord> {
  const { organizationId, keyed } = request;
  const selection = `VOTE_SELECTION_${vote}` as const;
  if (keyed !== undefined) {
    const { userId } = await authenticate(room, request);
    const known = await findKeyed(room.store, organizationId, userId, keyed);
    const row = known === undefined ? undefined : await findActivityByFingerprint(room.store, organizationId, known);
    if (row !== undefined) return readReleased(room, organizationId, row, userId);
  }
  for (let round = 0; round < maxRounds; round++) {
    const target =
      fingerprint === undefined ? undefined : await findActivityByFingerprint(room.store, organizationId, fingerprint);
    if (target?.status !== waitingStatus) return answerLateVote(room, request, target, selection);
    if (round > 0) {
      const { userId } = await authenticate(room, request);
      const record = await readReleased(room, organizationId, target, userId);
      // Over since it was found.
      if (record.row.status !== waitingStatus) return lateAnswer(record, userId, selection);
      // The signer did not take it because this user's approval stands: the same again changes nothing.
      if (vote === "APPROVED" && !record.rights.canApprove && hasVotedSo(record, userId, selection)) return record;
    }
    try {
      const decided = await executeOnce(room, {
        ...request,
        ...wantsOfRow(target),
        vote: { target, selection },
      });
      if (decided !== undefined) return decided;
    } catch (fault) {
      // Decided a moment ago by somebody else's vote: the next round finds what became of it.
      if (!isNoSuchActivity(fault)) throw fault;
    }
    await pause(round);
  }
  throw changedAllTheTime(organizationId);
}

/** A vote on what is not there, or on what is over. Who has voted so already is shown what came of it. */
async function answerLateVote(
  room: SubmitRoom,
  request: StampedRequest,
  target: ActivityRow | undefined,
  selection: string,
): Promise<ActivityRecord> {
  const caller = await authenticate(room, request);
  if (target === undefined) throw noSuchActivity();
  return lateAnswer(await readReleased(room, request.organizationId, target, caller.userId), caller.userId, selection);
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

/** A stored activity, once everything about it has been released. */
async function readReleased(
  room: SubmitRoom,
  organizationId: string,
  row: ActivityRow,
  readerId: string,
): Promise<ActivityRecord> {
  const { store, committer } = room;
  const unreleased = await findUnreleasedLeaves(store, organizationId, row.activityId);
  let { result } = row;
  if (unreleased.length > 0) {
    for (const outcome of await committer.release(unreleased.map(toLeftover))) {
      if (outcome.kind === "refused") throw new Fault("unavailable", outcome.message);
      result = outcome.result ?? result;
    }
  } else if (row.status === "ACTIVITY_STATUS_COMPLETED" && result === null) {
    // Released since the row was read: its result was written in that same moment.
    const released = await findActivity(store, organizationId, row.activityId);
    result = released?.result ?? null;
  }
  const record = await readActivity(store, organizationId, { ...row, result }, readerId);
  // Over since it was found: what ended it must be released, too.
  return record.row.status === row.status ? record : readReleased(room, organizationId, record.row, readerId);
}

/** What was refused or failed inside its own request repeats the same error each time it is sent. */
function toAnswer(record: ActivityRecord, dialect: Dialect): SubmitAnswer {
  const { row, votes } = record;
  if (row.failure !== null && votes.length === 1) return { failure: JSON.parse(row.failure) as Failure };
  return { activity: activityView(record, dialect) };
}

async function pause(round: number): Promise<void> {
  if (round > 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(250, 2 ** round)));
}

/** Or a row that somebody has put in the way keeps every commit from being taken: the operator hears how to find it. */
function changedAllTheTime(organizationId: string): Fault {
  return new Fault("unavailable", "the organization is being changed by others all the time; try again", {
    cause: new Error(
      `organization ${organizationId}: no commit was taken in ${maxRounds} rounds; if nobody else changes it, ` +
        "stop the server and run `npx keystead check-database`",
    ),
  });
}
