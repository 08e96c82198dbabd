/**
 * Ids of created objects derive from (organization, fingerprint, index): running one activity twice collides instead of
 * doubling, and anyone who holds the body can recompute them. The id of a key derives from the tag of its secret too: one id
 * never stands for two secrets, and nobody chooses an id by choosing a body.
 */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { sha256 } from "./digest.ts";

/** Written anew for each id: arrays of its own would cost as much as the hash. */
const plainInput = new Uint8Array(8 + 16 + 32 + 4);
const keyInput = new Uint8Array(plainInput.length + 32);

function idBytes(
  input: Uint8Array,
  label: string,
  organizationId: Uint8Array,
  fingerprint: Uint8Array,
  index: number,
): Uint8Array {
  for (let i = 0; i < label.length; i++) input[i] = label.charCodeAt(i);
  input.set(organizationId, 8);
  input.set(fingerprint, 24);
  for (let i = 0; i < 4; i++) input[56 + i] = index >>> (8 * (3 - i));
  return sha256(input).slice(0, 16);
}

function withVersion(id: Uint8Array, version: number): Uint8Array {
  id[6] = ((id[6] ?? 0) & 0x0f) | (version << 4);
  id[8] = ((id[8] ?? 0) & 0x3f) | 0x80;
  return id;
}

/** The `index`-th object an activity creates: a UUID of version 4's shape. */
export function objectId(organizationId: Uint8Array, fingerprint: Uint8Array, index: number): string {
  return uuidFromBytes(withVersion(idBytes(plainInput, "object\0\0", organizationId, fingerprint, index), 4));
}

/** The same for a key, with the tag of its record in hex. */
export function keyId(organizationId: Uint8Array, fingerprint: Uint8Array, index: number, tag: string): string {
  keyInput.set(fromHex(tag), plainInput.length);
  return uuidFromBytes(withVersion(idBytes(keyInput, "key\0\0\0\0\0", organizationId, fingerprint, index), 4));
}

/** The `index`-th message that an activity asks to be sent. */
export function messageId(organizationId: Uint8Array, fingerprint: Uint8Array, index: number): string {
  return uuidFromBytes(withVersion(idBytes(plainInput, "message\0", organizationId, fingerprint, index), 4));
}

/** The activity itself: version 7's shape, its time being the body's own `timestampMs`, so that ids sort by time. */
export function activityId(organizationId: Uint8Array, fingerprint: Uint8Array, timestampMs: number): Uint8Array {
  return withTime(idBytes(plainInput, "activity", organizationId, fingerprint, 0), timestampMs);
}

/**
 * The verification token that the body with this fingerprint gets for a code: version 7's shape, its time being the body's own, by which
 * a token shows whether it was made before a database was restored.
 */
export function verificationTokenId(otpId: Uint8Array, fingerprint: Uint8Array, bodyMs: number): string {
  return uuidFromBytes(withTime(idBytes(plainInput, "token\0\0\0", otpId, fingerprint, 0), bodyMs));
}

function withTime(id: Uint8Array, timeMs: number): Uint8Array {
  for (let i = 0; i < 6; i++) id[i] = Math.floor(timeMs / 2 ** (8 * (5 - i)));
  return withVersion(id, 7);
}

/** What ids of activities begin with whose body names this time. Ids sort by time, so a span of time is a span of ids. */
export function activityIdPrefix(timestampMs: number): string {
  const hex = timestampMs.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
