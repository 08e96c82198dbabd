/** Bitcoin transactions on the wire, with and without witnesses (BIP-144). Each has exactly one spelling here. */
import { sha256 } from "@noble/hashes/sha2.js";
import { compactSize, countedBytes, countedList, readingList, writingList } from "../encoding/compact_size.ts";
import { toHex } from "../encoding/hex.ts";
import { joined } from "../encoding/joined.ts";
import { checkAtEnd, encode, fixed, type Layout, type Reader, readerOf, struct, u8 } from "../encoding/layout.ts";
import { createPace, finish, type Work } from "../work.ts";
import { i32le, u32le, u64le } from "./little_endian.ts";
import { type LongTransactionFormat, parsingStrictly, unparsable } from "./strict_parsing.ts";

/** An output of an earlier transaction, spent here. */
export type BitcoinInput = {
  /** In the order of the wire; people see it reversed (`toTxId`). */
  previousId: Uint8Array;
  vout: number;
  scriptSig: Uint8Array;
  sequence: number;
  witness: readonly Uint8Array[];
};

export type BitcoinOutput = { value: bigint; scriptPubKey: Uint8Array };

export type BitcoinTransaction = {
  version: number;
  inputs: readonly BitcoinInput[];
  outputs: readonly BitcoinOutput[];
  lockTime: number;
};

/** What a block can hold. */
const maxLength = 4_000_000;
/** An empty item takes one byte on the wire and a hundred in memory; scripts that nodes relay take a hundred items. */
const maxWitnessItems = 50_000;
/** Inputs and witness items between two pauses. */
const itemsAtOnce = 500;
/** Every satoshi there will ever be. */
const maxMoney = 21_000_000n * 100_000_000n;

const bareInput = struct({ previousId: fixed(32), vout: u32le, scriptSig: countedBytes(compactSize), sequence: u32le });

/** An input without its witness, which stands elsewhere. */
const input: Layout<BitcoinInput> = {
  write: (out, value) => bareInput.write(out, value),
  read: (from) => ({ ...bareInput.read(from), witness: [] }),
};

/** An amount and the script that locks it. */
export const bitcoinOutput: Layout<BitcoinOutput> = struct({ value: u64le, scriptPubKey: countedBytes(compactSize) });

/** A count of witness items within the bound. */
const witnessCount: Layout<number> = {
  write: compactSize.write,
  read(from) {
    const count = compactSize.read(from);
    if (count > maxWitnessItems) throw unparsable(`over ${maxWitnessItems} witness items`);
    return count;
  },
};

/** The items that an input's script reads beside its `scriptSig`. */
export const witnessStack = countedList(witnessCount, countedBytes(compactSize));

/** The form before SegWit, which is also what an id is the hash of. */
function* readingBare(from: Reader): Work<BitcoinTransaction> {
  const version = i32le.read(from);
  const spent = yield* readingList(compactSize, input, from);
  const paid = yield* readingList(compactSize, bitcoinOutput, from);
  return { version, inputs: spent, outputs: paid, lockTime: u32le.read(from) };
}

/** Either form. No inputs is the mark of the second, so a transaction without inputs cannot be written. */
function* readingAny(from: Reader): Work<BitcoinTransaction> {
  const start = from.at;
  const version = i32le.read(from);
  if (from.bytes[from.at] !== 0) {
    from.at = start;
    return yield* readingBare(from);
  }
  from.at++;
  if (u8.read(from) !== 1) throw unparsable("no inputs, or an unknown extension");
  const bare = yield* readingList(compactSize, input, from);
  const paid = yield* readingList(compactSize, bitcoinOutput, from);
  const pace = createPace(itemsAtOnce);
  let items = 0;
  const withWitness: BitcoinInput[] = [];
  for (const part of bare) {
    const witness = witnessStack.read(from);
    items += witness.length;
    if (items > maxWitnessItems) throw unparsable(`over ${maxWitnessItems} witness items`);
    withWitness.push({ ...part, witness });
    if (pace(1 + witness.length)) yield;
  }
  const value = { version, inputs: withWitness, outputs: paid, lockTime: u32le.read(from) };
  if (!hasWitness(value)) throw unparsable("the form with witnesses, but none is there");
  return value;
}

function* writingBare({ version, inputs, outputs, lockTime }: BitcoinTransaction): Work<Uint8Array<ArrayBuffer>> {
  const spent = yield* writingList(compactSize, input, inputs);
  const paid = yield* writingList(compactSize, bitcoinOutput, outputs);
  return joined([encode(i32le, version), ...spent, ...paid, encode(u32le, lockTime)]);
}

const witnessMark = Uint8Array.of(0, 1);

function* writingAny(transaction: BitcoinTransaction): Work<Uint8Array<ArrayBuffer>> {
  if (!hasWitness(transaction)) return yield* writingBare(transaction);
  const { version, inputs, outputs, lockTime } = transaction;
  const spent = yield* writingList(compactSize, input, inputs);
  const paid = yield* writingList(compactSize, bitcoinOutput, outputs);
  const witnesses: Uint8Array[] = [];
  const pace = createPace(itemsAtOnce);
  for (const { witness } of inputs) {
    witnesses.push(encode(witnessStack, witness));
    if (pace(1 + witness.length)) yield;
  }
  const parts = [encode(i32le, version), witnessMark, ...spent, ...paid, joined(witnesses), encode(u32le, lockTime)];
  return joined(parts);
}

function hasWitness({ inputs: all }: BitcoinTransaction): boolean {
  return all.some(({ witness }) => witness.length > 0);
}

function formOf(
  reading: (from: Reader) => Work<BitcoinTransaction>,
  serialising: (transaction: BitcoinTransaction) => Work<Uint8Array>,
): LongTransactionFormat<BitcoinTransaction> {
  return {
    maxLength,
    *reading(bytes) {
      const from = readerOf(bytes);
      const value = yield* reading(from);
      checkAtEnd(from);
      return value;
    },
    serialising,
  };
}

const anyForm = formOf(readingAny, writingAny);
const bareForm = formOf(readingBare, writingBare);

/** Reads a transaction as the network carries it, or refuses it with the reason. */
export function parseBitcoinTransaction(bytes: Uint8Array): BitcoinTransaction {
  return finish(parsingBitcoinTransaction(bytes));
}

/** The same with pauses. */
export function parsingBitcoinTransaction(bytes: Uint8Array): Work<BitcoinTransaction> {
  return parsingStrictly(bytes, anyForm);
}

/** Reads the form without witnesses alone, in which a transaction may have no inputs yet (BIP-174). */
export function parseUnsignedBitcoinTransaction(bytes: Uint8Array): BitcoinTransaction {
  return finish(parsingUnsignedBitcoinTransaction(bytes));
}

/** The same with pauses. */
export function parsingUnsignedBitcoinTransaction(bytes: Uint8Array): Work<BitcoinTransaction> {
  return parsingStrictly(bytes, bareForm);
}

/** The bytes that the network carries. */
export function serialiseBitcoinTransaction(transaction: BitcoinTransaction): Uint8Array<ArrayBuffer> {
  return finish(writingAny(transaction));
}

/** The bytes without witnesses. */
export function serialiseWithoutWitnesses(transaction: BitcoinTransaction): Uint8Array<ArrayBuffer> {
  return finish(writingBare(transaction));
}

/** Bitcoin's hash. */
export function doubleSha256(bytes: Uint8Array): Uint8Array {
  return sha256(sha256(bytes));
}

/** The hash by which inputs name this transaction, in the order of the wire. */
export function bitcoinId(transaction: BitcoinTransaction): Uint8Array {
  return finish(hashingBitcoinId(transaction));
}

/** The same with pauses. */
export function* hashingBitcoinId(transaction: BitcoinTransaction): Work<Uint8Array> {
  return doubleSha256(yield* writingBare(transaction));
}

/** An id as explorers and policies spell it. */
export function toTxId(id: Uint8Array): string {
  return toHex(Uint8Array.from(id).reverse());
}

/** Refuses what no node takes whatever its state: nothing spent or paid, an output twice, amounts beyond all money. */
export function checkBitcoinTransaction({ inputs: spent, outputs: paid }: BitcoinTransaction): void {
  if (spent.length === 0) throw unparsable("it has no inputs");
  if (paid.length === 0) throw unparsable("it has no outputs");
  const seen = new Set<string>();
  for (const { previousId, vout } of spent) {
    const outpoint = `${toHex(previousId)}:${vout}`;
    if (seen.has(outpoint)) throw unparsable("it spends one output twice");
    seen.add(outpoint);
    const isNull = vout === 0xffffffff && previousId.every((byte) => byte === 0);
    if (isNull) throw unparsable("it spends nothing: only a block's first transaction may");
  }
  checkAmounts(paid);
}

/** Refuses amounts, alone or together, beyond all the money there is; returns their sum. */
export function checkAmounts(paid: readonly BitcoinOutput[]): bigint {
  const sum = paid.reduce((total, { value }) => total + value, 0n);
  // Amounts are unsigned here, so a sum in range has only parts in range.
  if (sum > maxMoney) throw unparsable("amounts beyond 21 million coins");
  return sum;
}
