/**
 * Read-only sessions: a value that lets its bearer read what one user may read, for an hour. The signer signs it, no table knows it,
 * and every gateway verifies it with the public notarizer key. SPEC.md has the bytes.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { fromBase64url, toBase64url } from "../encoding/base64url.ts";
import { decode, encode, fixed, struct, u8, u64 } from "../encoding/layout.ts";
import { uuidFromBytes, uuidToBytes } from "../encoding/uuid.ts";
import { Fault } from "../fault.ts";
import type { BundleSigner } from "./bundles.ts";
import type { Curves } from "./curves.ts";

export type ReadOnlySession = {
  organizationId: string;
  userId: string;
  expiresAtSeconds: number;
};

/** A session as it was read. Whether the signer made it is still open. */
export type SentReadOnlySession = ReadOnlySession & { claims: Uint8Array; signature: Uint8Array };

const format = 1;
const claimsLayout = struct({ format: u8, organizationId: fixed(16), userId: fixed(16), expiresAtSeconds: u64 });
const claimsLength = 1 + 16 + 16 + 8;
const signatureLength = 64;

/** Nothing else that the notarizer key signs begins like this; a session token's message has 32 bytes. */
const prefix = new TextEncoder().encode("keystead read-only session\n");

export function makeReadOnlySession(notarizer: Pick<BundleSigner, "sign">, session: ReadOnlySession): string {
  const { organizationId, userId, expiresAtSeconds } = session;
  const claims = encode(claimsLayout, {
    format,
    organizationId: uuidToBytes(organizationId),
    userId: uuidToBytes(userId),
    expiresAtSeconds,
  });
  return toBase64url(concatBytes(claims, notarizer.sign(concatBytes(prefix, claims))));
}

/** Throws `invalid_argument` for anything that is not a session of this format. */
export function parseReadOnlySession(text: string): SentReadOnlySession {
  const bytes = fromBase64url(text);
  if (bytes.length !== claimsLength + signatureLength || bytes[0] !== format) throw malformed();
  const claims = bytes.subarray(0, claimsLength);
  const { organizationId, userId, expiresAtSeconds } = decode(claimsLayout, claims);
  return {
    organizationId: uuidFromBytes(organizationId),
    userId: uuidFromBytes(userId),
    expiresAtSeconds,
    claims,
    signature: bytes.subarray(claimsLength),
  };
}

function malformed(): Fault {
  return new Fault("invalid_argument", "not a read-only session");
}

/** Whether the notarizer key, 33 bytes, has signed it. */
export function verifyReadOnlySession(
  { verifyP256 }: Pick<Curves, "verifyP256">,
  notarizerKey: Uint8Array,
  { claims, signature }: SentReadOnlySession,
): boolean {
  return verifyP256(notarizerKey, concatBytes(prefix, claims), signature);
}
