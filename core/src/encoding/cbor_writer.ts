/**
 * The CBOR writer (RFC 8949, section 4.2.1): lengths and integers in their shortest form, a map's keys in the order of their own
 * bytes. So one value has one spelling, and `cbor.ts` reads all that is written here.
 */
import { Fault } from "../fault.ts";
import { compareBytes } from "./bytes.ts";
import { type CborValue, isCborMap } from "./cbor.ts";
import { joined } from "./joined.ts";

/** RFC 8949, section 3.1. */
const major = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5 } as const;
const simple = { false: 0xf4, true: 0xf5, null: 0xf6 } as const;

/** By length of the argument: the low five bits of the head, and the first value that no longer fits. */
const forms = [
  { info: 24, length: 1, end: 1n << 8n },
  { info: 25, length: 2, end: 1n << 16n },
  { info: 26, length: 4, end: 1n << 32n },
  { info: 27, length: 8, end: 1n << 64n },
] as const;

export function toCbor(value: CborValue): Uint8Array<ArrayBuffer> {
  if (value === null) return Uint8Array.of(simple.null);
  if (typeof value === "boolean") return Uint8Array.of(value ? simple.true : simple.false);
  if (typeof value === "number" || typeof value === "bigint") return writeInteger(value);
  if (typeof value === "string") return writeString(major.text, new TextEncoder().encode(value));
  if (value instanceof Uint8Array) return writeString(major.bytes, value);
  if (isCborMap(value)) return writeMap([...value]);
  const items = value as readonly CborValue[];
  return joined([head(major.array, items.length), ...items.map(toCbor)]);
}

function writeInteger(value: number | bigint): Uint8Array<ArrayBuffer> {
  if (typeof value === "number" && !Number.isSafeInteger(value)) throw unwritable("a number that is no exact integer");
  return value < 0 ? head(major.negative, -1n - BigInt(value)) : head(major.unsigned, value);
}

function writeString(type: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return joined([head(type, bytes.length), bytes]);
}

function writeMap(entries: readonly (readonly [CborValue, CborValue])[]): Uint8Array<ArrayBuffer> {
  const written = entries.map(([key, item]) => ({ key: toCbor(key), item: toCbor(item) }));
  written.sort((a, b) => compareBytes(a.key, b.key));
  return joined([head(major.map, written.length), ...written.flatMap(({ key, item }) => [key, item])]);
}

function head(type: number, argument: number | bigint): Uint8Array<ArrayBuffer> {
  const value = BigInt(argument);
  if (value < 24n) return Uint8Array.of((type << 5) | Number(value));
  const form = forms.find(({ end }) => value < end);
  if (form === undefined) throw unwritable("an integer beyond 64 bits");
  const bytes = new Uint8Array(1 + form.length);
  bytes[0] = (type << 5) | form.info;
  for (let i = 0; i < form.length; i++) bytes[form.length - i] = Number((value >> BigInt(8 * i)) & 0xffn);
  return bytes;
}

function unwritable(what: string): Fault {
  return new Fault("internal", `CBOR cannot hold ${what}`);
}
