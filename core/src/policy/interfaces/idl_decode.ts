/**
 * Reads Borsh as programs read it: little-endian integers, counted lists, a byte before options and variants. Each value has
 * one encoding here, so that two different calls never show the same arguments.
 */
import { toBase58 } from "../../encoding/base58.ts";
import { toHex } from "../../encoding/hex.ts";
import { Fault } from "../../fault.ts";
import type { PolicyMap, Value } from "../values/values.ts";
import type { IdlFields, IdlInteger, IdlType } from "./idl_types.ts";

/** Some values take no bytes, so that the length of the data does not bound their number. */
const maxValues = 10_000;

type Reader = { bytes: Uint8Array; view: DataView; at: number; valuesLeft: number };

/** The one error in here: whatever is wrong with the data, it has no arguments then. */
const unreadable = new Fault("invalid_argument", "the instruction's data is not of its type");

/** The values of named fields that make up all of `bytes`; undefined if they do not. */
export function decodeFields(
  fields: readonly { name: string; type: IdlType }[],
  bytes: Uint8Array,
): PolicyMap | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const from: Reader = { bytes, view, at: 0, valuesLeft: maxValues };
  try {
    const values = readNamed(from, fields);
    return from.at === bytes.length ? values : undefined;
  } catch (error) {
    if (error === unreadable) return undefined;
    throw error;
  }
}

function take(from: Reader, length: number): number {
  const start = from.at;
  if (length > from.bytes.length - start) throw unreadable;
  from.at = start + length;
  return start;
}

function readNamed(from: Reader, fields: readonly { name: string; type: IdlType }[]): PolicyMap {
  return new Map(fields.map(({ name, type }) => [name, readValue(from, type)]));
}

/** Stands for an option that is empty: no comparison has an answer with it, and it has no keys. */
const none: PolicyMap = new Map();

function readValue(from: Reader, type: IdlType): Value {
  if (--from.valuesLeft < 0) throw unreadable;
  switch (type.kind) {
    case "bool":
      return readFlag(from);
    case "integer":
      return readInteger(from, type);
    case "float":
      return readFloat(from, type.bits);
    case "bytes":
      return toHex(readCounted(from));
    case "string":
      return toText(readCounted(from));
    case "publicKey": {
      const start = take(from, 32);
      return toBase58(from.bytes.subarray(start, start + 32));
    }
    case "option":
      return readFlag(from) ? readValue(from, type.of) : none;
    case "vec":
      return readItems(from, type.of, from.view.getUint32(take(from, 4), true));
    case "array":
      return readItems(from, type.of, type.length);
    case "enum": {
      const variant = type.variants[from.view.getUint8(take(from, 1))];
      if (variant === undefined) throw unreadable;
      // A variant without fields says only that it is the one.
      return new Map([[variant.name, variant.fields === undefined ? true : readFields(from, variant.fields)]]);
    }
    default:
      return readFields(from, type);
  }
}

function readFields(from: Reader, fields: IdlFields): Value {
  if (fields.kind === "tuple") return fields.types.map((type) => readValue(from, type));
  return readNamed(from, fields.fields);
}

function readItems(from: Reader, of: IdlType, count: number): readonly Value[] {
  if (count > from.valuesLeft) throw unreadable;
  const items: Value[] = [];
  for (let i = 0; i < count; i++) items.push(readValue(from, of));
  return items;
}

function readFlag(from: Reader): boolean {
  const byte = from.view.getUint8(take(from, 1));
  if (byte > 1) throw unreadable;
  return byte === 1;
}

function readCounted(from: Reader): Uint8Array {
  const length = from.view.getUint32(take(from, 4), true);
  const start = take(from, length);
  return from.bytes.subarray(start, start + length);
}

/** Those of 128 bits are decimal text, as published; comparisons with integers go by the number. */
function readInteger(from: Reader, { bits, signed }: IdlInteger): bigint | string {
  const start = take(from, bits / 8);
  let value = 0n;
  for (let i = bits / 8 - 1; i >= 0; i--) value = (value << 8n) | BigInt(from.bytes[start + i] ?? 0);
  const number = signed ? BigInt.asIntN(bits, value) : value;
  return bits === 128 ? number.toString() : number;
}

/** The shortest decimal text that gives the same float. Borsh has no NaN, so neither have we. */
function readFloat(from: Reader, bits: 32 | 64): string {
  const start = take(from, bits / 8);
  const number = bits === 64 ? from.view.getFloat64(start, true) : from.view.getFloat32(start, true);
  if (Number.isNaN(number)) throw unreadable;
  if (Object.is(number, -0)) return "-0";
  if (bits === 64 || !Number.isFinite(number)) return String(number);
  // Nine digits are always enough for 32 bits.
  for (let digits = 1; digits < 9; digits++) {
    const text = Number(number.toPrecision(digits));
    if (Math.fround(text) === number) return String(text);
  }
  return String(Number(number.toPrecision(9)));
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function toText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw unreadable;
  }
}
