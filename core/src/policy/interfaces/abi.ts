/** Contract ABIs: which function a call is of, and what its arguments are. */
import { keccak_256 } from "@noble/hashes/sha3.js";
import { Fault } from "../../fault.ts";
import { createPace, finish, type Pace, type Work } from "../../work.ts";
import type { PolicyMap } from "../values/values.ts";
import { decodeArguments } from "./abi_decode.ts";
import { type AbiType, readingAbiType, tupleOf } from "./abi_types.ts";
import { addName, asList, asName, asObject, readInterfaceText, unusable } from "./interface_text.ts";

export type AbiFunction = {
  name: string;
  /** What the selector is a hash of, for example `transfer(address,uint256)`. */
  signature: string;
  /** What policies call the inputs: their names, or their places where they have none. */
  keys: readonly string[];
  types: readonly AbiType[];
};

/** Functions by the number that their selector's four bytes say. */
export type Abi = { functions: ReadonlyMap<number, AbiFunction> };

/** A call that was read whole. */
export type DecodedCall = { name: string; args: PolicyMap };

const selectorLength = 4;
const maxInputs = 256;
/** Each costs a hash whenever the text is read, and what can be deployed at one address has fewer. */
const maxFunctions = 500;
/** Functions and types of inputs between two pauses. */
const typesAtOnce = 100;
const ascii = new TextEncoder();

/** Entries that are no functions say nothing about calls. */
const otherEntries: readonly unknown[] = ["constructor", "receive", "fallback", "event", "error"];

/** Reads a JSON array of entries, or an object with one as `abi`, as build tools write it. */
export function parseAbi(text: string): Abi {
  return finish(parsingAbi(text));
}

/** The same with pauses. */
export function* parsingAbi(text: string): Work<Abi> {
  const json = readInterfaceText(text);
  yield;
  const pace = createPace(typesAtOnce);
  const entries = asList(Array.isArray(json) ? json : asObject(json, "the ABI").abi, "the ABI");
  const functions = new Map<number, AbiFunction>();
  for (const [i, item] of entries.entries()) {
    const entry = asObject(item, `entry ${i}`);
    // Solidity's specification lets functions leave their type out.
    const { type = "function" } = entry;
    if (otherEntries.includes(type)) continue;
    if (type !== "function") throw unusable(`entry ${i} is of no known type`);
    const one = yield* readingFunction(entry, `entry ${i}`, pace);
    if (pace(1)) yield;
    const selector = selectorOf(one.signature);
    const other = functions.get(selector);
    // One of them would be a name for the other's calls.
    if (other !== undefined) throw unusable(`\`${one.signature}\` and \`${other.signature}\` have the same selector`);
    if (functions.size === maxFunctions) throw unusable(`more than ${maxFunctions} functions`);
    functions.set(selector, one);
  }
  return { functions };
}

function* readingFunction(entry: Readonly<Record<string, unknown>>, where: string, pace: Pace): Work<AbiFunction> {
  const name = asName(entry.name, `the name of ${where}`);
  const inputs = asList(entry.inputs ?? [], `the inputs of \`${name}\``);
  if (inputs.length > maxInputs) throw unusable(`\`${name}\` has more than ${maxInputs} inputs`);
  const seen = new Set<string>();
  const parsed: { key: string; type: AbiType }[] = [];
  for (const [i, item] of inputs.entries()) {
    const what = `input ${i} of \`${name}\``;
    const input = asObject(item, what);
    const { name: own = "" } = input;
    const key = own === "" ? String(i) : asName(own, `the name of ${what}`);
    addName(seen, key, `\`${name}\``);
    parsed.push({ key, type: yield* readingAbiType(input, what, pace) });
  }
  const types = parsed.map(({ type }) => type);
  return { name, signature: `${name}${tupleOf(types).canonical}`, keys: parsed.map(({ key }) => key), types };
}

/** The first four bytes of the signature's hash, as a number. */
export function selectorOf(signature: string): number {
  return readSelector(keccak_256(ascii.encode(signature)));
}

function readSelector(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, selectorLength).getUint32(0);
}

/** The function that calldata calls and its arguments; undefined if it is none of these, or not in its one encoding. */
export function decodeCall({ functions }: Abi, data: Uint8Array): DecodedCall | undefined {
  if (data.length < selectorLength) return undefined;
  const called = functions.get(readSelector(data));
  if (called === undefined) return undefined;
  const values = decodeArguments(called.types, data.subarray(selectorLength));
  if (values === undefined) return undefined;
  const args = new Map(called.keys.map((key, i) => [key, present(values[i])]));
  return { name: called.name, args };
}

/** Whether calldata begins with the selector of one of these functions, however it goes on. */
export function callsFunction({ functions }: Abi, data: Uint8Array): boolean {
  return data.length >= selectorLength && functions.has(readSelector(data));
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Fault("internal", "fewer arguments than inputs");
  return value;
}
