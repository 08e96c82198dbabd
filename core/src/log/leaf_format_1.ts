/** Leaves of the first format, which data folders still hold. They are read, never written. Layout: SPEC.md in this folder. */
import {
  bytes,
  decode,
  fixed,
  list,
  oneOf,
  optional,
  struct,
  text,
  u8,
  u64,
  type ValueOf,
} from "../encoding/layout.ts";
import { decodeHeader, macLength, noState } from "./header.ts";
import type { LeafFormat2, NamedState } from "./leaf_format_2.ts";
import { leafEvents, leafGrounds } from "./leaf_words.ts";

const stampLayout = struct({
  userId: fixed(16),
  credentialId: fixed(16),
  scheme: text,
  publicKey: bytes,
  signature: bytes,
  body: fixed(32),
});

export const leafFormat1 = struct({
  format: u8,
  boot: fixed(16),
  number: u64,
  event: oneOf(leafEvents, "leaf event"),
  grounds: oneOf(leafGrounds, "grounds"),
  organizationId: fixed(16),
  activityId: fixed(16),
  activityType: text,
  fingerprint: fixed(32),
  timeMs: u64,
  stateVersion: u64,
  stateDigest: fixed(32),
  header: optional(bytes),
  stamps: list(stampLayout),
  outcome: fixed(32),
});

export type LeafFormat1 = ValueOf<typeof leafFormat1>;

/** What format 2 says of the same act, but for the blind. */
export function readFormat1(encoded: Uint8Array): Omit<LeafFormat2, "blind"> {
  const leaf = decode(leafFormat1, encoded);
  const { stateVersion: _version, stateDigest: _digest, stamps, ...common } = leaf;
  return {
    ...common,
    states: statesOf(leaf),
    evidence: stamps.map(({ userId, credentialId, body, ...value }) => {
      return { userId, credentialId, body, content: { kind: "apiKey", value } };
    }),
    outside: [],
  };
}

/** Whose state it was decided on, format 1 leaves to its reader: of a birth by an activity it is the parent's. */
function statesOf({
  event,
  organizationId,
  header,
  stateVersion: version,
  stateDigest: digest,
}: LeafFormat1): NamedState[] {
  if (version === noState.version) return [];
  const parentId = event === "BIRTH" && header !== undefined ? parentIn(header) : undefined;
  return [{ organizationId: parentId ?? organizationId, version, digest }];
}

function parentIn(markedHeader: Uint8Array): Uint8Array | undefined {
  return decodeHeader(markedHeader.subarray(0, -macLength)).parentId;
}
