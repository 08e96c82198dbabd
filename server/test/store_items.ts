/** Commit items as the gateway would build them, for tests: contents are arbitrary bytes, the shapes are real. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { activityIdPrefix } from "../src/state/derived_id.ts";
import { put, type User } from "../src/state/entities.ts";
import { slotMs, slotOf } from "../src/state/journal.ts";
import type { ActivityRow } from "../src/store/activities.ts";
import type { CommitItem } from "../src/store/commit_item.ts";

export const nowMs = 1_763_000_000_000;
export const boot = "b0".repeat(16);

let lastNumber = 0;

export function newLeaf(): CommitItem["leaf"] {
  return { boot, number: ++lastNumber, leaf: randomBytes(220) };
}

export function newUser(changes: Partial<User> = {}): User {
  return {
    userId: randomUUID(),
    userName: "Ann",
    userTags: [],
    apiKeys: [newApiKey()],
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...changes,
  };
}

export function newApiKey(): User["apiKeys"][number] {
  return {
    apiKeyId: randomUUID(),
    apiKeyName: "laptop",
    curve: "API_KEY_CURVE_P256",
    publicKey: `02${randomBytes(32).toString("hex")}`,
    type: "CREDENTIAL_TYPE_API_KEY_P256",
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

export function newActivity(changes: Partial<ActivityRow> = {}): ActivityRow {
  const body = randomBytes(400);
  // Journals are found by the time in the ids.
  const time = activityIdPrefix(typeof changes.slot === "number" ? changes.slot * slotMs : nowMs);
  return {
    activityId: time + randomUUID().slice(time.length),
    fingerprint: createHash("sha256").update(body).digest("hex"),
    type: "ACTIVITY_TYPE_CREATE_USER_TAG",
    status: "ACTIVITY_STATUS_COMPLETED",
    body,
    result: JSON.stringify({ userTagId: randomUUID() }),
    failure: null,
    votes: "[]",
    slot: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...changes,
  };
}

export function newState(version: number): NonNullable<CommitItem["next"]> {
  return {
    version,
    header: randomBytes(168),
    directory: randomBytes(200),
    pages: [{ name: "members", content: randomBytes(900) }],
  };
}

/** The first state of a new organization with these users. */
export function birth(organizationId: string, users: readonly User[] = [newUser()], parentId?: string): CommitItem {
  const settings = { organizationName: "Acme", features: [], createdAtMs: nowMs, updatedAtMs: nowMs };
  const state = newState(1);
  return {
    organizationId,
    expectedVersion: 0,
    birth: { organizationName: "Acme", ...(parentId === undefined ? {} : { parentId }) },
    next: { ...state, pages: [...state.pages, { name: "settings", content: randomBytes(90) }] },
    changes: [put("settings", settings), ...users.map((user) => put("user", user))],
    leaf: newLeaf(),
  };
}

/** Creates a tag on top of `expectedVersion`. */
export function stateChange(
  organizationId: string,
  expectedVersion: number,
  changes: Partial<CommitItem> = {},
): CommitItem {
  const tag = { tagId: randomUUID(), tagName: "signers", createdAtMs: nowMs, updatedAtMs: nowMs };
  return {
    organizationId,
    expectedVersion,
    next: newState(expectedVersion + 1),
    changes: [put("userTag", tag)],
    leaf: newLeaf(),
    activity: newActivity({ slot: slotOf(nowMs) }),
    ...changes,
  };
}

/** Pure signing at `expectedVersion`: a sealed result and no new state. */
export function signing(
  organizationId: string,
  expectedVersion: number,
  changes: Partial<CommitItem> = {},
): CommitItem {
  return {
    organizationId,
    expectedVersion,
    changes: [],
    leaf: { ...newLeaf(), sealed: randomBytes(120) },
    activity: newActivity({ type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", result: null }),
    ...changes,
  };
}
