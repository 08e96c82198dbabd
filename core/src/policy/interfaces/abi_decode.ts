/**
 * Reads the arguments of a call, if it is encoded as compilers and libraries encode it and in no other way. A contract
 * would also run calls whose offsets overlap, point backwards or leave gaps; those could be read as two different things, so
 * they are read as nothing. What is read here gives the same bytes when it is encoded again.
 */
import { toHex } from "../../encoding/hex.ts";
import { Fault } from "../../fault.ts";
import { EvmText, type Value } from "../values/values.ts";
import type { AbiAtom, AbiType } from "./abi_types.ts";

const maxBytes = 1024 * 1024;
/** Arguments, items of arrays and parts of tuples together. */
const maxValues = 10_000;
const wordLength = 32;

type Call = { bytes: Uint8Array; view: DataView; valuesLeft: number };
/** A value, and where the bytes that belong to it end. */
type Read<T> = { value: T; end: number };

/** The one error in here: whatever is wrong with a call, it has no arguments then. */
const notCanonical = new Fault("invalid_argument", "the call is not encoded canonically");

/** The values of `types` that make up all of `bytes`; undefined if these are not their one encoding. */
export function decodeArguments(types: readonly AbiType[], bytes: Uint8Array): readonly Value[] | undefined {
  if (bytes.length > maxBytes || bytes.length % wordLength !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const { value, end } = readSequence({ bytes, view, valuesLeft: maxValues }, types, types.length, 0);
    return end === bytes.length ? value : undefined;
  } catch (error) {
    if (error === notCanonical) return undefined;
    throw error;
  }
}

/**
 * Values behind each other: first what stands in place, then the rests of the dynamic ones in their order and without
 * gaps. So each offset has one right value and is never followed anywhere else; that is why reading cannot loop.
 */
function readSequence(
  call: Call,
  types: readonly AbiType[] | AbiType,
  count: number,
  start: number,
): Read<readonly Value[]> {
  const typeAt = (i: number) => (Array.isArray(types) ? types[i] : types) as AbiType;
  // Every value takes a word at least, so that a count which the bytes cannot hold is refused before anything is made.
  if (count > call.valuesLeft || count * wordLength > call.bytes.length - start) throw notCanonical;
  call.valuesLeft -= count;
  let end = start;
  for (let i = 0; i < count; i++) end += wordLength * (typeAt(i).staticWords ?? 1);
  let at = start;
  const value: Value[] = [];
  for (let i = 0; i < count; i++) {
    const type = typeAt(i);
    const rest = type.staticWords === undefined ? end : at;
    if (type.staticWords === undefined && readLength(call, at) !== end - start) throw notCanonical;
    const read = readValue(call, type, rest);
    value.push(read.value);
    if (type.staticWords === undefined) end = read.end;
    at += wordLength * (type.staticWords ?? 1);
  }
  return { value, end };
}

function readValue(call: Call, type: AbiType, at: number): Read<Value> {
  if (type.kind === "atom") return { value: readAtom(call, type.atom, at), end: at + wordLength };
  if (type.kind === "tuple") return readSequence(call, type.of, type.of.length, at);
  if (type.kind === "array") {
    if (type.length !== undefined) return readSequence(call, type.of, type.length, at);
    return readSequence(call, type.of, readLength(call, at), at + wordLength);
  }
  const { value: bytes, end } = readBytes(call, at);
  return { value: type.kind === "bytes" ? toEvmText(bytes) : toText(bytes), end };
}

/** A length or an offset: nothing in a call of a megabyte needs more than its last four bytes. */
function readLength({ bytes, view }: Call, at: number): number {
  if (at + wordLength > bytes.length || !isZero(bytes, at, at + 28)) throw notCanonical;
  return view.getUint32(at + 28);
}

/** A length, so many bytes, and zeros up to a whole word. */
function readBytes(call: Call, at: number): Read<Uint8Array> {
  const length = readLength(call, at);
  const start = at + wordLength;
  const end = start + wordLength * Math.ceil(length / wordLength);
  if (end > call.bytes.length || !isZero(call.bytes, start + length, end)) throw notCanonical;
  return { value: call.bytes.subarray(start, start + length), end };
}

function readAtom({ bytes, view }: Call, atom: AbiAtom, at: number): Value {
  const end = at + wordLength;
  if (end > bytes.length) throw notCanonical;
  switch (atom.kind) {
    case "uint": {
      const word = readWord(view, at);
      if (word >> BigInt(atom.bits) !== 0n) throw notCanonical;
      return word;
    }
    case "int": {
      const number = BigInt.asIntN(256, readWord(view, at));
      if (BigInt.asIntN(atom.bits, number) !== number) throw notCanonical;
      return number;
    }
    case "address":
      if (!isZero(bytes, at, at + 12)) throw notCanonical;
      return toEvmText(bytes.subarray(at + 12, end));
    case "bool": {
      const last = bytes[end - 1] ?? 2;
      if (last > 1 || !isZero(bytes, at, end - 1)) throw notCanonical;
      return last === 1;
    }
    case "fixedBytes":
      if (!isZero(bytes, at + atom.length, end)) throw notCanonical;
      return toEvmText(bytes.subarray(at, at + atom.length));
  }
}

function readWord(view: DataView, at: number): bigint {
  let word = view.getBigUint64(at + 24);
  for (const [place, shift] of highPlaces) {
    const part = view.getBigUint64(at + place);
    if (part !== 0n) word |= part << shift;
  }
  return word;
}

const highPlaces = [
  [16, 64n],
  [8, 128n],
  [0, 192n],
] as const;

function isZero(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] !== 0) return false;
  return true;
}

function toEvmText(bytes: Uint8Array): EvmText {
  return new EvmText(`0x${toHex(bytes)}`, true);
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Bytes that are not UTF-8 would be shown as something else than they are. */
function toText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw notCanonical;
  }
}
