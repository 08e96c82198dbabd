/** What a group writes, per organization and table: chains collapsed to their last word, in an order free of deadlocks. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { Work } from "@keystead/core/work.ts";
import type { Change } from "../state/entities.ts";
import { entityKinds } from "../state/entity_kinds.ts";
import type { CommitItem } from "./commit_item.ts";
import { claimKey, contactClaimRow } from "./contact_claims.ts";
import { cuttingContent } from "./context_pieces.ts";
import { disclosureRow } from "./disclosures.ts";
import { addEntity, type NewText } from "./entity_plan.ts";
import { refuseNul } from "./entity_rows.ts";
import { isTabled } from "./entity_tables.ts";
import { finalStatuses } from "./final_statuses.ts";
import { addClaims, clashes } from "./key_clashes.ts";
import { addKeyFacts, addKeyRow, addTaggedPrivateKeys, type ReadRecords, readRecords } from "./key_rows.ts";
import { newPlan, type OrganizationPlan } from "./organization_plan.ts";
import { spentPlace } from "./otp_codes.ts";
import type { Tables } from "./tables.ts";

export type GroupPlan = { plans: OrganizationPlan[]; planOf: (OrganizationPlan | undefined)[] };

/**
 * Sorted by id, with the plan of each item. An item that does not continue its organization's chain has none, nor has
 * any after it: those may have been prepared on a state that it was to produce. Pauses where long contexts are cut.
 */
export function* planningGroup(items: readonly CommitItem[]): Work<GroupPlan> {
  const plans = new Map<string, OrganizationPlan>();
  const broken = new Set<string>();
  const planOf: GroupPlan["planOf"] = [];
  for (const item of items) {
    const { organizationId } = item;
    const plan = plans.get(organizationId) ?? newPlan(item);
    const read = readItem(item);
    if (broken.has(organizationId) || !continues(plan, item) || clashes(plan.keys, read.keyRows, read.changes)) {
      broken.add(organizationId);
      planOf.push(undefined);
      continue;
    }
    plans.set(organizationId, plan);
    yield* adding(plan, item, read);
    planOf.push(plan);
  }
  const sorted = [...plans.values()].sort((a, b) => (a.organizationId < b.organizationId ? -1 : 1));
  return { plans: sorted, planOf };
}

type ReadItem = ReadRecords & { changes: readonly Change[] };

function readItem({ organizationId, next, records = [], changes: told }: CommitItem): ReadItem {
  const changes: readonly Change[] = typeof told === "string" ? JSON.parse(told) : told;
  if (records.length === 0) return { keyRows: [], texts: [], changes };
  if (next === undefined) throw new Fault("internal", "an item with records produces no state");
  return { ...readRecords(organizationId, next.version, records), changes };
}

function continues(plan: OrganizationPlan, item: CommitItem): boolean {
  const { expectedVersion, expectedHeader, standing = [], birth, activity, idempotency } = item;
  const header = plan.head?.header;
  if (header !== undefined && expectedHeader !== undefined && Buffer.compare(header, expectedHeader) !== 0)
    return false;
  if (expectedVersion !== undefined && expectedVersion !== plan.version) return false;
  if (birth !== undefined && plan.leaves.length > 0) return false;
  // Of two states of one parent, one at most is its newest.
  const isOther = ({ organizationId, header: wanted }: { organizationId: string; header: Uint8Array }) => {
    const known = plan.standing.get(organizationId);
    return known !== undefined && Buffer.compare(known, wanted) !== 0;
  };
  if (standing.some(isOther)) return false;
  // Two under one key: the first stands, and the second finds it. Together they would take each other back, again and again.
  const isTaken = ({ user_id, idempotency_key }: Tables["idempotency_keys"]) =>
    user_id === idempotency?.userId && idempotency_key === idempotency.idempotencyKey;
  if (idempotency !== undefined && plan.idempotencyKeys.some(isTaken)) return false;
  // Two answers to one code in a group: the first stands, and the second is told so when it comes again.
  const { spentCode } = item;
  if (spentCode !== undefined && plan.otpAttempts.some(({ otp_id }) => otp_id === spentCode.otpId)) return false;
  // Two sign-ups with one identity in a group: likewise.
  const { signUpIdentities = [] } = item;
  if (plan.signUpClaims.some(({ identity }) => signUpIdentities.includes(identity))) return false;
  if (claimsTwice(plan, item)) return false;
  const earlier = activity && plan.activities.get(activity.activityId);
  return earlier === undefined || !finalStatuses.some((status) => status === earlier.status);
}

/** Two users who verify one contact in a group: likewise. */
function claimsTwice(plan: OrganizationPlan, { contactClaims = [], births = [] }: CommitItem): boolean {
  const plans = [plan, ...plan.births];
  return [...contactClaims, ...births.flatMap((birth) => birth.contactClaims ?? [])].some((claim) =>
    plans.some((each) => {
      const known = each.contactClaims.get(claimKey(claim));
      return known !== undefined && known.user_id !== claim.userId;
    }),
  );
}

function* adding(plan: OrganizationPlan, item: CommitItem, { keyRows, texts, changes }: ReadItem): Work<void> {
  const { birth, next } = item;
  if (next === undefined && (birth !== undefined || changes.length > 0)) {
    throw new Fault("internal", "an item that changes something produces no state");
  }
  if (birth !== undefined) refuseNul(birth.organizationName);
  for (const { organizationId, header } of item.standing ?? []) plan.standing.set(organizationId, header);
  for (const child of item.births ?? []) {
    const childPlan = newPlan(child);
    yield* adding(childPlan, child, readItem(child));
    plan.births.push(childPlan);
  }
  const said = toSaid(item);
  addVote(plan, item, said);
  addCodes(plan, item);
  addIdempotencyKey(plan, item);
  addSignUpClaims(plan, item);
  addContactClaims(plan, item);
  addRefused(plan, item);
  addMessages(plan, item);
  addBootProof(plan, item);
  addClaims(plan.keys, keyRows, changes);
  for (const row of keyRows) addKeyRow(plan.keys, row);
  for (const change of changes) addChange(plan, change, texts);
  if (next !== undefined) addState(plan, next);
  addLeaf(plan, item);
  for (const content of item.disclosed ?? []) plan.disclosures.push(disclosureRow(plan.organizationId, content));
  for (const { digest, sealed, endsAtMs } of item.closed ?? []) {
    const { organizationId } = plan;
    plan.sealedDisclosures.push({
      organization_id: organizationId,
      digest: toHex(digest),
      sealed,
      ends_at_ms: endsAtMs,
    });
  }
  addActivity(plan, item, said);
  addSealedBody(plan, item);
  yield* addingAppProofs(plan, item);
}

function addSealedBody({ organizationId, sealedBodies }: OrganizationPlan, { activity, sealedBody }: CommitItem): void {
  if (sealedBody === undefined) return;
  if (activity === undefined) throw new Fault("internal", "a body comes without its activity");
  const { sealed, endsAtMs } = sealedBody;
  sealedBodies.push({
    organization_id: organizationId,
    activity_id: activity.activityId,
    sealed,
    ends_at_ms: endsAtMs,
  });
}

function* addingAppProofs(
  { organizationId, ...plan }: OrganizationPlan,
  { activity, leaf, appProofs }: CommitItem,
): Work<void> {
  if (appProofs === undefined) return;
  if (activity === undefined) throw new Fault("internal", "app proofs come without their activity");
  plan.appProofs.push({
    organization_id: organizationId,
    activity_id: activity.activityId,
    boot: leaf.boot,
    number: leaf.number,
    sealed: appProofs.sealed,
    proofs: null,
  });
  for (const part of appProofs.contexts) {
    for (const { digest, ownerId, content } of yield* cuttingContent(part.content, part.ownerId)) {
      plan.decisionContexts.set(digest, { organization_id: organizationId, digest, owner_id: ownerId, content });
    }
  }
}

function addVote({ organizationId, votes }: OrganizationPlan, { vote }: CommitItem, said: Said): void {
  if (vote === undefined) return;
  refuseNul(vote.vote);
  votes.push({
    organization_id: organizationId,
    activity_id: vote.activityId,
    vote_id: vote.voteId,
    vote: vote.vote,
    ...said,
    created_at_ms: vote.createdAtMs,
  });
}

function addCodes({ organizationId, otpCodes, otpAttempts }: OrganizationPlan, item: CommitItem): void {
  const { activity, codes = [], spentCode } = item;
  if (codes.length === 0 && spentCode === undefined) return;
  if (activity === undefined) throw new Fault("internal", "a code comes without its activity");
  const created_at_ms = activity.updatedAtMs;
  for (const { otpId, content } of codes) {
    otpCodes.push({ organization_id: organizationId, otp_id: otpId, record: content, created_at_ms });
  }
  if (spentCode === undefined) return;
  otpAttempts.push({
    organization_id: organizationId,
    otp_id: spentCode.otpId,
    place: spentPlace,
    fingerprint: activity.fingerprint,
    created_at_ms,
  });
}

function addIdempotencyKey({ organizationId, idempotencyKeys }: OrganizationPlan, item: CommitItem): void {
  const { idempotency, activity } = item;
  if (idempotency === undefined || activity === undefined) return;
  idempotencyKeys.push({
    organization_id: organizationId,
    user_id: idempotency.userId,
    idempotency_key: idempotency.idempotencyKey,
    request: idempotency.request,
    fingerprint: activity.fingerprint,
    created_at_ms: idempotency.createdAtMs,
  });
}

function addSignUpClaims({ organizationId, signUpClaims }: OrganizationPlan, item: CommitItem): void {
  const { signUpIdentities = [], activity, births = [] } = item;
  const [born] = births;
  // A sign-up that failed claims nothing.
  if (born === undefined || activity === undefined) return;
  for (const identity of signUpIdentities) {
    refuseNul(identity);
    signUpClaims.push({
      organization_id: organizationId,
      identity,
      sub_organization_id: born.organizationId,
      created_at_ms: activity.updatedAtMs,
    });
  }
}

function addContactClaims({ organizationId, contactClaims }: OrganizationPlan, item: CommitItem): void {
  for (const claim of item.contactClaims ?? []) {
    refuseNul(claim.contact);
    contactClaims.set(claimKey(claim), contactClaimRow(organizationId, claim));
  }
}

function addRefused({ refusedBytes }: OrganizationPlan, { refused }: CommitItem): void {
  if (refused === undefined) return;
  const { organizationId, userId, day, bytes } = refused;
  const name = `${organizationId} ${userId} ${day}`;
  const earlier = refusedBytes.get(name)?.bytes ?? 0;
  refusedBytes.set(name, { organization_id: organizationId, user_id: userId, day, bytes: earlier + bytes });
}

function addMessages(
  { organizationId, outbox }: OrganizationPlan,
  { activity, outbox: messages = [] }: CommitItem,
): void {
  for (const { messageId, channel, sealed, expiresAtMs, toAddress, fromAddress } of messages) {
    if (activity === undefined) throw new Fault("internal", "a message comes without its activity");
    const { activityId, updatedAtMs } = activity;
    outbox.push({
      organization_id: organizationId,
      message_id: messageId,
      activity_id: activityId,
      channel,
      sealed,
      state: "PENDING",
      attempts: 0,
      next_attempt_at_ms: updatedAtMs,
      claimed_by: null,
      error: null,
      expires_at_ms: expiresAtMs,
      created_at_ms: updatedAtMs,
      updated_at_ms: updatedAtMs,
      to_address: toAddress ?? null,
      from_address: fromAddress ?? null,
    });
  }
}

function addBootProof({ organizationId, bootProofs, loadedFiles }: OrganizationPlan, item: CommitItem): void {
  const { bootProof, leaf } = item;
  if (bootProof === undefined) return;
  const { ephemeralKey, proof, createdAtMs, files } = bootProof;
  bootProofs.push({
    organization_id: organizationId,
    ephemeral_key: ephemeralKey,
    boot: leaf.boot,
    proof,
    files_digest: files.digest,
    created_at_ms: createdAtMs,
  });
  loadedFiles.push({ organization_id: organizationId, ...files });
}

function addState(plan: OrganizationPlan, next: NonNullable<CommitItem["next"]>): void {
  if (plan.version === undefined) throw new Fault("internal", "an item that was decided on no state changes one");
  if (next.version <= plan.version) throw new Fault("internal", "versions of an organization only grow");
  plan.version = next.version;
  plan.head = next;
  for (const { name, content } of next.pages) {
    plan.pages.set(name, { organization_id: plan.organizationId, name, content });
  }
}

function addLeaf({ organizationId, leaves }: OrganizationPlan, { leaf, next, activity }: CommitItem): void {
  leaves.push({
    organization_id: organizationId,
    boot: leaf.boot,
    number: leaf.number,
    version: next?.version ?? null,
    activity_id: activity?.activityId ?? null,
    leaf: leaf.leaf,
    header: next?.header ?? null,
    sealed: leaf.sealed ?? null,
    made: leaf.made ?? null,
  });
}

function addActivity({ organizationId, activities }: OrganizationPlan, item: CommitItem, said: Said): void {
  const { activity, next } = item;
  if (activity === undefined) return;
  refuseNul(activity.votes, activity.result, activity.failure);
  if (activity.slot !== null && next === undefined) {
    throw new Fault("internal", "a journal lists an activity that produces no state");
  }
  const earlier = activities.get(activity.activityId);
  activities.set(activity.activityId, {
    organization_id: organizationId,
    activity_id: activity.activityId,
    fingerprint: activity.fingerprint,
    type: activity.type,
    status: activity.status,
    body: activity.body,
    result: activity.result,
    failure: activity.failure,
    // The submission's own vote stays, whatever becomes of the activity in the same group.
    votes: earlier?.votes ?? activity.votes,
    ...(earlier === undefined ? said : { evaluations: earlier.evaluations, explanation: earlier.explanation }),
    slot: activity.slot,
    state_version: next?.version ?? null,
    created_at_ms: activity.createdAtMs,
    updated_at_ms: activity.updatedAtMs,
  });
}

type Said = Pick<Tables["votes"], "evaluations" | "explanation">;

/** What policies said about the vote that an item brings: the submission's own, or a later one. */
function toSaid({ evaluations, explanation }: CommitItem): Said {
  refuseNul(explanation);
  return { evaluations: evaluations ?? null, explanation: explanation ?? null };
}

/** Applies a change to the rows that show entities of its kind. */
function addChange(plan: OrganizationPlan, change: Change, texts: readonly NewText[]): void {
  const { kind } = change;
  if (isTabled(kind)) {
    addEntity(plan.entities, kind, plan.organizationId, change as never, texts);
    return;
  }
  if (change.op === "remove") {
    if ("id" in entityKinds[change.kind]) return;
    throw new Fault("internal", `a ${kind} cannot be removed`);
  }
  if (change.kind === "settings") {
    refuseNul(change.value.organizationName);
    plan.settings = change.value;
  } else if (change.kind === "taggedPrivateKeys") addTaggedPrivateKeys(plan.keys, change.value);
  else if (change.kind === "keyFacts") {
    refuseNul(change.value.name);
    addKeyFacts(plan.keys, change.value);
  }
}

/** The row of an organization that is born. Its name and times are its settings'. */
export function organizationRow(
  plan: OrganizationPlan & { birth: NonNullable<OrganizationPlan["birth"]> },
): Tables["organizations"] {
  const { organizationId, birth, head, settings } = plan;
  if (head === undefined) throw new Fault("internal", "an organization is born without a state");
  const [activity] = plan.activities.values();
  const bornAtMs = activity?.created_at_ms ?? Date.now();
  return {
    organization_id: organizationId,
    parent_id: birth.parentId ?? null,
    organization_name: settings?.organizationName ?? birth.organizationName,
    version: head.version,
    header: head.header,
    directory: head.directory,
    created_at_ms: settings?.createdAtMs ?? bornAtMs,
    updated_at_ms: settings?.updatedAtMs ?? bornAtMs,
    deleted_at_ms: null,
  };
}
