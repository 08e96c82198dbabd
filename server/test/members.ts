/** Organizations as the tests of activities and rules describe them: people by name, keys by number. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import type { ApiKeyParams } from "../src/fields/credentials.ts";
import type { FeatureName } from "../src/fields/features.ts";
import { applyChanges } from "../src/state/apply_changes.ts";
import type { ApiKey, Change, OauthProvider, RootQuorum, Settings, User } from "../src/state/entities.ts";
import { emptyPages, type Pages } from "../src/state/pages.ts";

/** When everything in these organizations was made: before the time of `activityContext`. */
export const madeAtMs = 1_740_000_000_000;
const times = { createdAtMs: madeAtMs, updatedAtMs: madeAtMs };

const publicKeys = {
  API_KEY_CURVE_P256: (secret: Uint8Array) => p256.getPublicKey(secret),
  API_KEY_CURVE_SECP256K1: (secret: Uint8Array) => secp256k1.getPublicKey(secret),
  API_KEY_CURVE_ED25519: (secret: Uint8Array) => ed25519.getPublicKey(secret),
} as const;

/** The public key of the secret `n`, in the stored form. */
export function publicKey(n: number, curve: ApiKeyParams["curveType"] = "API_KEY_CURVE_P256"): string {
  const secret = new Uint8Array(32);
  new DataView(secret.buffer).setUint32(28, n + 1);
  return toHex(publicKeys[curve](secret));
}

/** The `n`th key as a request describes it. */
export function keyParams(n: number, changes: Partial<ApiKeyParams> = {}): ApiKeyParams {
  return { apiKeyName: `key ${n}`, publicKey: publicKey(n), curveType: "API_KEY_CURVE_P256", ...changes };
}

/** The `n`th key as state holds it. */
export function apiKey(n: number, changes: Partial<ApiKey> = {}): ApiKey {
  return {
    apiKeyId: `key ${n}`,
    apiKeyName: `key ${n}`,
    curve: "API_KEY_CURVE_P256",
    publicKey: publicKey(n),
    type: "CREDENTIAL_TYPE_API_KEY_P256",
    ...times,
    ...changes,
  };
}

/** A user whose id is its name, without any credential unless given. */
/** An identity at another issuer. */
export function oauthProvider(n: number, changes: Partial<OauthProvider> = {}): OauthProvider {
  return {
    providerId: `provider ${n}`,
    providerName: `provider ${n}`,
    issuer: "https://issuer.example",
    audience: "client",
    subject: `subject ${n}`,
    createdAtMs: madeAtMs,
    updatedAtMs: madeAtMs,
    ...changes,
  };
}

export function person(userId: string, changes: Partial<User> = {}): User {
  return { userId, userName: userId, userTags: [], apiKeys: [], ...times, ...changes };
}

export type Described = {
  users?: readonly User[];
  /** Ids, which are also the names. */
  tags?: readonly string[];
  /** The first user alone unless said otherwise. */
  rootQuorum?: RootQuorum;
  features?: readonly FeatureName[];
  settings?: Partial<Settings>;
};

export function organization({ users = [], tags = [], rootQuorum, features = [], settings }: Described = {}): Pages {
  return {
    ...emptyPages,
    members: {
      users: new Map(users.map((user) => [user.userId, user])),
      userTags: new Map(tags.map((tagId) => [tagId, { tagId, tagName: tagId, ...times }])),
      rootQuorum: rootQuorum ?? { threshold: 1, userIds: users.slice(0, 1).map((user) => user.userId) },
    },
    settings: { organizationName: "Acme", features: features.map((name) => ({ name })), ...times, ...settings },
  };
}

/** The organization after an activity's changes. */
export function after(pages: Pages, { changes }: { changes: readonly Change[] }): Pages {
  return applyChanges(pages, changes).pages;
}
