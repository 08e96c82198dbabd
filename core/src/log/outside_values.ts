/** What a decision took from outside, as a leaf names it: enough to decide the same again. SPEC.md has the kinds. */
import {
  bool,
  decode,
  encode,
  fixed,
  list,
  oneOf,
  optional,
  struct,
  textUpTo,
  u64,
  type ValueOf,
} from "../encoding/layout.ts";

/** One key of an issuer that a token was held against. Other keys that its issuer had then decided nothing. */
const issuerKeyLayout = struct({
  issuer: textUpTo(512),
  /** By the courier's clock. */
  fetchedAtMs: u64,
  /** The key as a statement of the courier has it: one member of `keys`. */
  key: textUpTo(3_072),
});

/** Who has signed in at an OAuth 2.0 provider. The provider is that of the credential which the body names. */
const oauth2IdentityLayout = struct({
  userId: textUpTo(64),
  /** By the courier's clock. */
  exchangedAtMs: u64,
});

export type TakenOauth2Identity = ValueOf<typeof oauth2IdentityLayout>;

export function encodeOauth2Identity(value: TakenOauth2Identity): Uint8Array<ArrayBuffer> {
  return encode(oauth2IdentityLayout, value);
}

export function decodeOauth2Identity(bytes: Uint8Array): TakenOauth2Identity {
  return decode(oauth2IdentityLayout, bytes);
}

export type TakenIssuerKey = ValueOf<typeof issuerKeyLayout>;

export function encodeIssuerKey(value: TakenIssuerKey): Uint8Array<ArrayBuffer> {
  return encode(issuerKeyLayout, value);
}

export function decodeIssuerKey(bytes: Uint8Array): TakenIssuerKey {
  return decode(issuerKeyLayout, bytes);
}

/** The log that an act of the operator lists, and the last known head of the one that it follows. */
const openedLogLayout = struct({
  logId: fixed(16),
  previous: optional(struct({ logId: fixed(16), size: u64, root: fixed(32) })),
});

export type OpenedLog = ValueOf<typeof openedLogLayout>;

export function encodeOpenedLog(value: OpenedLog): Uint8Array<ArrayBuffer> {
  return encode(openedLogLayout, value);
}

export function decodeOpenedLog(bytes: Uint8Array): OpenedLog {
  return decode(openedLogLayout, bytes);
}

/**
 * What only the signer can answer: by its memory, or by a secret that nobody else has. Words are only ever added at the end: their places
 * are in leaves.
 */
export const verdictSubjects = [
  "attempt",
  "start",
  "born",
  "taken",
  "accepted",
  "unreleased",
  "answer",
  "token",
  "ownToken",
  "clientSecret",
  "import",
  "serviceKey",
] as const;

export type VerdictSubject = (typeof verdictSubjects)[number];

export const maxVerdictIds = 200;

const memoryVerdictLayout = struct({
  subject: oneOf(verdictSubjects, "subject of a verdict"),
  isAllowed: bool,
  times: list(u64, 2),
  ids: list(fixed(16), maxVerdictIds),
});

export type MemoryVerdict = ValueOf<typeof memoryVerdictLayout>;

export function encodeMemoryVerdict(value: MemoryVerdict): Uint8Array<ArrayBuffer> {
  return encode(memoryVerdictLayout, value);
}

export function decodeMemoryVerdict(bytes: Uint8Array): MemoryVerdict {
  return decode(memoryVerdictLayout, bytes);
}

/** A key that was drawn for an import, where one was, and the SHA-256 of the page that keys of imports wait in. */
const importTargetLayout = struct({ publicKey: optional(fixed(65)), page: fixed(32) });

export type TakenImportTarget = ValueOf<typeof importTargetLayout>;

export function encodeImportTarget(value: TakenImportTarget): Uint8Array<ArrayBuffer> {
  return encode(importTargetLayout, value);
}

export function decodeImportTarget(bytes: Uint8Array): TakenImportTarget {
  return decode(importTargetLayout, bytes);
}
