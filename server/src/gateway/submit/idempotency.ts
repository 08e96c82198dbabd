/**
 * The `Idempotency-Key` header. The protocol's own idempotence is by bytes, so a retry with a fresh `timestampMs` would be a
 * second activity; under one key, bodies that are equal but for their time are one request, for a day.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { sha256 } from "../../state/digest.ts";
import { findIdempotencyKey, insertIdempotencyKey } from "../../store/idempotency_keys.ts";
import type { Store } from "../../store/store.ts";

export type KeyedRequest = {
  idempotencyKey: string;
  /** Digest of everything in the body but its time. */
  request: string;
};

const keyPattern = /^[\x21-\x7e]{1,255}$/;

export function readKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== "string" || !keyPattern.test(header)) {
    throw new Fault("invalid_argument", "Idempotency-Key must be 1 to 255 visible ASCII characters, sent once");
  }
  return header;
}

/** Members in another order mean the same request. */
export function keyedRequest(idempotencyKey: string, body: Readonly<Record<string, unknown>>): KeyedRequest {
  const { timestampMs: _, ...rest } = body;
  return { idempotencyKey, request: toHex(sha256(JSON.stringify(rest, sorted))) };
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The fingerprint of the activity that this user's key stands for, if it stands for any. */
export async function findKeyed(
  store: Store,
  organizationId: string,
  userId: string,
  { idempotencyKey, request }: KeyedRequest,
): Promise<string | undefined> {
  const found = await findIdempotencyKey(store, organizationId, userId, idempotencyKey, Date.now());
  if (found === undefined) return undefined;
  if (found.request !== request) {
    throw new Fault("already_exists", "this Idempotency-Key was used within 24 hours for a different request");
  }
  return found.fingerprint;
}

/**
 * Lets a key stand for an activity that was there before it. If another request was faster, that one's stands. A key that cannot be
 * written is not answered: the next request under it would be a second activity.
 */
export async function rememberKeyed(
  store: Store,
  organizationId: string,
  userId: string,
  { idempotencyKey, request }: KeyedRequest,
  fingerprint: string,
): Promise<void> {
  await insertIdempotencyKey(store, {
    organization_id: organizationId,
    user_id: userId,
    idempotency_key: idempotencyKey,
    request,
    fingerprint,
    created_at_ms: Date.now(),
  }).catch((cause) => {
    throw new Fault("unavailable", "the database did not commit; try again", { cause });
  });
}
