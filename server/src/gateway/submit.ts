/** One submit, from raw bytes to answer. The stamp is the signer's to verify; this only carries, stores and repeats. */
import { randomUUID } from "node:crypto";
import type { Curves } from "@keystead/core/crypto/curves.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { AnyActivity } from "../endpoints/define_activity.ts";
import { type Envelope, readBody, readEnvelope, readOrganizationId } from "../endpoints/envelope.ts";
import type { Prepared } from "../frames/messages.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { sha256 } from "../state/digest.ts";
import type { User } from "../state/entities.ts";
import { type ActivityRow, findActivityByFingerprint } from "../store/activities.ts";
import type { CommitItem } from "../store/commit.ts";
import { findUnreleasedLeaves } from "../store/leaves.ts";
import type { Store } from "../store/store.ts";
import { activityView, type StoredVote } from "./activity_view.ts";
import { authenticateQuery } from "./authenticate_query.ts";
import { type Committer, toLeftover } from "./committer.ts";
import type { Dialect } from "./dialect.ts";
import type { Failure } from "./error_body.ts";
import { explainMismatch } from "./explain_schema.ts";
import type { Organizations } from "./organizations.ts";
import { stampParts } from "./stamp_header.ts";

export type SubmitRoom = {
  store: Store;
  curves: Curves;
  organizations: Organizations;
  committer: Committer;
  /** Why the signer cannot be used now, if so. */
  signerTrouble(): string | undefined;
};

export type SubmitAnswer = { activity: ReturnType<typeof activityView> } | { failure: Failure };

/** Another gateway may win several times in a row; each time is one more round against fresh state. */
const maxRounds = 40;
const likelyNewMs = 10_000;

export async function submit(
  room: SubmitRoom,
  activity: AnyActivity,
  body: Uint8Array,
  stamp: string,
  dialect: Dialect,
): Promise<SubmitAnswer> {
  const value = readBody(body);
  const organizationId = readOrganizationId(value);
  let envelope: Envelope;
  try {
    envelope = readActivity(activity, value);
  } catch (fault) {
    // A stranger hears that it is one, before anything about the body.
    await authenticateQuery(room.store, room.curves, organizationId, stamp, body, false);
    throw fault;
  }
  const { parameters, timestampMs } = envelope;
  const repeatedAnswer = async (): Promise<SubmitAnswer | undefined> => {
    const repeated = await findActivityByFingerprint(room.store, organizationId, toHex(sha256(body)));
    if (repeated === undefined) return undefined;
    await authenticateRepeat(room, organizationId, repeated, body, stamp);
    return answer(activity, organizationId, repeated, parameters, dialect);
  };
  // A body of this very moment is most likely new. If it is not, its journal, its unique fingerprint or a refusal makes us
  // look; a look before each would cost every new activity a query.
  let hasLooked = Math.abs(Date.now() - timestampMs) >= likelyNewMs;
  if (hasLooked) {
    const known = await repeatedAnswer();
    if (known !== undefined) return known;
  }
  for (let round = 0; round < maxRounds; round++) {
    try {
      const fresh = await executeOnce(room, organizationId, body, stamp);
      if (fresh !== undefined) return answer(activity, organizationId, fresh, parameters, dialect);
    } catch (fault) {
      const known = hasLooked ? undefined : await repeatedAnswer();
      if (known !== undefined) return known;
      throw fault;
    }
    if (round > 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(250, 2 ** round)));
    hasLooked = true;
    const known = await repeatedAnswer();
    if (known !== undefined) return known;
  }
  throw new Fault("unavailable", "the organization is being changed by others all the time; try again");
}

function readActivity(activity: AnyActivity, value: Record<string, unknown>): Envelope {
  const envelope = readEnvelope(value);
  const { type, parameters } = envelope;
  if (type !== activity.type) {
    throw new Fault("invalid_argument", `Invalid activity type: \`${type}\` does not belong to ${activity.path}`);
  }
  if (activityValidators[activity.path]?.(parameters) !== true) {
    throw explainMismatch(activity.params, parameters, "parameters");
  }
  return envelope;
}

/** Prepares, commits and has released. Undefined when somebody else changed the organization, or did this very act. */
async function executeOnce(
  room: SubmitRoom,
  organizationId: string,
  body: Uint8Array,
  stamp: string,
): Promise<ActivityRow | undefined> {
  const trouble = room.signerTrouble();
  if (trouble !== undefined) throw new Fault("unavailable", trouble);
  let decided: Awaited<ReturnType<Organizations["prepare"]>>;
  try {
    decided = await room.organizations.prepare(organizationId, body, stamp);
  } catch (error) {
    // The signer has executed these bytes: they are stored, or about to be. The next round finds them.
    if (error instanceof Fault && error.code === "already_exists") return undefined;
    if (error instanceof Fault && error.code === "aborted") return undefined;
    if (error instanceof Fault && error.errorCode === "PUBLIC_KEY_NOT_FOUND") {
      return refuseParent(room, organizationId, body, stamp);
    }
    throw error;
  }
  const { prepared, run } = decided;
  const row = toRow(prepared, body, stamp);
  const outcome = await room.committer.commit(toCommitItem(prepared, row), run);
  if (outcome.kind === "conflict") return undefined;
  return outcome.result === undefined ? row : { ...row, result: outcome.result };
}

/** The signer looks no further than the organization itself; a member of its parent is told that reading is all it may. */
async function refuseParent(
  { store, curves }: SubmitRoom,
  organizationId: string,
  body: Uint8Array,
  stamp: string,
): Promise<undefined> {
  const caller = await authenticateQuery(store, curves, organizationId, stamp, body, false);
  if (caller.organizationId === organizationId) return; // Added a moment ago: the next round is decided on newer state.
  throw new Fault(
    "invalid_argument",
    `organization mismatch: request is targeting organization ("${organizationId}"), but voters are in organization ("${caller.organizationId}")`,
    { errorCode: "ORGANIZATION_MISMATCH" },
  );
}

/** The same bytes again, by anyone who may read them: the same answer, once it has been released. */
async function authenticateRepeat(
  { store, curves, committer }: SubmitRoom,
  organizationId: string,
  row: ActivityRow,
  body: Uint8Array,
  stamp: string,
): Promise<void> {
  await authenticateQuery(store, curves, organizationId, stamp, body, false);
  const unreleased = await findUnreleasedLeaves(store, organizationId, row.activityId);
  if (unreleased.length > 0) {
    for (const outcome of await committer.release(unreleased.map(toLeftover))) {
      if (outcome.kind === "refused") throw new Fault("unavailable", outcome.message);
      if (outcome.result !== undefined) row.result = outcome.result;
    }
  }
}

/** What was refused or failed inside its request repeats the same error each time it is sent. */
function answer(
  activity: AnyActivity,
  organizationId: string,
  row: ActivityRow,
  parameters: unknown,
  dialect: Dialect,
): SubmitAnswer {
  if (row.failure !== null) return { failure: JSON.parse(row.failure) as Failure };
  return { activity: activityView(activity, organizationId, row, parameters, dialect) };
}

function toRow(prepared: Prepared, body: Uint8Array, stamp: string): ActivityRow {
  const { activity } = prepared;
  if (activity === undefined) throw new Fault("internal", "the signer prepared no activity");
  const { publicKey, scheme, signature } = stampParts(stamp);
  const vote: StoredVote = {
    id: randomUUID(),
    user: JSON.parse(activity.user) as User,
    selection: "VOTE_SELECTION_APPROVED",
    publicKey,
    signature,
    scheme,
    createdAtMs: activity.createdAtMs,
  };
  return {
    activityId: activity.activityId,
    fingerprint: toHex(activity.fingerprint),
    type: activity.type,
    status: activity.status,
    body,
    result: activity.result ?? null,
    failure: activity.failure ?? null,
    votes: JSON.stringify([vote]),
    slot: activity.slot ?? null,
    createdAtMs: activity.createdAtMs,
    updatedAtMs: activity.createdAtMs,
  };
}

export function toCommitItem(prepared: Prepared, activity: ActivityRow | undefined): CommitItem {
  const { organizationId, expectedVersion, expectedHeader, birth, next, changes, boot, number, leaf, sealed } =
    prepared;
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
    leaf: { boot: toHex(boot), number, leaf, ...(sealed && { sealed }) },
    ...(activity && { activity }),
  };
}
