/** What the public log holds of a leaf: a digest that tells nothing, because the leaf has a blind. Layout: SPEC.md. */
import { Fault } from "../fault.ts";
import { type Hash, hashLength, sha256 } from "./hash.ts";

const input = new Uint8Array(hashLength + 8);
const view = new DataView(input.buffer);

/** The entry of a leaf: its digest, and which of its organization's leaves in this log it is (from 1; 0 for acts of the operator). */
export function entryOf(leafDigest: Uint8Array, ordinal: number, hash: Hash = sha256): Uint8Array {
  if (leafDigest.length !== hashLength || !Number.isSafeInteger(ordinal) || ordinal < 0) {
    throw new Fault("internal", "no entry can be made of this");
  }
  input.set(leafDigest);
  // Two writes of 32 bits cost less than one BigInt.
  view.setUint32(hashLength, Math.floor(ordinal / 2 ** 32));
  view.setUint32(hashLength + 4, ordinal % 2 ** 32);
  return hash(input);
}
