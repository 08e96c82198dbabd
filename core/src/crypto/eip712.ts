/**
 * EIP-712 typed data: JSON text → types, domain and message → the digest that Ethereum wallets sign.
 *
 * The digest is computed from the parsed values and from nothing else, so that what a policy reads in them is what is
 * signed. Parsing is strict where two readers could differ: a name that would make an encoded type ambiguous, a value that
 * needs guessing, a missing field are refused. It is lenient where all clients agree: integers come as numbers, decimal or
 * `0x` text, addresses in any case, keys that no type declares are neither hashed nor shown, and a missing `EIP712Domain`
 * type follows from the domain's own keys. Nothing that arrives is repaired: without that type and without keys there is
 * no telling what the domain was.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { fromHex, fromHexAt } from "../encoding/hex.ts";
import { joined } from "../encoding/joined.ts";
import { readJson } from "../encoding/json.ts";
import { Fault } from "../fault.ts";
import { createPace, finish, type Work } from "../work.ts";
import type { Curves } from "./curves.ts";

/** Integers are bigints; addresses and bytes are lower-case `0x` text; a struct is a map, so no name is special in it. */
export type TypedValue = bigint | boolean | string | readonly TypedValue[] | TypedStruct;
export type TypedStruct = ReadonlyMap<string, TypedValue>;

export type TypedField = { name: string; type: string };
export type TypedTypes = ReadonlyMap<string, readonly TypedField[]>;

/** Checked typed data: every value has the form of its type. */
export type TypedData = {
  types: TypedTypes;
  primaryType: string;
  domain: TypedStruct;
  message: TypedStruct;
};

type Keccak = Pick<Curves, "keccak256">;

/** Hashing is linear in these, and a signer has other things to do. */
const maxTextBytes = 128 * 1024;
const maxTypes = 100;
const maxValues = 4096;
const maxTypeText = 256 * 1024;
const maxNameLength = 128;

const domainType = "EIP712Domain";
const utf8 = new TextEncoder();

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `invalid EIP-712 typed data: ${why}`);
}

/** Reads typed data as clients send it: an object with `types`, `primaryType`, `domain` and `message`. */
export function parseTypedData(text: string): TypedData {
  const { types: sentTypes, primaryType, domain: sentDomain, message } = readDocument(text);
  const rawTypes = asObject(sentTypes, "`types`");
  const domain = asObject(sentDomain, "`domain`");
  const types = parseTypes(rawTypes, domain);
  if (typeof primaryType !== "string" || !types.has(primaryType)) {
    throw malformed("`primaryType` is not one of `types`");
  }
  if (primaryType !== domainType && !Object.hasOwn(rawTypes, domainType)) refuseLostDomain(domain);
  const reader = { types, valuesLeft: maxValues };
  return {
    types,
    primaryType,
    domain: readStruct(reader, domainType, domain, "domain"),
    // Wallets sign the domain alone when it is what they are asked for: then there is no message to read.
    message: primaryType === domainType ? new Map() : readStruct(reader, primaryType, message, "message"),
  };
}

/** What is signed: keccak256 of `1901`, the domain's hash and the message's. */
export function typedDataDigest(hashes: Keccak, typedData: TypedData): Uint8Array {
  return finish(digestingTypedData(hashes, typedData));
}

/** The same with pauses: four thousand values are as many hashes. */
export function* digestingTypedData(
  hashes: Keccak,
  { types, primaryType, domain, message }: TypedData,
): Work<Uint8Array> {
  const hasher = createHasher(hashes, types);
  const parts = [Uint8Array.of(0x19, 0x01), yield* hasher.hashingStruct(domainType, domain)];
  if (primaryType !== domainType) parts.push(yield* hasher.hashingStruct(primaryType, message));
  return hashes.keccak256(concatBytes(...parts));
}

/** The standard's `hashStruct`. */
export function hashStruct(hashes: Keccak, types: TypedTypes, name: string, value: TypedStruct): Uint8Array {
  return finish(createHasher(hashes, types).hashingStruct(name, value));
}

/** The struct's own declaration, then those it refers to, sorted by name. */
export function encodeType(types: TypedTypes, name: string): string {
  const others = dependenciesOf(types, name);
  others.delete(name);
  return [name, ...[...others].sort()].map((each) => declaration(each, fieldsOf(types, each))).join("");
}

function declaration(name: string, fields: readonly TypedField[]): string {
  return `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(",")})`;
}

function dependenciesOf(types: TypedTypes, name: string): Set<string> {
  const found = new Set([name]);
  // A set that grows while it is iterated is visited to its end.
  for (const each of found) {
    for (const { type } of fieldsOf(types, each)) {
      const base = baseOf(type);
      if (types.has(base)) found.add(base);
    }
  }
  return found;
}

function fieldsOf(types: TypedTypes, name: string): readonly TypedField[] {
  const fields = types.get(name);
  if (fields === undefined) throw new Fault("internal", "a struct type went missing");
  return fields;
}

/** What stands before the brackets of an array type. */
function baseOf(type: string): string {
  const bracket = type.indexOf("[");
  return bracket < 0 ? type : type.slice(0, bracket);
}

/** `T[]` or `T[3]` → T and the length; undefined for anything that is no array. */
function findArray(type: string): { item: string; length: number | undefined } | undefined {
  const [, item, digits] = /^(.+)\[([1-9][0-9]{0,5})?\]$/.exec(type) ?? [];
  if (item === undefined) return undefined;
  return { item, length: digits === undefined ? undefined : Number(digits) };
}

/** An atomic type: reads a JSON value, or says undefined; and writes what it read as one word of 32 bytes. */
type Atom<T extends TypedValue = TypedValue> = {
  read(value: unknown): T | undefined;
  encode(hashes: Keccak, value: T): Uint8Array;
};

const bool: Atom<boolean> = {
  read: (value) => (typeof value === "boolean" ? value : undefined),
  encode: (_, value) => integerWord(value ? 1n : 0n),
};

const string: Atom<string> = {
  read: (value) => (typeof value === "string" ? value : undefined),
  encode: (hashes, value) => hashes.keccak256(utf8.encode(value)),
};

const bytes: Atom<string> = {
  read: (value) => readHex(value, undefined),
  encode: (hashes, value) => hashes.keccak256(fromHexAt(value, 2)),
};

const address: Atom<string> = {
  read: (value) => readHex(value, 20),
  encode(_, value) {
    const word = new Uint8Array(32);
    word.set(fromHexAt(value, 2), 12);
    return word;
  },
};

function fixedBytes(length: number): Atom<string> {
  return {
    read: (value) => readHex(value, length),
    encode(_, value) {
      const word = new Uint8Array(32);
      word.set(fromHexAt(value, 2));
      return word;
    },
  };
}

function integer(bits: number, signed: boolean): Atom<bigint> {
  return {
    read(value) {
      const number = readInteger(value);
      if (number === undefined) return undefined;
      const kept = signed ? BigInt.asIntN(bits, number) : BigInt.asUintN(bits, number);
      return kept === number ? number : undefined;
    },
    encode: (_, value) => integerWord(value),
  };
}

function integerWord(value: bigint): Uint8Array {
  return fromHex(BigInt.asUintN(256, value).toString(16).padStart(64, "0"));
}

const atoms = new Map<string, Atom>();
for (const [name, atom] of Object.entries({ bool, string, bytes, address })) atoms.set(name, atom as Atom);
for (let length = 1; length <= 32; length++) {
  atoms.set(`bytes${length}`, fixedBytes(length) as Atom);
  atoms.set(`uint${8 * length}`, integer(8 * length, false) as Atom);
  atoms.set(`int${8 * length}`, integer(8 * length, true) as Atom);
}
// The standard knows no aliases, but clients send them, and all hash the name as it is written.
atoms.set("uint", integer(256, false) as Atom);
atoms.set("int", integer(256, true) as Atom);

/** A JSON number, or text in decimal or behind `0x`; undefined for all else, such as blanks, signs of plus, `1e3` as text. */
export function readInteger(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== "string" || !/^(?:0x[0-9a-fA-F]{1,64}|-?(?:0|[1-9][0-9]{0,77}))$/.test(value)) return undefined;
  return BigInt(value);
}

/** `0x` and whole bytes, `length` of them unless it is undefined; lower case comes out. */
export function readHex(value: unknown, length: number | undefined): string | undefined {
  if (typeof value !== "string" || !/^0x(?:[0-9a-fA-F]{2})*$/.test(value)) return undefined;
  return length === undefined || value.length === 2 + 2 * length ? value.toLowerCase() : undefined;
}

/**
 * viem's serializer drops every field of the domain where `types` lacks EIP712Domain, and published accounts send what it
 * writes. A signature over that would recover to a stranger under the domain that the caller has.
 */
function refuseLostDomain(domain: Record<string, unknown>): void {
  if (Object.keys(domain).length > 0) return;
  throw new Fault(
    "invalid_argument",
    "`domain` is {} and `types` has no EIP712Domain, so the signature would hold for no contract; add EIP712Domain to `types`",
  );
}

type Reader = { types: TypedTypes; valuesLeft: number };

/** `where` is the way to the value, for the refusal; it holds declared names and places, never what was sent. */
function readValue(reader: Reader, type: string, value: unknown, where: string): TypedValue {
  if (--reader.valuesLeft < 0) throw malformed(`more than ${maxValues} values`);
  const array = findArray(type);
  if (array !== undefined) {
    if (!Array.isArray(value)) throw malformed(`\`${where}\` is not an array`);
    if (array.length !== undefined && array.length !== value.length) {
      throw malformed(`\`${where}\` does not have ${array.length} items`);
    }
    return value.map((item: unknown, i) => readValue(reader, array.item, item, `${where}[${i}]`));
  }
  const atom = atoms.get(type);
  if (atom === undefined) return readStruct(reader, type, value, where);
  const read = atom.read(value);
  if (read === undefined) throw malformed(`\`${where}\` is not a \`${type}\``);
  return read;
}

function readStruct(reader: Reader, name: string, value: unknown, where: string): TypedStruct {
  const object = asObject(value, `\`${where}\``);
  const struct = new Map<string, TypedValue>();
  for (const field of fieldsOf(reader.types, name)) {
    const path = `${where}.${field.name}`;
    if (!Object.hasOwn(object, field.name)) throw malformed(`\`${path}\` is missing`);
    struct.set(field.name, readValue(reader, field.type, object[field.name], path));
  }
  return struct;
}

type Hasher = { hashingStruct(name: string, value: TypedStruct): Work<Uint8Array> };

/** Values between two pauses. Most take a hash each, which is some microseconds. */
const valuesAtOnce = 100;

/** Struct types are hashed once each, however many values they have. */
function createHasher(hashes: Keccak, types: TypedTypes): Hasher {
  const pace = createPace(valuesAtOnce);
  const typeHashes = new Map<string, Uint8Array>();
  let typeTextLeft = maxTypeText;
  const typeHash = (name: string): Uint8Array => {
    const known = typeHashes.get(name);
    if (known !== undefined) return known;
    const text = encodeType(types, name);
    typeTextLeft -= text.length;
    if (typeTextLeft < 0) throw malformed("its types refer to each other too often");
    const made = hashes.keccak256(utf8.encode(text));
    typeHashes.set(name, made);
    return made;
  };
  function* encodingValue(type: string, value: TypedValue): Work<Uint8Array> {
    if (pace(1)) yield;
    const array = findArray(type);
    if (array !== undefined) {
      const words: Uint8Array[] = [];
      for (const item of value as readonly TypedValue[]) words.push(yield* encodingValue(array.item, item));
      return hashes.keccak256(joined(words));
    }
    return atoms.get(type)?.encode(hashes, value) ?? (yield* hashingStruct(type, value as TypedStruct));
  }
  function* hashingStruct(name: string, value: TypedStruct): Work<Uint8Array> {
    const words: Uint8Array[] = [typeHash(name)];
    for (const field of fieldsOf(types, name)) {
      const fieldValue = value.get(field.name);
      if (fieldValue === undefined) throw new Fault("internal", "a typed value went missing");
      words.push(yield* encodingValue(field.type, fieldValue));
    }
    return hashes.keccak256(joined(words));
  }
  return { hashingStruct };
}

/** In the order in which the standard lists them. */
const domainFields: readonly TypedField[] = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
  { name: "salt", type: "bytes32" },
];

function parseTypes(rawTypes: Record<string, unknown>, domain: Record<string, unknown>): TypedTypes {
  const names = Object.keys(rawTypes);
  if (names.length > maxTypes) throw malformed(`more than ${maxTypes} types`);
  const types = new Map<string, readonly TypedField[]>();
  for (const name of names) {
    if (!isName(name) || looksAtomic(name)) throw malformed("a type has a name that cannot be a struct's");
    types.set(name, parseFields(name, rawTypes[name]));
  }
  if (!types.has(domainType)) types.set(domainType, domainFieldsOf(domain));
  for (const [name, fields] of types) {
    for (const field of fields) {
      const base = baseOf(field.type);
      if (!atoms.has(base) && !types.has(base)) throw malformed(`a field of \`${name}\` has an unknown type`);
    }
  }
  return types;
}

function parseFields(name: string, value: unknown): readonly TypedField[] {
  if (!Array.isArray(value)) throw malformed(`the type \`${name}\` is not a list of fields`);
  const seen = new Set<string>();
  return value.map((item: unknown) => {
    const { name: field, type } = asObject(item, `a field of \`${name}\``);
    if (typeof field !== "string" || !isName(field)) throw malformed(`a field of \`${name}\` has no usable name`);
    if (seen.has(field)) throw malformed(`\`${name}\` declares a field twice`);
    seen.add(field);
    if (typeof type !== "string" || !isType(type)) throw malformed(`a field of \`${name}\` has an unknown type`);
    return { name: field, type };
  });
}

/** Clients that leave the domain's type out mean the fields that it has. */
function domainFieldsOf(domain: Record<string, unknown>): readonly TypedField[] {
  const present = domainFields.filter(({ name }) => Object.hasOwn(domain, name));
  if (present.length !== Object.keys(domain).length) {
    throw malformed(`\`domain\` has a key of its own, so \`types\` must declare \`${domainType}\``);
  }
  return present;
}

/**
 * Clients use more than Solidity's identifiers: one large exchange has a colon in its types. But the characters that
 * encodeType writes between names must not stand inside one, or two sets of types would have one encoding. So printable
 * ASCII without blanks, commas and brackets, and without what JSON escapes.
 */
function isName(text: string): boolean {
  return text.length <= maxNameLength && /^[!#-'*+\--Z^-~]+$/.test(text);
}

/** Also names that only resemble an atomic type: `uint7` is a mistake, and `bytes33` must not become a struct. */
function looksAtomic(name: string): boolean {
  return atoms.has(name) || /^(?:u?int|bytes)[0-9]*$/.test(name);
}

function isType(type: string): boolean {
  const base = baseOf(type);
  return (
    type.length <= 2 * maxNameLength && isName(base) && /^(?:\[(?:[1-9][0-9]{0,5})?\])*$/.test(type.slice(base.length))
  );
}

function readDocument(text: string): Record<string, unknown> {
  // Text that no UTF-8 exists for would be replaced while it is encoded, and then hashed as something else.
  if (!text.isWellFormed()) throw malformed("not Unicode text");
  let value: unknown;
  try {
    value = readJson(utf8.encode(text), maxTextBytes);
  } catch (error) {
    throw malformed(error instanceof Fault ? (error.detail ?? "not JSON") : "not JSON");
  }
  return asObject(value, "the document");
}

function asObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed(`${what} is not an object`);
  return value as Record<string, unknown>;
}
