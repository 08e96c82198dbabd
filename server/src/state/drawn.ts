/**
 * What an activity draws at random, or brings from outside, as part of the state it leads to. Prepared twice on one state, it leads
 * to two states, and a pin lets one of them be released. Layout: SPEC.md in this folder.
 */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { bytes, decode, encode, fixed, list, oneOf, struct } from "@keystead/core/encoding/layout.ts";
import { sha256 } from "./digest.ts";
import type { OtpCodeRecord } from "./otp_code_record.ts";
import { type AnyRecord, encodeRecord, isKeyRecord, type KeyRecord, type RecordKind } from "./records.ts";

/** Before anything was. */
export const nothingDrawn: Uint8Array = new Uint8Array(32);

/** A record that was made. */
export type MadeRecord = {
  kind: Exclude<RecordKind, "otpCode">;
  /** Zeros where it has none. */
  tag: Uint8Array;
  /** SHA-256 of its content without the MAC. */
  digest: Uint8Array;
};

export type Drawn = {
  /** SHA-256 of the outcome's JSON, as the leaf has it. */
  outcome: Uint8Array;
  records: readonly MadeRecord[];
};

const stepLayout = struct({
  before: fixed(32),
  /** Values from outside. No activity takes any yet. */
  outside: list(bytes),
  outcome: fixed(32),
  records: list(fixed(32)),
});

/** The digest after one more activity. */
export function drawnAfter(before: Uint8Array, { outcome, records }: Drawn): Uint8Array<ArrayBuffer> {
  return sha256(encode(stepLayout, { before, outside: [], outcome, records: records.map(({ digest }) => digest) }));
}

/** Codes are not among them: nothing of a code is drawn, and it leaves the state as it is. */
export function madeRecord(record: Exclude<AnyRecord, OtpCodeRecord>): MadeRecord {
  const { tag } = isKeyRecord(record) ? record : {};
  return {
    kind: record.kind,
    tag: tag === undefined ? new Uint8Array(32) : fromHex(tag),
    digest: sha256(encodeRecord(record)),
  };
}

/** Words are only ever added at the end: their places are on disk. */
const kinds = ["wallet", "walletAccount", "privateKey", "contractInterface"] as const;
const madeLayout = list(struct({ kind: oneOf(kinds), tag: fixed(32), digest: fixed(32) }));

const contentsLayout = list(bytes);

/** The contents of keys' records, without their MACs: what a leaf names beside what was made. Texts are in the body that brought them. */
export function encodeContents(records: readonly KeyRecord[]): Uint8Array<ArrayBuffer> {
  return encode(contentsLayout, records.map(encodeRecord));
}

export function decodeContents(bytes: Uint8Array): Uint8Array[] {
  return [...decode(contentsLayout, bytes)];
}

/** What a leaf names of what came with it, each by its SHA-256: what was made, then the contents of keys. */
export type MadeBytes = { made: Uint8Array | undefined; contents: Uint8Array | undefined };

export function toMadeBytes(made: readonly MadeRecord[], keys: readonly KeyRecord[]): MadeBytes {
  return {
    made: made.length > 0 ? encodeMade(made) : undefined,
    contents: keys.length > 0 ? encodeContents(keys) : undefined,
  };
}

/** As it lies beside the leaf, for whoever executes the log anew: records of deleted keys are gone, and boxes are nobody's to open. */
export function encodeMade(records: readonly MadeRecord[]): Uint8Array<ArrayBuffer> {
  return encode(madeLayout, [...records]);
}

export function decodeMade(bytes: Uint8Array): MadeRecord[] {
  return [...decode(madeLayout, bytes)];
}
