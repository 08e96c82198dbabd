/** Keys that the signer makes for a user. The private half leaves once, encrypted to a key of the client's, and is kept nowhere. */
import { makeCredentialBundle } from "@keystead/core/crypto/bundles.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import { sha256 } from "../state/digest.ts";
import type { User } from "../state/entities.ts";
import type { Pages } from "../state/pages.ts";
import { parseTarget } from "./exports.ts";
import { type MadeKeyType, type SessionParams, sessionExpiryMs, sessionName, withSession } from "./sessions.ts";

export type BundledKeyParams = SessionParams & { targetPublicKey: string; apiKeyName?: string | null };

/** What is made, and how it is called where nobody names it. */
export type BundledKeyKind = { type: MadeKeyType; name: string };

/** Parameters that have been checked: a key can be made at once. */
export type CheckedKeyParams = { target: Uint8Array; expiresAtMs: number };

export type BundledKey = {
  /** With the new key. */
  user: User;
  apiKeyId: string;
  /** Drawn at random, so it is kept with the result; clients find it in `get_api_keys`. */
  publicKey: string;
  credentialBundle: string;
};

/** Throws for a target or a lifetime that is none. */
export function checkKeyParams(
  state: Pick<Pages, "importTargets">,
  params: BundledKeyParams,
  context: ActivityContext,
): CheckedKeyParams {
  const target = parseTarget(state, context, params.targetPublicKey);
  return { target, expiresAtMs: sessionExpiryMs(params, context) };
}

export function withBundledKey(
  user: User,
  { type, name }: BundledKeyKind,
  params: BundledKeyParams,
  { target, expiresAtMs }: CheckedKeyParams,
  context: ActivityContext,
): BundledKey {
  const { keys, nowMs } = context;
  const { publicKey: point, privateKey } = keys.newSessionKey();
  try {
    const publicKey = toHex(point);
    // Prepared twice, it is two keys, and two ids.
    const apiKeyId = context.newId(toHex(sha256(point)));
    const apiKeyName = params.apiKeyName ?? sessionName(name, nowMs);
    // It is nobody else's: it was made here.
    const session = { apiKeyId, apiKeyName, publicKey, type, expiresAtMs, proven: true } as const;
    const credentialBundle = makeCredentialBundle(keys.hpke, target, privateKey);
    return { user: withSession(user, session, params, context), apiKeyId, publicKey, credentialBundle };
  } finally {
    privateKey.fill(0);
  }
}

/** A result as clients see it. */
export function withoutKey({ publicKey: _, ...result }: Record<string, unknown>): Record<string, unknown> {
  return result;
}
