/** Leaves as they are written today. Layout and rules: SPEC.md in this folder. */
import {
  bytesUpTo,
  fixed,
  list,
  oneOf,
  optional,
  struct,
  textUpTo,
  u8,
  u64,
  type ValueOf,
  variant,
} from "../encoding/layout.ts";
import { evidenceLayout } from "./leaf_evidence.ts";
import { leafEvents, leafGrounds, outsideKinds } from "./leaf_words.ts";

const stateLayout = struct({ organizationId: fixed(16), version: u64, digest: fixed(32) });

/** One state of one organization that an act was decided on, or that was looked at for it. */
export type NamedState = ValueOf<typeof stateLayout>;

/** A value that neither the body nor a state holds. One that is long, or that must not be shown, is there by its SHA-256. */
const outsideLayout = struct({
  kind: oneOf(outsideKinds, "kind of outside value"),
  value: variant({ bytes: bytesUpTo(4_096), digest: fixed(32) }, "form of outside value"),
});

export const leafFormat2 = struct({
  format: u8,
  /** The signer's boot, and the number it gave at prepare: a released number without its leaf is a withheld leaf. */
  boot: fixed(16),
  number: u64,
  /** Random: nobody can guess a leaf's content and hold it against the leaf's digest. */
  blind: fixed(16),
  event: oneOf(leafEvents, "leaf event"),
  grounds: oneOf(leafGrounds, "grounds"),
  organizationId: fixed(16),
  activityId: fixed(16),
  activityType: textUpTo(128),
  /** SHA-256 of the submitted body: the activity's identity. */
  fingerprint: fixed(32),
  /** The signer's clock at prepare. */
  timeMs: u64,
  /** Every state looked at, the first being the one whose users and policies decided. No organization is in it twice. */
  states: list(stateLayout, 8),
  /** The header of the state it led to, when it changed any. */
  header: optional(bytesUpTo(512)),
  evidence: list(evidenceLayout, 8),
  outside: list(outsideLayout, 64),
  /** SHA-256 of the result's or the failure's JSON text. Contents stay out: erasing them must not break the log. */
  outcome: fixed(32),
});

export type LeafFormat2 = ValueOf<typeof leafFormat2>;
