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

export type Settings = { organizationName: string; createdAtMs: number; updatedAtMs: number };

/** Every kind of thing an activity can change, by the name changes carry. */
export type Entities = { user: User; userTag: UserTag; rootQuorum: RootQuorum; settings: Settings };

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
