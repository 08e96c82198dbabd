/**
 * What one-time codes derive from. These secrets derive from one of the keyring's, because deployments from before codes existed have the
 * same keyring; so they are the same on every host, and a new root key changes none of them.
 */
import { bytes, encode, oneOf, struct, text } from "@keystead/core/encoding/layout.ts";
import type { KeyedHash } from "@keystead/core/otp/one_time_code.ts";
import { createMac, deriveKey } from "../../state/digest.ts";

/** What the memory counts codes by. */
export const countedByWords = ["email", "phone", "userIdentifier"] as const;
export type CountedBy = (typeof countedByWords)[number];

export type CodeSecrets = {
  /** For the codes themselves. */
  readonly code: KeyedHash;
  /** For the keys that answers are encrypted to. */
  readonly target: KeyedHash;
  /** Equal for one organization's equal contacts, and says nothing about them to a reader of the memory: 16 bytes. */
  countingHash(organizationId: string, countedBy: CountedBy, value: string): Uint8Array;
};

export const countingHashLength = 16;

const countedLayout = struct({ organizationId: text, countedBy: oneOf(countedByWords), value: bytes });

const utf8 = new TextEncoder();

export function createCodeSecrets(secret: Uint8Array): CodeSecrets {
  const counting = createMac(deriveKey(secret, "otp-count"));
  return {
    code: createMac(deriveKey(secret, "otp-code")),
    target: createMac(deriveKey(secret, "otp-target")),
    countingHash: (organizationId, countedBy, value) =>
      counting(encode(countedLayout, { organizationId, countedBy, value: utf8.encode(value) })).slice(
        0,
        countingHashLength,
      ),
  };
}
