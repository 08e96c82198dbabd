/**
 * Partially signed Bitcoin transactions, version 0 (BIP-174, BIP-371). Maps keep their pairs as they came, known and
 * unknown, in their order; a signature is one more pair and every other byte stays. Known fields are checked for their
 * shape, because the next signer in the round will refuse what we pass on.
 */
import { sameBytes } from "../encoding/bytes.ts";
import { compactSize, countedBytes } from "../encoding/compact_size.ts";
import { toHex } from "../encoding/hex.ts";
import { joined } from "../encoding/joined.ts";
import { decode, encodeAll, type Layout, type Reader, readerOf, struct } from "../encoding/layout.ts";
import { createPace, finish, mapWithPauses, type Work } from "../work.ts";
import {
  type BitcoinInput,
  type BitcoinOutput,
  type BitcoinTransaction,
  bitcoinOutput,
  hashingBitcoinId,
  parsingBitcoinTransaction,
  parsingUnsignedBitcoinTransaction,
} from "./bitcoin_transaction.ts";
import { toU32 } from "./little_endian.ts";
import { checkField, globalFields, inputFields, outputFields, type PsbtFields } from "./psbt_fields.ts";
import { type LongTransactionFormat, parsingStrictly, refusing, unparsable } from "./strict_parsing.ts";

/** One field: its key begins with its type. */
export type PsbtPair = { key: Uint8Array; value: Uint8Array };

/** What is known about one input. Undefined: not given. */
export type PsbtInput = {
  pairs: readonly PsbtPair[];
  /** The whole transaction that this input spends from; its id is checked, so its amounts are true. */
  nonWitnessUtxo: BitcoinTransaction | undefined;
  /** The spent output alone, as the sender of the PSBT claims it. */
  witnessUtxo: BitcoinOutput | undefined;
  /** The spent output, from whichever of the two is given. */
  spent: BitcoinOutput | undefined;
  sighashType: number | undefined;
  redeemScript: Uint8Array | undefined;
  witnessScript: Uint8Array | undefined;
  /** x of the key before the tweak. */
  tapInternalKey: Uint8Array | undefined;
  /** Whether fields of Taproot script spends are there. */
  hasTapScripts: boolean;
  /** Whether a finalizer has been here already. */
  isFinal: boolean;
};

export type Psbt = {
  /** Without scripts and witnesses: what is to be signed. */
  transaction: BitcoinTransaction;
  global: readonly PsbtPair[];
  inputs: readonly PsbtInput[];
  outputs: readonly (readonly PsbtPair[])[];
};

const magic = Uint8Array.of(0x70, 0x73, 0x62, 0x74, 0xff);

/** Key types of the fields we read. */
export const psbtIn = {
  nonWitnessUtxo: 0x00,
  witnessUtxo: 0x01,
  partialSig: 0x02,
  sighashType: 0x03,
  redeemScript: 0x04,
  witnessScript: 0x05,
  finalScriptSig: 0x07,
  finalScriptWitness: 0x08,
  tapKeySig: 0x13,
  tapScriptSig: 0x14,
  tapLeafScript: 0x15,
  tapInternalKey: 0x17,
  tapMerkleRoot: 0x18,
} as const;

/** What nodes relay, counted without witnesses. */
export const maxTransactionLength = 100_000;
/** Far beyond any real input; each field costs us a hundred times its least size in memory. */
const maxFields = 10_000;
/** Fields between two pauses. */
const fieldsAtOnce = 500;
const maxLength = 2 * 1024 * 1024;

const sized = countedBytes(compactSize);

const pair: Layout<PsbtPair> = struct({ key: sized, value: sized });
/** A key of length zero, behind the pairs of a map. */
const endOfMap = Uint8Array.of(0);

function* readingPairs(from: Reader): Work<readonly PsbtPair[]> {
  const pairs: PsbtPair[] = [];
  while (from.bytes[from.at] !== 0) {
    if (pairs.length === maxFields) throw unparsable(`over ${maxFields} fields in one map`);
    pairs.push(pair.read(from));
    if (pairs.length % fieldsAtOnce === 0) yield;
  }
  from.at++;
  return pairs;
}

const format: LongTransactionFormat<Psbt> = { maxLength, reading, serialising: serialisingPsbt };

/** Reads a PSBT by the rules of its format, or refuses it with the reason. */
export function parsePsbt(bytes: Uint8Array): Psbt {
  return finish(parsingPsbt(bytes));
}

/** The same with pauses: a megabyte of hex can have a hundred thousand fields. */
export function parsingPsbt(bytes: Uint8Array): Work<Psbt> {
  return parsingStrictly(bytes, format);
}

function* reading(bytes: Uint8Array): Work<Psbt> {
  if (!sameBytes(bytes.subarray(0, magic.length), magic)) throw unparsable("not a PSBT");
  const from = readerOf(bytes);
  from.at = magic.length;
  const global = yield* readingMap(from, "globals", globalFields);
  const unsigned = findValue(global, 0x00) ?? missing();
  if (unsigned.length > maxTransactionLength) throw unparsable(`a transaction over ${maxTransactionLength} bytes`);
  const transaction = yield* parsingUnsignedBitcoinTransaction(unsigned);
  if (transaction.inputs.some(({ scriptSig }) => scriptSig.length > 0)) throw unparsable("its transaction is signed");
  const inputs: PsbtInput[] = [];
  for (const [i, input] of transaction.inputs.entries()) {
    inputs.push(yield* readingInput(input, yield* readingMap(from, `input ${i}`, inputFields), i));
    yield;
  }
  const outputs: (readonly PsbtPair[])[] = [];
  for (const i of transaction.outputs.keys()) {
    outputs.push(yield* readingMap(from, `output ${i}`, outputFields));
    yield;
  }
  if (from.at !== bytes.length) throw unparsable("trailing bytes");
  return { transaction, global, inputs, outputs };
}

function missing(): never {
  throw unparsable("a PSBT without its transaction");
}

/** BIP-174: no key twice in a map, and every known field in its shape. */
function* readingMap(from: Reader, where: string, fields: PsbtFields): Work<readonly PsbtPair[]> {
  const pairs = yield* readingPairs(from);
  const seen = new Set<string>();
  const pace = createPace(fieldsAtOnce);
  for (const { key, value } of pairs) {
    const name = toHex(key);
    if (seen.has(name)) throw unparsable(`${where}: a field of type ${key[0]} twice`);
    seen.add(name);
    checkField(fields, where, key, value);
    if (pace(1)) yield;
  }
  return pairs;
}

/** The value of a field whose key is its type alone. */
export function findValue(pairs: readonly PsbtPair[], type: number): Uint8Array | undefined {
  return pairs.find(({ key }) => key.length === 1 && key[0] === type)?.value;
}

function hasType(pairs: readonly PsbtPair[], ...types: readonly number[]): boolean {
  return pairs.some(({ key }) => types.includes(key[0] ?? -1));
}

function* readingInput({ previousId, vout }: BitcoinInput, pairs: readonly PsbtPair[], index: number): Work<PsbtInput> {
  const whole = findValue(pairs, psbtIn.nonWitnessUtxo);
  const claimed = findValue(pairs, psbtIn.witnessUtxo);
  const nonWitnessUtxo = whole && (yield* parsingBitcoinTransaction(whole));
  const witnessUtxo = claimed && refusing(() => decode(bitcoinOutput, claimed));
  if (nonWitnessUtxo !== undefined && !sameBytes(yield* hashingBitcoinId(nonWitnessUtxo), previousId)) {
    throw unparsable(`input ${index}: non_witness_utxo is another transaction than the one spent`);
  }
  const proven = nonWitnessUtxo?.outputs[vout];
  if (nonWitnessUtxo !== undefined && proven === undefined)
    throw unparsable(`input ${index}: spends an output that is not there`);
  if (proven !== undefined && witnessUtxo !== undefined && !isSameOutput(proven, witnessUtxo)) {
    throw unparsable(`input ${index}: witness_utxo is not the output that is spent`);
  }
  const sighashType = findValue(pairs, psbtIn.sighashType);
  return {
    pairs,
    nonWitnessUtxo,
    witnessUtxo,
    spent: proven ?? witnessUtxo,
    sighashType: sighashType && toU32(sighashType, 0),
    redeemScript: findValue(pairs, psbtIn.redeemScript),
    witnessScript: findValue(pairs, psbtIn.witnessScript),
    tapInternalKey: findValue(pairs, psbtIn.tapInternalKey),
    hasTapScripts: hasType(pairs, psbtIn.tapScriptSig, psbtIn.tapLeafScript, psbtIn.tapMerkleRoot),
    isFinal: hasType(pairs, psbtIn.finalScriptSig, psbtIn.finalScriptWitness),
  };
}

function isSameOutput(a: BitcoinOutput, b: BitcoinOutput): boolean {
  return a.value === b.value && sameBytes(a.scriptPubKey, b.scriptPubKey);
}

/** The bytes of a PSBT, pair by pair as they were read. */
export function serialisePsbt(psbt: Psbt): Uint8Array<ArrayBuffer> {
  return finish(serialisingPsbt(psbt));
}

/** The same with pauses. */
export function* serialisingPsbt({ global, inputs, outputs }: Psbt): Work<Uint8Array<ArrayBuffer>> {
  const maps = [global, ...inputs.map(({ pairs }) => pairs), ...outputs];
  const written = yield* mapWithPauses(maps, (pairs) => encodeAll(pair, pairs));
  return joined([magic, ...written.flatMap((bytes) => [bytes, endOfMap])]);
}

/** The PSBT with one more field in an input, at its place by type; a field with the same key is replaced where it is. */
export function withInputPair(psbt: Psbt, index: number, pair: PsbtPair): Psbt {
  return withInputPairs(psbt, new Map([[index, pair]]));
}

/** The same with a field for each of several inputs. */
export function withInputPairs(psbt: Psbt, added: ReadonlyMap<number, PsbtPair>): Psbt {
  const inputs = psbt.inputs.map((input, index) => {
    const pair = added.get(index);
    return pair === undefined ? input : { ...input, pairs: inserted(input.pairs, pair) };
  });
  return { ...psbt, inputs };
}

function inserted(pairs: readonly PsbtPair[], pair: PsbtPair): readonly PsbtPair[] {
  const same = pairs.findIndex(({ key }) => sameBytes(key, pair.key));
  if (same >= 0) return pairs.with(same, pair);
  const type = pair.key[0] ?? 0;
  const next = pairs.findIndex(({ key }) => (key[0] ?? 0) > type);
  return pairs.toSpliced(next < 0 ? pairs.length : next, 0, pair);
}
