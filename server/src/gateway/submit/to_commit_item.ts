/** What one transaction holds of a decision, from the signer's reply and the request. */
import { randomUUID } from "node:crypto";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { shownEvidence } from "../../evidence/evidence.ts";
import type { Prepared } from "../../frames/messages.ts";
import { activityForms } from "../../generated/activities.ts";
import { shownBody } from "../../rules/bearer_params.ts";
import type { User } from "../../state/entities.ts";
import type { ActivityRow } from "../../store/activities.ts";
import type { CommitItem } from "../../store/commit_item.ts";
import type { NewContactClaim } from "../../store/contact_claims.ts";
import { dayOf } from "../../store/refused_bytes.ts";
import type { StoredVote } from "../../views/activity_view.ts";
import { refusedBytesOf } from "./refusal_budget.ts";
import type { StampedRequest } from "./stamped_request.ts";

type PreparedActivity = NonNullable<Prepared["activity"]>;

function toVote(activity: PreparedActivity, { body, evidence, vote }: StampedRequest): StoredVote {
  const user = readUser(activity.user);
  return {
    id: randomUUID(),
    user,
    selection: vote?.selection ?? "VOTE_SELECTION_APPROVED",
    ...(vote !== undefined && { message: Buffer.from(body).toString("utf8") }),
    ...shownEvidence(evidence, user),
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
    body: request.vote?.target.body ?? storedForm(activity.type, request.body),
    result: activity.result ?? null,
    failure: activity.failure ?? null,
    // Later votes have rows of their own; the activity's row keeps what it was submitted with.
    votes: JSON.stringify(activity.isNew ? [vote] : []),
    slot: activity.slot ?? null,
    createdAtMs: activity.createdAtMs,
    updatedAtMs: activity.updatedAtMs,
  };
}

/** What a row has of a body. */
function storedForm(type: string, body: Uint8Array): Uint8Array {
  const form = activityForms.get(type);
  return (form && shownBody(form, body)) ?? body;
}

function toVoteRow(activityId: string, vote: StoredVote): NonNullable<CommitItem["vote"]> {
  return { activityId, voteId: vote.id, vote: JSON.stringify(vote), createdAtMs: vote.createdAtMs };
}

/** Everything of one activity: its own rows, and those of the organizations that it creates. */
export type ActivityItem = { item: CommitItem; row: ActivityRow; vote: StoredVote; isNew: boolean };

export function toActivityItem([own, ...births]: readonly Prepared[], request: StampedRequest): ActivityItem {
  const activity = own?.activity;
  if (own === undefined || activity === undefined) throw new Fault("internal", "the signer prepared no activity");
  const vote = toVote(activity, request);
  const row = toRow(activity, vote, request);
  const item: CommitItem = {
    ...toCommitItem(own),
    activity: row,
    births: births.map(toCommitItem),
    ...(activity.sealedBody && { sealedBody: activity.sealedBody }),
    ...toAppProofs(own),
    ...(request.keyed && {
      idempotency: { ...request.keyed, userId: vote.user.userId, createdAtMs: activity.updatedAtMs },
    }),
    ...(request.signUp && births.length > 0 && { signUpIdentities: request.signUp.identities }),
    ...(!activity.isNew && { vote: toVoteRow(activity.activityId, vote) }),
  };
  // What refuses an activity that waited is a change of state, and is always stored.
  if (activity.isNew && row.failure !== null) {
    const { userId } = vote.user;
    const day = dayOf(activity.updatedAtMs);
    item.refused = { organizationId: callersOrganization(own), userId, day, bytes: refusedBytesOf(item) };
  }
  return { item, row, vote, isNew: activity.isNew };
}

/** Whose user the caller is. Where a parent acts in its sub-organization, the head that must stand as well is the parent's. */
function callersOrganization({ organizationId, standing: [parent] }: Prepared): string {
  return parent?.organizationId ?? organizationId;
}

function toAppProofs({ proofs, context }: Prepared): Pick<CommitItem, "appProofs"> {
  if (proofs === undefined || context === undefined) return {};
  return { appProofs: { sealed: proofs, contexts: context } };
}

function toClaim(mark: Prepared["marks"][number]): NewContactClaim {
  return { ...mark, createdAtMs: Date.now() };
}

export function toCommitItem(prepared: Prepared): CommitItem {
  const { organizationId, expectedVersion, expectedHeader, birth, next, changes, records, boot, number, leaf, sealed } =
    prepared;
  const { evaluations, explanation, made, disclosed, closed, outbox, standing } = prepared;
  return {
    organizationId,
    expectedVersion,
    ...(expectedHeader && { expectedHeader }),
    ...(standing.length > 0 && { standing }),
    ...(birth && {
      birth: {
        organizationName: birth.organizationName,
        ...(birth.parentId !== undefined && { parentId: birth.parentId }),
        ...(birth.keyring !== undefined && { keyring: birth.keyring }),
      },
    }),
    ...(next && { next }),
    changes,
    ...(prepared.marks.length > 0 && { contactClaims: prepared.marks.map(toClaim) }),
    ...(prepared.codes.length > 0 && { codes: prepared.codes }),
    ...(prepared.spentCode && { spentCode: prepared.spentCode }),
    ...(records.length > 0 && { records }),
    ...(outbox.length > 0 && { outbox }),
    leaf: { boot: toHex(boot), number, leaf, ...(sealed && { sealed }), ...(made && { made }) },
    ...(disclosed.length > 0 && { disclosed }),
    ...(closed.length > 0 && { closed }),
    ...(evaluations && { evaluations }),
    ...(explanation !== undefined && { explanation }),
  };
}
