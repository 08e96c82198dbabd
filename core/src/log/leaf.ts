/** One leaf of the activity log. Layout and rules: SPEC.md in this folder. */
import {
  bytes,
  decode,
  encode,
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
import { Fault } from "../fault.ts";

const leafFormat = 1;

/** What the leaf records of an act. Words are only ever added at the end: their places are on disk. */
export const leafEvents = [
  "COMPLETED",
  "FAILED",
  "REJECTED",
  "SUBMITTED",
  "VOTED",
  "BIRTH",
  "DATABASE_ACCEPTED",
] as const;

/** Why the signer let an activity run, or did not. */
export const leafGrounds = ["NONE", "ROOT_QUORUM", "OWN_CREDENTIAL", "POLICY", "OPERATOR"] as const;

/** The caller's own signature over the body, so that a host cannot invent an act nobody asked for. */
const leafStampLayout = struct({
  userId: fixed(16),
  credentialId: fixed(16),
  scheme: text,
  publicKey: bytes,
  signature: bytes,
  /** SHA-256 of the stamped bytes. */
  body: fixed(32),
});

const leafLayout = struct({
  format: u8,
  /** The signer's boot, and the number it gave at prepare: a released number without its leaf is a withheld leaf. */
  boot: fixed(16),
  number: u64,
  event: oneOf(leafEvents),
  grounds: oneOf(leafGrounds),
  organizationId: fixed(16),
  activityId: fixed(16),
  activityType: text,
  /** SHA-256 of the submitted body: the activity's identity. */
  fingerprint: fixed(32),
  /** The signer's clock at prepare. */
  timeMs: u64,
  /** The state the decision was taken on. */
  stateVersion: u64,
  stateDigest: fixed(32),
  /** The header of the state it led to, when it changed any. */
  header: optional(bytes),
  stamps: list(leafStampLayout),
  /** SHA-256 of the result's or the failure's JSON text. Contents stay out: erasing them must not break the log. */
  outcome: fixed(32),
});

export type Leaf = ValueOf<typeof leafLayout>;
export type LeafEvent = (typeof leafEvents)[number];
export type LeafGrounds = (typeof leafGrounds)[number];

export function encodeLeaf(leaf: Omit<Leaf, "format">): Uint8Array<ArrayBuffer> {
  return encode(leafLayout, { format: leafFormat, ...leaf });
}

/** Reads a leaf; one of another format is refused, never guessed at. */
export function decodeLeaf(bytes: Uint8Array): Leaf {
  const leaf = decode(leafLayout, bytes);
  if (leaf.format !== leafFormat) throw new Fault("invalid_argument", `unknown leaf format ${leaf.format}`);
  return leaf;
}

/**
 * The lower half of the number in a leaf's bytes, which nobody has checked: it says where to look, never what to believe. It stands
 * behind format, boot and the upper half.
 */
export function peekNumber(bytes: Uint8Array): number | undefined {
  const at = 1 + 16 + 4;
  return bytes.length < at + 4 ? undefined : new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);
}
