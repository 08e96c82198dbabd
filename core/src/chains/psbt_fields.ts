/** The shapes of the PSBT fields that standards define (BIP-174, 370, 371, 373): one row per type and kind of map. */
import { isPointEncoding } from "../crypto/curves.ts";
import { compactSize, countedBytes } from "../encoding/compact_size.ts";
import { type Layout, readerOf, u8 } from "../encoding/layout.ts";
import { bitcoinOutput, witnessStack } from "./bitcoin_transaction.ts";
import { toU32 } from "./little_endian.ts";
import { refusing, unparsable } from "./strict_parsing.ts";

/** A test of some bytes. */
type Shape = (bytes: Uint8Array) => boolean;

/** What must be true of the key behind its type, and of the value. */
export type PsbtField = { name: string; key: Shape; value: Shape };

export type PsbtFields = Readonly<Record<number, PsbtField>>;

const anything: Shape = () => true;
const nothing: Shape = ({ length }) => length === 0;

function lengthOf(...lengths: readonly number[]): Shape {
  return ({ length }) => lengths.includes(length);
}

/** Exactly one value of a layout. */
function all(layout: Layout<unknown>): Shape {
  return (bytes) => {
    const from = readerOf(bytes);
    layout.read(from);
    return from.at === bytes.length;
  };
}

/** Only the encoding: points off the curve harm nobody here, and a check of thousands would cost us seconds. */
const publicKey: Shape = isPointEncoding;
const compressedKey: Shape = (bytes) => bytes.length === 33 && isPointEncoding(bytes);

/** A master key's fingerprint and the indexes of a path, four bytes each. */
const keyPath: Shape = ({ length }) => length >= 4 && length % 4 === 0;

/** BIP-371: the leaves that a key signs in, then its path. */
const tapKeyPath: Shape = (bytes) => {
  const from = readerOf(bytes);
  const hashes = compactSize.read(from);
  const start = from.at + 32 * hashes;
  return start <= bytes.length && keyPath(bytes.subarray(start));
};

/** BIP-341: a leaf version with a parity bit, the internal key, and up to 128 hashes on the way to the root. */
const controlBlock: Shape = ({ length }) => length >= 33 && (length - 33) % 32 === 0 && length <= 33 + 32 * 128;

const schnorrSignature = lengthOf(64, 65);

/** DER and a byte for the hash type. */
const ecdsaSignature: Shape = (bytes) => bytes.length >= 9 && bytes.length <= 73 && bytes[0] === 0x30;

/** BIP-373: the participant's key and the aggregate key, then the leaf's hash if it is a script that is signed. */
const musigSession: Shape = (bytes) =>
  (bytes.length === 66 || bytes.length === 98) &&
  compressedKey(bytes.subarray(0, 33)) &&
  compressedKey(bytes.subarray(33, 66));

const participants: Shape = (bytes) => {
  if (bytes.length === 0 || bytes.length % 33 !== 0) return false;
  for (let at = 0; at < bytes.length; at += 33) if (!compressedKey(bytes.subarray(at, at + 33))) return false;
  return true;
};

/** BIP-371: leaves with their depths, from left to right, that fill a binary tree. */
const tapTree: Shape = (bytes) => {
  const from = readerOf(bytes);
  const script = countedBytes(compactSize);
  /** Per depth, whether a left half waits there for its right one. */
  let waiting: boolean[] = [];
  while (from.at < bytes.length) {
    let depth = u8.read(from);
    const leafVersion = u8.read(from);
    script.read(from);
    if (depth > 128 || (leafVersion & 1) !== 0 || depth + 1 < waiting.length) return false;
    while (waiting[depth] === true) {
      if (depth === 0) return false;
      waiting = waiting.slice(0, depth);
      depth--;
    }
    waiting[depth] = true;
  }
  return waiting.length === 1;
};

/** An owner's name, a type of theirs and whatever they like. */
const proprietaryKey: Shape = (bytes) => {
  const from = readerOf(bytes);
  countedBytes(compactSize).read(from);
  compactSize.read(from);
  return true;
};

function field(name: string, key: Shape, value: Shape): PsbtField {
  return { name, key, value };
}

/** A field of version 2, which replaces the transaction by its parts. */
function laterVersion(name: string): PsbtField {
  const refuse = (): never => {
    throw unparsable(`${name} belongs to PSBT version 2: send version 0`);
  };
  return field(name, refuse, anything);
}

const proprietary = field("proprietary", proprietaryKey, anything);

export const globalFields: PsbtFields = {
  0: field("unsigned_tx", nothing, anything),
  1: field("xpub", lengthOf(78), keyPath),
  2: laterVersion("tx_version"),
  3: laterVersion("fallback_locktime"),
  4: laterVersion("input_count"),
  5: laterVersion("output_count"),
  6: laterVersion("tx_modifiable"),
  251: field("version", nothing, (value) => value.length === 4 && toU32(value, 0) === 0),
  252: proprietary,
};

export const inputFields: PsbtFields = {
  0: field("non_witness_utxo", nothing, anything),
  1: field("witness_utxo", nothing, all(bitcoinOutput)),
  2: field("partial_sig", publicKey, ecdsaSignature),
  3: field("sighash_type", nothing, lengthOf(4)),
  4: field("redeem_script", nothing, anything),
  5: field("witness_script", nothing, anything),
  6: field("bip32_derivation", publicKey, keyPath),
  7: field("final_scriptsig", nothing, anything),
  8: field("final_scriptwitness", nothing, all(witnessStack)),
  9: field("por_commitment", nothing, anything),
  10: field("ripemd160", lengthOf(20), anything),
  11: field("sha256", lengthOf(32), anything),
  12: field("hash160", lengthOf(20), anything),
  13: field("hash256", lengthOf(32), anything),
  14: laterVersion("previous_txid"),
  15: laterVersion("output_index"),
  16: laterVersion("sequence"),
  17: laterVersion("required_time_locktime"),
  18: laterVersion("required_height_locktime"),
  19: field("tap_key_sig", nothing, schnorrSignature),
  20: field("tap_script_sig", lengthOf(64), schnorrSignature),
  21: field("tap_leaf_script", controlBlock, ({ length }) => length >= 1),
  22: field("tap_bip32_derivation", lengthOf(32), tapKeyPath),
  23: field("tap_internal_key", nothing, lengthOf(32)),
  24: field("tap_merkle_root", nothing, lengthOf(32)),
  26: field("musig2_participant_pubkeys", compressedKey, participants),
  27: field("musig2_pub_nonce", musigSession, lengthOf(66)),
  28: field("musig2_partial_sig", musigSession, lengthOf(32)),
  252: proprietary,
};

export const outputFields: PsbtFields = {
  0: field("redeem_script", nothing, anything),
  1: field("witness_script", nothing, anything),
  2: field("bip32_derivation", publicKey, keyPath),
  3: laterVersion("amount"),
  4: laterVersion("script"),
  5: field("tap_internal_key", nothing, lengthOf(32)),
  6: field("tap_tree", nothing, tapTree),
  7: field("tap_bip32_derivation", lengthOf(32), tapKeyPath),
  8: field("musig2_participant_pubkeys", compressedKey, participants),
  252: proprietary,
};

/** Refuses a field that is not in the shape its type asks for; types without a row may hold anything. */
export function checkField(fields: PsbtFields, where: string, key: Uint8Array, value: Uint8Array): void {
  const from = readerOf(key);
  const row = fields[refusing(() => compactSize.read(from))];
  if (row === undefined) return;
  if (!refusing(() => row.key(key.subarray(from.at)))) throw unparsable(`${where}: ${row.name} with a wrong key`);
  if (!refusing(() => row.value(value))) throw unparsable(`${where}: ${row.name} with a wrong value`);
}
