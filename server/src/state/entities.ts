/** What an organization consists of, as the signer's pages hold it. Times are milliseconds; ids are UUID text. */
import type { ApiKeyCurve } from "@keystead/core/crypto/api_key.ts";

export type ApiKey = {
  apiKeyId: string;
  apiKeyName: string;
  curve: ApiKeyCurve;
  /** Normalised: lower-case hex, compressed. */
  publicKey: string;
  /** `CREDENTIAL_TYPE_…`: long-lived keys and the several kinds of session keys are told apart by it. */
  type: string;
  expiresAtMs?: number;
  createdAtMs: number;
  updatedAtMs: number;
};

export type User = {
  userId: string;
  userName: string;
  userEmail?: string;
  userPhoneNumber?: string;
  userTags: readonly string[];
  apiKeys: readonly ApiKey[];
  createdAtMs: number;
  updatedAtMs: number;
};

export type UserTag = { tagId: string; tagName: string; createdAtMs: number; updatedAtMs: number };

export type RootQuorum = { threshold: number; userIds: readonly string[] };

export type Feature = { name: string; value?: string };

export type Settings = {
  organizationName: string;
  features: readonly Feature[];
  /** Set once, never cleared: nothing runs in a deleted organization, and its id is never born again. */
  deleted?: true;
  createdAtMs: number;
  updatedAtMs: number;
};

/** An approval as state keeps it. Rejecting ends an activity, so no rejection is ever pending. */
export type Approval = { userId: string; credentialId: string; atMs: number };

/** An activity that waits for consensus. Its body proves itself by its hash, so only the hash is kept. */
export type PendingActivity = {
  /** Lower-case hex of SHA-256 over the submitted body. */
  fingerprint: string;
  activityId: string;
  proposerId: string;
  createdAtMs: number;
  approvals: readonly Approval[];
};

/** Every kind of thing an activity can change, by the name changes carry. */
export type Entities = {
  user: User;
  userTag: UserTag;
  rootQuorum: RootQuorum;
  settings: Settings;
  pendingActivity: PendingActivity;
};

export type EntityKind = keyof Entities;

/** One effect of an activity, as data: the signer applies it to pages, the gateway to tables. */
export type Change = {
  [K in EntityKind]: { op: "put"; kind: K; value: Entities[K] } | { op: "remove"; kind: K; id: string };
}[EntityKind];

export function put<K extends EntityKind>(kind: K, value: Entities[K]): Change {
  return { op: "put", kind, value } as Change;
}

export function remove(kind: EntityKind, id: string): Change {
  return { op: "remove", kind, id };
}
