/**
 * What a Bitcoin signature signs: the original digest, BIP-143's for SegWit version 0 and BIP-341's for Taproot key
 * spends. All hash types are here because the published vectors use them all; we sign with ALL and DEFAULT only.
 */
import { sha256 as portableSha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { compactSize, countedBytes } from "../encoding/compact_size.ts";
import { joined } from "../encoding/joined.ts";
import { encode } from "../encoding/layout.ts";
import {
  type BitcoinInput,
  type BitcoinOutput,
  type BitcoinTransaction,
  bitcoinOutput,
  doubleSha256,
  serialiseWithoutWitnesses,
} from "./bitcoin_transaction.ts";
import { i32le, u32le, u64le } from "./little_endian.ts";

export const sighashDefault = 0x00;
export const sighashAll = 0x01;
const sighashNone = 0x02;
const sighashSingle = 0x03;
const anyoneCanPay = 0x80;

/** The digests of one transaction's inputs. What several inputs share is hashed once, else many would cost a square. */
export type Sighashes = {
  /** The original one. `scriptCode` is the script that the signature satisfies; its separators are dropped. */
  legacy(index: number, scriptCode: Uint8Array, hashType: number): Uint8Array;
  /** BIP-143. The amount is signed, so a false one spoils the signature and not only the fee. */
  segwit(index: number, scriptCode: Uint8Array, amount: bigint, hashType: number): Uint8Array;
  /** BIP-341 for a key spend without annex. All outputs that the transaction spends are signed along. */
  taproot(index: number, spent: readonly BitcoinOutput[], hashType: number): Uint8Array;
};

const script = countedBytes(compactSize);
const u32 = (value: number) => encode(u32le, value);
const i32 = (value: number) => encode(i32le, value);
const u64 = (value: bigint) => encode(u64le, value);
const bare = (input: BitcoinInput): BitcoinInput => ({ ...input, scriptSig: new Uint8Array() });
const outpointOf = ({ previousId, vout }: BitcoinInput) => concatBytes(previousId, u32(vout));
const sequenceOf = ({ sequence }: BitcoinInput) => u32(sequence);
const outputOf = (output: BitcoinOutput) => encode(bitcoinOutput, output);
const amountOf = ({ value }: BitcoinOutput) => u64(value);
const lockOf = ({ scriptPubKey }: BitcoinOutput) => encode(script, scriptPubKey);

const zeroHash = new Uint8Array(32);

type Hash = (bytes: Uint8Array) => Uint8Array;

/** Prepares the digests of a transaction. Each one from before SegWit hashes all of it, so a fast hash is worth passing in. */
export function sighashesOf(transaction: BitcoinTransaction, sha256: Hash = portableSha256): Sighashes {
  const doubleSha256: Hash = (bytes) => sha256(sha256(bytes));
  /** SHA-256 of the parts of all values, computed when first asked for. */
  function hashedOnce<T>(values: readonly T[], bytesOf: (value: T) => Uint8Array): () => Uint8Array {
    let hash: Uint8Array | undefined;
    return () => {
      hash ??= sha256(joined(values.map(bytesOf)));
      return hash;
    };
  }
  const { version, inputs, outputs, lockTime } = transaction;
  const outpoints = hashedOnce(inputs, outpointOf);
  const sequences = hashedOnce(inputs, sequenceOf);
  const paid = hashedOnce(outputs, outputOf);
  let withoutScripts: Uint8Array | undefined;
  const blank = () => {
    withoutScripts ??= serialiseWithoutWitnesses({ ...transaction, inputs: inputs.map(bare) });
    return withoutScripts;
  };
  const inputAt = (index: number) => inputs[index] as BitcoinInput;
  const ownOutput = (index: number) => sha256(concatBytes(...outputs.slice(index, index + 1).map(outputOf)));
  let lastSpent: readonly BitcoinOutput[] | undefined;
  let amounts = hashedOnce<BitcoinOutput>([], amountOf);
  let locks = hashedOnce<BitcoinOutput>([], lockOf);

  return {
    legacy(index, scriptCode, hashType) {
      const kind = hashType & 0x1f;
      const isWhole = kind !== sighashNone && kind !== sighashSingle && (hashType & anyoneCanPay) === 0;
      const code = withoutSeparators(scriptCode);
      if (!isWhole) return legacySighash(transaction, index, code, hashType);
      const bytes = blank();
      // Version, count, then 41 bytes per input: 36 for what it spends, one that says there is no script, its sequence.
      const at = 4 + encode(compactSize, inputs.length).length + 41 * index + 36;
      return doubleSha256(joined([bytes.subarray(0, at), encode(script, code), bytes.subarray(at + 1), i32(hashType)]));
    },

    segwit(index, scriptCode, amount, hashType) {
      const kind = hashType & 0x1f;
      const isForAll = kind !== sighashNone && kind !== sighashSingle;
      const isAlone = (hashType & anyoneCanPay) !== 0;
      const hasOwnOutput = kind === sighashSingle && index < outputs.length;
      // BIP-143 hashes twice what BIP-341 hashes once.
      return doubleSha256(
        concatBytes(
          i32(version),
          isAlone ? zeroHash : sha256(outpoints()),
          isAlone || !isForAll ? zeroHash : sha256(sequences()),
          outpointOf(inputAt(index)),
          encode(script, scriptCode),
          u64(amount),
          sequenceOf(inputAt(index)),
          isForAll ? sha256(paid()) : hasOwnOutput ? sha256(ownOutput(index)) : zeroHash,
          u32(lockTime),
          i32(hashType),
        ),
      );
    },

    taproot(index, spent, hashType) {
      if (lastSpent !== spent) {
        lastSpent = spent;
        amounts = hashedOnce(spent, amountOf);
        locks = hashedOnce(spent, lockOf);
      }
      const kind = hashType & 3;
      const isForAll = kind !== sighashNone && kind !== sighashSingle;
      const isAlone = (hashType & anyoneCanPay) !== 0;
      const input = inputAt(index);
      return taggedHash(
        "TapSighash",
        Uint8Array.of(0, hashType),
        i32(version),
        u32(lockTime),
        ...(isAlone ? [] : [outpoints(), amounts(), locks(), sequences()]),
        ...(isForAll ? [paid()] : []),
        // A key spend, and no annex.
        Uint8Array.of(0),
        ...(isAlone ? [outpointOf(input), outputOf(spent[index] as BitcoinOutput), sequenceOf(input)] : [u32(index)]),
        ...(kind === sighashSingle ? [ownOutput(index)] : []),
      );
    },
  };
}

const utf8 = new TextEncoder();

/** BIP-340's hash with a name in front, so that digests of different purposes are never the same. */
export function taggedHash(tag: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const name = portableSha256(utf8.encode(tag));
  return portableSha256(concatBytes(name, name, ...parts));
}

/** Not a hash at all: what the first client gave for SINGLE without a matching output, and all others must. */
const one = Uint8Array.of(1, ...new Uint8Array(31));
const blankOutput: BitcoinOutput = { value: 2n ** 64n - 1n, scriptPubKey: new Uint8Array() };

/** The kinds that leave parts of the transaction open. */
function legacySighash(
  transaction: BitcoinTransaction,
  index: number,
  scriptCode: Uint8Array,
  hashType: number,
): Uint8Array {
  const kind = hashType & 0x1f;
  const isForAll = kind !== sighashNone && kind !== sighashSingle;
  if (kind === sighashSingle && index >= transaction.outputs.length) return one;
  const inputs = transaction.inputs.map((input, i) => ({
    ...input,
    scriptSig: i === index ? scriptCode : new Uint8Array(),
    sequence: i === index || isForAll ? input.sequence : 0,
  }));
  const upToOwn = () =>
    transaction.outputs.slice(0, index + 1).map((output, i) => (i === index ? output : blankOutput));
  const signed: BitcoinTransaction = {
    ...transaction,
    inputs: hashType & anyoneCanPay ? inputs.slice(index, index + 1) : inputs,
    outputs: isForAll ? transaction.outputs : kind === sighashSingle ? upToOwn() : [],
  };
  return doubleSha256(concatBytes(serialiseWithoutWitnesses(signed), i32(hashType)));
}

const opCodeSeparator = 0xab;

/** How many bytes behind a push opcode say how long its data is. */
const pushLengths: Readonly<Record<number, number>> = { 76: 1, 77: 2, 78: 4 };

function withoutSeparators(code: Uint8Array): Uint8Array {
  if (!code.includes(opCodeSeparator)) return code;
  const kept: Uint8Array[] = [];
  for (let at = 0; at < code.length; ) {
    const next = at + operationLength(code, at);
    if (code[at] !== opCodeSeparator) kept.push(code.subarray(at, next));
    at = next;
  }
  return joined(kept);
}

/** The opcode at `at` with the data it pushes; data that is cut off is all the rest. */
function operationLength(code: Uint8Array, at: number): number {
  const opcode = code[at] ?? 0;
  if (opcode < 76) return 1 + opcode;
  const digits = pushLengths[opcode] ?? 0;
  let length = 0;
  for (let i = 1; i <= digits; i++) length += (code[at + i] ?? 0) * 2 ** (8 * (i - 1));
  return 1 + digits + length;
}
