/** Leaves in an export: one record behind the other, in the order of positions. Layout: SPEC.md in this folder. */
import {
  bytes,
  decode,
  encode,
  list,
  optional,
  type Reader,
  struct,
  u64,
  type ValueOf,
} from "../../encoding/layout.ts";
import { Fault } from "../../fault.ts";

/** More than any leaf can name. */
const maxBodies = 256;

const layout = struct({
  position: u64,
  /** From 1; 0 for acts of the operator. */
  ordinal: u64,
  /** Without its MAC, which nobody but the signer can check. Absent where it was erased. */
  leaf: optional(bytes),
  /** What the leaf names by digests, as far as it is disclosed, in the order of `namedBodies`. */
  bodies: list(bytes, maxBodies),
});

export type LeafRecord = ValueOf<typeof layout>;

/** Each record behind its length, so that damage in one is not taken for damage in the next. */
export function encodeRecords(records: readonly LeafRecord[]): Uint8Array<ArrayBuffer> {
  return joined(records.map((record) => encode(bytes, encode(layout, record))));
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Each record, or in the end why there is no further one that can be read. */
export type ReadRecord = { record: LeafRecord } | { malformed: string };

/** Reads one record after the other, so that all before a damaged one are known. */
export function* readRecords(file: Uint8Array): Generator<ReadRecord, void> {
  const from: Reader = { bytes: file, view: new DataView(file.buffer, file.byteOffset, file.byteLength), at: 0 };
  while (from.at < file.length) {
    try {
      yield { record: decode(layout, bytes.read(from)) };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      yield { malformed: error.message };
      return;
    }
  }
}

/** What a proof file carries beside the proof: the leaf, so that whoever has the file can hold it against the entry. */
const proofLayout = struct({ ordinal: u64, leaf: bytes, bodies: list(bytes, maxBodies) });

export type ProvenLeaf = ValueOf<typeof proofLayout>;

export function encodeProvenLeaf(leaf: ProvenLeaf): Uint8Array<ArrayBuffer> {
  return encode(proofLayout, leaf);
}

export function decodeProvenLeaf(extra: Uint8Array): ProvenLeaf {
  return decode(proofLayout, extra);
}
