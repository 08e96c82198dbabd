/** One round of a submit: the signer prepares, the database commits, the signer releases. */
import { randomUUID } from "node:crypto";
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { shownEvidence } from "../../evidence/evidence.ts";
import { isInvalidEvidence, isUnknownCredential } from "../../evidence/faults.ts";
import type { Prepared } from "../../frames/messages.ts";
import type { User } from "../../state/entities.ts";
import type { RecordWish } from "../../state/record_wish.ts";
import { passed } from "../../state/steps.ts";
import { type ActivityRow, findActivity } from "../../store/activities.ts";
import type { CommitItem } from "../../store/commit_item.ts";
import { dayOf } from "../../store/refused_bytes.ts";
import { type ActivityRecord, noRights, type StoredVote } from "../../views/activity_view.ts";
import { readActivity, waitingStatus } from "../../views/read_activity.ts";
import type { Repeats } from "../bounds/repeats.ts";
import { type AuthenticateRoom, authenticateQuery, claimedCredential } from "../evidence/authenticate_query.ts";
import type { Committer } from "./committer.ts";
import type { KeyedRequest } from "./idempotency.ts";
import type { Organizations } from "./organizations.ts";
import { refusedBytesOf } from "./refusal_budget.ts";

export type SubmitRoom = AuthenticateRoom & {
  organizations: Organizations;
  committer: Committer;
  repeats: Repeats;
  /** Why the signer cannot be used now, if so. */
  signerTrouble(): string | undefined;
};

export type StampedRequest = {
  organizationId: string;
  body: Uint8Array;
  evidence: SentEvidence;
  keyed?: KeyedRequest | undefined;
  /** Of the body, once it has been read. */
  parameters?: unknown;
  /** The records that the activity looks at. */
  records: readonly RecordWish[];
  /** What it costs the signer, or what it votes on does. */
  cost: number;
  /** The activity that this request votes on, and how. */
  vote?: { target: ActivityRow; selection: StoredVote["selection"] };
};

/** Undefined when somebody else changed the organization, or did this very act: look again, then come again. */
export async function executeOnce(room: SubmitRoom, request: StampedRequest): Promise<ActivityRecord | undefined> {
  const trouble = room.signerTrouble();
  if (trouble !== undefined) throw new Fault("unavailable", trouble);
  let caller: string | undefined;
  if (isWary(room, request)) {
    const { organizationId, evidence, body } = request;
    caller = (await authenticateQuery(room, organizationId, evidence, body, "named")).userId;
  }
  let decided: Awaited<ReturnType<Organizations["prepare"]>>;
  try {
    decided = await room.organizations.prepare(request.organizationId, {
      body: request.body,
      evidence: request.evidence,
      target: request.vote?.target.body,
      records: request.records,
      cost: request.cost,
      caller,
    });
  } catch (error) {
    // The signer has executed these bytes: they are stored, or about to be. The next round finds them.
    if (error instanceof Fault && (error.code === "already_exists" || error.code === "aborted")) return undefined;
    if (isUnknownCredential(error)) return refuseParent(room, request);
    if (isInvalidEvidence(error)) {
      // Evidence that cannot even be read names no credential: it is refused here, in the same words.
      room.doubts?.note(request.organizationId, claimedCredential(room, request.evidence));
    }
    throw error;
  }
  passed("prepared");
  const [own, ...births] = decided.prepared;
  const activity = own?.activity;
  if (own === undefined || activity === undefined) throw new Fault("internal", "the signer prepared no activity");
  const vote = toVote(activity, request);
  const row = toRow(activity, vote, request);
  const item: CommitItem = {
    ...toCommitItem(own),
    activity: row,
    births: births.map(toCommitItem),
    ...(request.keyed && {
      idempotency: { ...request.keyed, userId: vote.user.userId, createdAtMs: activity.updatedAtMs },
    }),
    ...(!activity.isNew && { vote: toVoteRow(activity.activityId, vote) }),
  };
  // What refuses an activity that waited is a change of state, and is always stored.
  if (activity.isNew && row.failure !== null) {
    const { userId } = vote.user;
    item.refused = { userId, day: dayOf(activity.updatedAtMs), bytes: refusedBytesOf(item) };
  }
  const outcome = await room.committer.commit(item, decided.run);
  if (outcome.kind === "conflict") return undefined;
  const { organizationId } = request;
  if (activity.isNew) {
    const result = outcome.result ?? row.result;
    // The submitter has approved by submitting, and may take it back.
    const rights = row.status === waitingStatus ? { canApprove: false, canReject: true } : noRights;
    return { organizationId, row: { ...row, result }, votes: [vote], rights, parameters: request.parameters };
  }
  const stored = await findActivity(room.store, organizationId, row.activityId);
  if (stored === undefined) throw new Fault("internal", "a committed activity is not there");
  const read = await readActivity(room.store, organizationId, stored, vote.user.userId);
  // A sealed result is written to its row with the next group only.
  return outcome.result === undefined ? read : { ...read, row: { ...read.row, result: outcome.result } };
}

/** More look-ups than these are not made for a stranger. */
const manyRecords = 16;
/** Nor does a stranger take the place of a request that costs more. */
const muchCost = 10_000;

/**
 * Whether a stamp is verified here before the signer verifies it all the same: where it is likely to be a stranger's, or where a
 * stranger would take a place in the queue or cause a lot of look-ups before the signer sees its stamp.
 */
function isWary(room: SubmitRoom, request: StampedRequest): boolean {
  const { organizations, doubts } = room;
  const { organizationId, records, evidence, cost } = request;
  if (organizations.isCrowded(organizationId) || records.length > manyRecords || cost > muchCost) return true;
  if (doubts === undefined || doubts.areNone()) return false;
  return doubts.has(organizationId, claimedCredential(room, evidence));
}

/** The signer looks no further than the organization itself; a member of its parent is told that reading is all it may. */
async function refuseParent(room: SubmitRoom, request: StampedRequest): Promise<undefined> {
  const { organizationId, body, evidence } = request;
  const caller = await authenticateQuery(room, organizationId, evidence, body, "named");
  if (caller.organizationId === organizationId) return; // Added a moment ago: the next round is decided on newer state.
  throw organizationMismatch(organizationId, caller.organizationId);
}

export function organizationMismatch(target: string, own: string): Fault {
  return new Fault(
    "invalid_argument",
    `organization mismatch: request is targeting organization ("${target}"), but voters are in organization ("${own}")`,
    { errorCode: "ORGANIZATION_MISMATCH" },
  );
}

type PreparedActivity = NonNullable<Prepared["activity"]>;

function toVote(activity: PreparedActivity, { body, evidence, vote }: StampedRequest): StoredVote {
  const { publicKey, scheme, signature } = shownEvidence(evidence);
  return {
    id: randomUUID(),
    user: readUser(activity.user),
    selection: vote?.selection ?? "VOTE_SELECTION_APPROVED",
    ...(vote !== undefined && { message: Buffer.from(body).toString("utf8") }),
    publicKey,
    signature,
    scheme,
    createdAtMs: activity.updatedAtMs,
  };
}

/** As the signer wrote them. The same few submit again and again, and each of their requests would keep a copy until it is answered. */
const users = new Map<string, User>();
const maxUsers = 1_000;

function readUser(json: string): User {
  const known = users.get(json);
  if (known !== undefined) return known;
  if (users.size >= maxUsers) users.clear();
  const user = JSON.parse(json) as User;
  users.set(json, user);
  return user;
}

function toRow(activity: PreparedActivity, vote: StoredVote, request: StampedRequest): ActivityRow {
  return {
    activityId: activity.activityId,
    fingerprint: toHex(activity.fingerprint),
    type: activity.type,
    status: activity.status,
    body: request.vote?.target.body ?? request.body,
    result: activity.result ?? null,
    failure: activity.failure ?? null,
    // Later votes have rows of their own; the activity's row keeps what it was submitted with.
    votes: JSON.stringify(activity.isNew ? [vote] : []),
    slot: activity.slot ?? null,
    createdAtMs: activity.createdAtMs,
    updatedAtMs: activity.updatedAtMs,
  };
}

function toVoteRow(activityId: string, vote: StoredVote): NonNullable<CommitItem["vote"]> {
  return { activityId, voteId: vote.id, vote: JSON.stringify(vote), createdAtMs: vote.createdAtMs };
}

export function toCommitItem(prepared: Prepared): CommitItem {
  const { organizationId, expectedVersion, expectedHeader, birth, next, changes, records, boot, number, leaf, sealed } =
    prepared;
  const { evaluations, explanation, made } = prepared;
  return {
    organizationId,
    expectedVersion,
    ...(expectedHeader && { expectedHeader }),
    ...(birth && {
      birth: {
        organizationName: birth.organizationName,
        ...(birth.parentId !== undefined && { parentId: birth.parentId }),
        ...(birth.keyring !== undefined && { keyring: birth.keyring }),
      },
    }),
    ...(next && { next }),
    changes: JSON.parse(changes),
    ...(records.length > 0 && { records }),
    leaf: { boot: toHex(boot), number, leaf, ...(sealed && { sealed }), ...(made && { made }) },
    ...(evaluations && { evaluations }),
    ...(explanation !== undefined && { explanation }),
  };
}
