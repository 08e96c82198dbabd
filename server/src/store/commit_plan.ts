/** What a group writes, per organization and table: chains collapsed to their last word, in an order free of deadlocks. */
import { Fault } from "@keystead/core/fault.ts";
import type { Change, User, UserTag } from "../state/entities.ts";
import type { CommitItem } from "./commit_item.ts";
import { finalStatuses } from "./final_statuses.ts";
import { addClaims, clashes } from "./key_clashes.ts";
import { addKeyFacts, addKeyRow, addTaggedPrivateKeys, type ReadRecords, readRecords } from "./key_rows.ts";
import { newPlan, type OrganizationPlan } from "./organization_plan.ts";
import { interfaceRow, type NewInterface, policyRow } from "./policy_rows.ts";
import type { Tables } from "./tables.ts";

/**
 * Sorted by id, with the plan of each item. An item that does not continue its organization's chain has none, nor has
 * any after it: those may have been prepared on a state that it was to produce.
 */
export function planGroup(items: readonly CommitItem[]): {
  plans: OrganizationPlan[];
  planOf: (OrganizationPlan | undefined)[];
} {
  const plans = new Map<string, OrganizationPlan>();
  const broken = new Set<string>();
  const planOf = items.map((item) => {
    const { organizationId } = item;
    const plan = plans.get(organizationId) ?? newPlan(item);
    const read = recordsOf(item);
    if (broken.has(organizationId) || !continues(plan, item) || clashes(plan.keys, read.keyRows, item.changes)) {
      broken.add(organizationId);
      return undefined;
    }
    plans.set(organizationId, plan);
    add(plan, item, read);
    return plan;
  });
  const sorted = [...plans.values()].sort((a, b) => (a.organizationId < b.organizationId ? -1 : 1));
  return { plans: sorted, planOf };
}

function recordsOf({ organizationId, next, records = [] }: CommitItem): ReadRecords {
  if (records.length === 0) return { keyRows: [], texts: [] };
  if (next === undefined) throw new Fault("internal", "an item with records produces no state");
  return readRecords(organizationId, next.version, records);
}

function continues(plan: OrganizationPlan, item: CommitItem): boolean {
  const { expectedVersion, expectedHeader, birth, activity, idempotency } = item;
  const header = plan.head?.header;
  if (header !== undefined && expectedHeader !== undefined && Buffer.compare(header, expectedHeader) !== 0)
    return false;
  if (expectedVersion !== plan.version || (birth !== undefined && plan.leaves.length > 0)) return false;
  // Two under one key: the first stands, and the second finds it. Together they would take each other back, again and again.
  const isTaken = ({ user_id, idempotency_key }: Tables["idempotency_keys"]) =>
    user_id === idempotency?.userId && idempotency_key === idempotency.idempotencyKey;
  if (idempotency !== undefined && plan.idempotencyKeys.some(isTaken)) return false;
  const earlier = activity && plan.activities.get(activity.activityId);
  return earlier === undefined || !finalStatuses.some((status) => status === earlier.status);
}

function add(plan: OrganizationPlan, item: CommitItem, { keyRows, texts }: ReadRecords): void {
  const { birth, next, changes, leaf, activity, vote, idempotency, refused } = item;
  const said = toSaid(item);
  const { organizationId } = plan;
  for (const child of item.births ?? []) {
    const childPlan = newPlan(child);
    add(childPlan, child, recordsOf(child));
    plan.births.push(childPlan);
  }
  if (vote !== undefined) {
    refuseNul(vote.vote);
    plan.votes.push({
      organization_id: organizationId,
      activity_id: vote.activityId,
      vote_id: vote.voteId,
      vote: vote.vote,
      ...said,
      created_at_ms: vote.createdAtMs,
    });
  }
  if (idempotency !== undefined && activity !== undefined) {
    plan.idempotencyKeys.push({
      organization_id: organizationId,
      user_id: idempotency.userId,
      idempotency_key: idempotency.idempotencyKey,
      request: idempotency.request,
      fingerprint: activity.fingerprint,
      created_at_ms: idempotency.createdAtMs,
    });
  }
  if (refused !== undefined) {
    const { userId, day, bytes } = refused;
    const name = `${userId} ${day}`;
    const earlier = plan.refusedBytes.get(name)?.bytes ?? 0;
    plan.refusedBytes.set(name, { organization_id: organizationId, user_id: userId, day, bytes: earlier + bytes });
  }
  if (next === undefined && (birth !== undefined || changes.length > 0)) {
    throw new Fault("internal", "an item that changes something produces no state");
  }
  if (birth !== undefined) refuseNul(birth.organizationName);
  addClaims(plan.keys, keyRows, changes);
  for (const row of keyRows) addKeyRow(plan.keys, row);
  for (const change of changes) addChange(plan, change, texts);
  if (next !== undefined) {
    if (next.version <= plan.version) throw new Fault("internal", "versions of an organization only grow");
    plan.version = next.version;
    plan.head = next;
    for (const { name, content } of next.pages) {
      plan.pages.set(name, { organization_id: organizationId, name, content });
    }
  }
  plan.leaves.push({
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
  if (activity === undefined) return;
  refuseNul(activity.votes, activity.result, activity.failure);
  if (activity.slot !== null && next === undefined) {
    throw new Fault("internal", "a journal lists an activity that produces no state");
  }
  const earlier = plan.activities.get(activity.activityId);
  plan.activities.set(activity.activityId, {
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

/** What policies said about the vote that an item brings: the submission's own, or a later one. */
function toSaid({ evaluations, explanation }: CommitItem): Pick<Tables["votes"], "evaluations" | "explanation"> {
  refuseNul(explanation);
  return { evaluations: evaluations ?? null, explanation: explanation ?? null };
}

function addChange(plan: OrganizationPlan, change: Change, texts: readonly NewInterface[]): void {
  const { op, kind } = change;
  if (kind === "user") {
    if (op === "put") {
      const { userName, userEmail, userPhoneNumber, apiKeys } = change.value;
      refuseNul(userName, userEmail, userPhoneNumber);
      for (const { apiKeyName } of apiKeys) refuseNul(apiKeyName);
      plan.users.set(change.value.userId, change.value);
    } else plan.users.set(change.id, undefined);
  } else if (kind === "userTag") {
    if (op === "put") {
      refuseNul(change.value.tagName);
      plan.userTags.set(change.value.tagId, change.value);
    } else plan.userTags.set(change.id, undefined);
  } else if (kind === "privateKeyTag") {
    if (op === "put") {
      refuseNul(change.value.tagName);
      plan.keys.tags.set(change.value.tagId, change.value);
    } else plan.keys.tags.set(change.id, undefined);
  } else if (kind === "taggedPrivateKeys" && op === "put") {
    addTaggedPrivateKeys(plan.keys, change.value);
  } else if (kind === "keyFacts" && op === "put") {
    refuseNul(change.value.name);
    addKeyFacts(plan.keys, change.value);
  } else if (kind === "policy") {
    if (op === "put") {
      const { policyId, policyName, consensus, condition, time, notes } = change.value;
      refuseNul(policyName, consensus, condition, time, notes);
      plan.policies.policies.set(policyId, policyRow(plan.organizationId, change.value));
    } else plan.policies.policies.set(change.id, undefined);
  } else if (kind === "contractInterface") {
    if (op === "put") {
      const { interfaceId, address, label, notes } = change.value;
      refuseNul(address, label, notes);
      plan.policies.interfaces.set(interfaceId, interfaceRow(plan.organizationId, change.value, texts));
    } else plan.policies.interfaces.set(change.id, undefined);
  } else if (kind === "pendingActivity" || kind === "importTarget" || kind === "keyCounts") {
    // A matter of their pages alone; what waits has its status in the activity's own row.
  } else if (op === "remove") {
    throw new Fault("internal", `a ${kind} cannot be removed`);
  } else if (kind === "settings") {
    refuseNul(change.value.organizationName);
    plan.settings = change.value;
  }
  // The root quorum stands only in the members page: no query needs it in a table yet.
}

/** SQLite would store a NUL and PostgreSQL refuse it. The reader of bodies lets none in, so one here is our mistake. */
function refuseNul(...texts: readonly (string | null | undefined)[]): void {
  for (const text of texts) if (text?.includes("\0")) throw new Fault("internal", "text for the database contains NUL");
}

/** The rows of the projection, and what they replace. */
export function projectionRows(plan: OrganizationPlan): {
  users: Tables["users"][];
  credentials: Tables["credentials"][];
  userTags: Tables["user_tags"][];
  removedUsers: string[];
  removedUserTags: string[];
} {
  const rows: ReturnType<typeof projectionRows> = {
    users: [],
    credentials: [],
    userTags: [],
    removedUsers: [],
    removedUserTags: [],
  };
  for (const [userId, user] of plan.users) {
    if (user === undefined) rows.removedUsers.push(userId);
    else {
      rows.users.push(toUserRow(plan.organizationId, user));
      for (const apiKey of user.apiKeys) rows.credentials.push(toCredentialRow(plan.organizationId, userId, apiKey));
    }
  }
  for (const [tagId, tag] of plan.userTags) {
    if (tag === undefined) rows.removedUserTags.push(tagId);
    else rows.userTags.push(toUserTagRow(plan.organizationId, tag));
  }
  return rows;
}

export function toUserTagRow(organizationId: string, tag: UserTag): Tables["user_tags"] {
  return {
    organization_id: organizationId,
    tag_id: tag.tagId,
    tag_name: tag.tagName,
    created_at_ms: tag.createdAtMs,
    updated_at_ms: tag.updatedAtMs,
  };
}

export function toUserRow(organizationId: string, user: User): Tables["users"] {
  return {
    organization_id: organizationId,
    user_id: user.userId,
    user_name: user.userName,
    user_email: user.userEmail ?? null,
    user_phone_number: user.userPhoneNumber ?? null,
    user_tags: JSON.stringify(user.userTags),
    created_at_ms: user.createdAtMs,
    updated_at_ms: user.updatedAtMs,
  };
}

export function toCredentialRow(
  organizationId: string,
  userId: string,
  apiKey: User["apiKeys"][number],
): Tables["credentials"] {
  return {
    organization_id: organizationId,
    credential_id: apiKey.apiKeyId,
    user_id: userId,
    credential_name: apiKey.apiKeyName,
    type: apiKey.type,
    curve: apiKey.curve,
    public_key: apiKey.publicKey,
    expires_at_ms: apiKey.expiresAtMs ?? null,
    proven: Number(apiKey.proven === true),
    created_at_ms: apiKey.createdAtMs,
    updated_at_ms: apiKey.updatedAtMs,
  };
}

/** The row of an organization that is born. Its name and times are its settings'. */
export function organizationRow(
  plan: OrganizationPlan & { birth: NonNullable<OrganizationPlan["birth"]> },
): Tables["organizations"] {
  const { organizationId, birth, head, version, settings } = plan;
  if (head === undefined) throw new Fault("internal", "an organization is born without a state");
  const [activity] = plan.activities.values();
  const bornAtMs = activity?.created_at_ms ?? Date.now();
  return {
    organization_id: organizationId,
    parent_id: birth.parentId ?? null,
    organization_name: settings?.organizationName ?? birth.organizationName,
    version,
    header: head.header,
    directory: head.directory,
    created_at_ms: settings?.createdAtMs ?? bornAtMs,
    updated_at_ms: settings?.updatedAtMs ?? bornAtMs,
    deleted_at_ms: null,
  };
}
