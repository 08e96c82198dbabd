/** A stamp by an API key: its holder's signature over the exact body bytes. */
import { parseStamp, type Stamp, verifyStamp } from "@keystead/core/crypto/stamp.ts";
import type { EvidenceRow, ShownEvidence } from "./evidence_row.ts";
import { ambiguousKey, expiredKey, unknownKey, unverifiedStamp } from "./faults.ts";

export const apiKeyEvidence: EvidenceRow<Stamp> = {
  header: "x-stamp",
  parse: parseStamp,
  lookup: ({ curve, publicKey }) => ({ by: "key", curve, publicKey }),
  // The key in the stamp is the registered one: it was found by it.
  verify: ({ curves }, stamp, body) => verifyStamp(curves, stamp, body),
  keep: ({ scheme, publicKeyBytes, signature }) => ({ scheme, publicKey: publicKeyBytes, signature }),
  show: (value) => JSON.parse(Buffer.from(value, "base64url").toString("utf8")) as ShownEvidence,
  sentFrom: ({ publicKey, scheme, signature }) =>
    Buffer.from(JSON.stringify({ publicKey, scheme, signature })).toString("base64url"),
  unknown: ({ organizationId, parentId }, { publicKey }) => unknownKey(organizationId, parentId, publicKey),
  expired: ({ publicKey }) => expiredKey(publicKey),
  unverified: unverifiedStamp,
  ambiguous: ambiguousKey,
};
