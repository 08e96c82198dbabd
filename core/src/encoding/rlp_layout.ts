/**
 * Typed shapes of RLP items, each with one reading and one writing. Transactions are declared with these, so that what
 * is read is all there is: every field counted, every address and hash of its length, every integer minimal.
 */
import { Fault } from "../fault.ts";
import { fromRlpInteger, type RlpItem, toRlpInteger } from "./rlp.ts";

/** How one item becomes a value, and the value the same item again. */
export type RlpLayout<T> = {
  read(item: RlpItem): T;
  write(value: T): RlpItem;
};

/** The value an RLP layout describes. */
export type RlpValue<L> = L extends RlpLayout<infer T> ? T : never;

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed RLP: ${why}`);
}

function asString(item: RlpItem): Uint8Array {
  if (!(item instanceof Uint8Array)) throw malformed("a list where a string belongs");
  return item;
}

/** The items of a list; a string is refused. */
export function asList(item: RlpItem): readonly RlpItem[] {
  if (item instanceof Uint8Array) throw malformed("a string where a list belongs");
  return item;
}

/** An unsigned integer of at most `maxBytes`. */
export function integer(maxBytes: number): RlpLayout<bigint> {
  return { read: (item) => fromRlpInteger(item, maxBytes), write: toRlpInteger };
}

/** Any bytes. */
export const string: RlpLayout<Uint8Array> = { read: asString, write: (value) => value };

/** Exactly `length` bytes. */
export function fixedString(length: number): RlpLayout<Uint8Array> {
  return {
    read(item) {
      const bytes = asString(item);
      if (bytes.length !== length) throw malformed(`${bytes.length} bytes where ${length} belong`);
      return bytes;
    },
    write: (value) => value,
  };
}

/** Exactly `length` bytes, or the empty string for a value that is not there. */
export function optionalString(length: number): RlpLayout<Uint8Array | undefined> {
  const present = fixedString(length);
  return {
    read: (item) => (asString(item).length === 0 ? undefined : present.read(item)),
    write: (value) => value ?? new Uint8Array(),
  };
}

/** Any number of items of one shape. */
export function listOf<T>(layout: RlpLayout<T>): RlpLayout<readonly T[]> {
  return {
    read: (item) => asList(item).map((part) => layout.read(part)),
    write: (values) => values.map((value) => layout.write(value)),
  };
}

/** Named items in the order they are declared, and no others. */
export function tuple<T extends Record<string, unknown>>(fields: { [K in keyof T]: RlpLayout<T[K]> }): RlpTuple<T> {
  const names = Object.keys(fields) as (keyof T)[];
  return {
    length: names.length,
    read(item) {
      const items = asList(item);
      if (items.length !== names.length) throw malformed(`${items.length} items where ${names.length} belong`);
      const value = {} as T;
      for (const [i, name] of names.entries()) value[name] = fields[name].read(items[i] as RlpItem);
      return value;
    },
    write: (value) => names.map((name) => fields[name].write(value[name])),
  };
}

export type RlpTuple<T> = {
  /** How many items it has. */
  length: number;
  read(item: RlpItem): T;
  write(value: T): readonly RlpItem[];
};
