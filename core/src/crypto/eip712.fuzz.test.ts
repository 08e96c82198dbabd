/** Bent typed data: refused with our own words, or accepted with one meaning. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { recoverAddressTyped } from "micro-eth-signer";
import { samples } from "../../test/samples.ts";
import { toHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import { parseTypedData, type TypedData, type TypedValue, typedDataDigest } from "./eip712.ts";
import { nobleCurves } from "./noble_curves.ts";

const rounds = samples.typedDocuments;
/** Asking the other library costs a signature and a recovery each time. */
const comparisons = samples.typedDocumentComparisons;

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const documents: Json[] = [
  {
    types: {
      EIP712Domain: [
        { name: "name", type: "string" },
        { name: "chainId", type: "uint256" },
        { name: "verifyingContract", type: "address" },
      ],
      Person: [
        { name: "name", type: "string" },
        { name: "wallets", type: "address[]" },
      ],
      Mail: [
        { name: "from", type: "Person" },
        { name: "to", type: "Person[]" },
        { name: "pairs", type: "uint64[2][]" },
        { name: "contents", type: "bytes" },
      ],
    },
    primaryType: "Mail",
    domain: { name: "Mail", chainId: 1, verifyingContract: `0x${"cc".repeat(20)}` },
    message: {
      from: { name: "Cow", wallets: [`0x${"aa".repeat(20)}`, `0x${"bb".repeat(20)}`] },
      to: [{ name: "Bob", wallets: [] }],
      pairs: [
        ["1", 2],
        [3, "0x4"],
      ],
      contents: "0xc0ffee",
    },
  },
  {
    types: {
      Permit: [
        { name: "owner", type: "address" },
        { name: "value", type: "uint256" },
        { name: "delta", type: "int16" },
        { name: "final", type: "bool" },
        { name: "tag", type: "bytes4" },
      ],
    },
    primaryType: "Permit",
    domain: { version: "1", salt: `0x${"5a".repeat(32)}` },
    message: { owner: `0x${"11".repeat(20)}`, value: "1000000000000000000", delta: -3, final: true, tag: "0x01020304" },
  },
];

/** Values that parsers stumble over, and names that belong elsewhere. */
const strange: Json[] = [
  ...[null, true, false, 0, 1, -1, 256, 1.5, 2 ** 53 - 1, "", "0", "-1", "0x", "0x1", "0xff", "1e3", " 1", "NaN"],
  ...["EIP712Domain", "Mail", "Person", "Permit", "__proto__x", "constructor", "toString", "hasOwnProperty", "length"],
  ...[
    "uint256",
    "uint8",
    "int",
    "int256[]",
    "bytes32",
    "bytes33",
    "string[]",
    "Person[1]",
    "Mail[]",
    "a b",
    "a,b",
    "(",
    "é",
  ],
  `0x${"00".repeat(20)}`,
  `0x${"00".repeat(32)}`,
  [],
  {},
  [[]],
  [{}],
  { name: "x", type: "bool" },
];

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test(`${rounds} bent documents: only our refusals, and what is accepted follows from what policies see`, (t) => {
  const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 32));
  const random = seeded(seed);
  const pick = (limit: number) => Math.floor(random() * limit);
  const outcomes = { refused: 0, accepted: 0, compared: 0, refusedElsewhere: 0 };
  for (let round = 0; round < rounds; round++) {
    const text = bend(documents[pick(documents.length)] ?? null, pick);
    const parsed = parseOrUndefined(text);
    if (parsed === undefined) {
      outcomes.refused++;
      continue;
    }
    outcomes.accepted++;
    // The digest is computed from these values alone, so what gives the same values gives the same digest.
    assert.deepEqual(parseTypedData(JSON.stringify(toJson(parsed))), parsed, text);
    const digest = typedDataDigest(nobleCurves, parsed);
    assert.equal(digest.length, 32);
    if (outcomes.compared + outcomes.refusedElsewhere >= comparisons) continue;
    const agreement = agreesElsewhere(parsed, digest);
    if (agreement === undefined) outcomes.refusedElsewhere++;
    else {
      assert.ok(agreement, text);
      outcomes.compared++;
    }
  }
  t.diagnostic(`seed ${seed}: ${JSON.stringify(outcomes)}`);
  assert.ok(outcomes.refused > rounds / 10 && outcomes.accepted > rounds / 50, "the bends are too hard or too soft");
  assert.ok(outcomes.compared > comparisons / 2);
});

function parseOrUndefined(text: string): TypedData | undefined {
  try {
    return parseTypedData(text);
  } catch (error) {
    assert.ok(error instanceof Fault && error.code === "invalid_argument", `${text}: ${error}`);
    return undefined;
  }
}

/** Bends the text, or a value or key somewhere in the tree. */
function bend(document: Json, pick: (limit: number) => number): string {
  if (pick(4) === 0) return bendText(JSON.stringify(document), pick);
  const copy = JSON.parse(JSON.stringify(document)) as Json;
  for (let bends = 1 + pick(2); bends > 0; bends--) bendTree(copy, pick);
  return JSON.stringify(copy);
}

function bendText(text: string, pick: (limit: number) => number): string {
  const alphabet = '0123456789abcfx{}[]",:-+.eE \\ué\u0000\ud800';
  let bent = text;
  for (let bends = 1 + pick(3); bends > 0; bends--) {
    const at = pick(bent.length);
    bent = bent.slice(0, at) + (pick(4) === 0 ? "" : alphabet[pick(alphabet.length)]) + bent.slice(at + pick(3));
  }
  return bent;
}

function bendTree(root: Json, pick: (limit: number) => number): void {
  let node = root;
  for (;;) {
    if (typeof node !== "object" || node === null) return;
    const keys = Object.keys(node);
    const key = keys[pick(keys.length)];
    if (key === undefined) return;
    const parent = node as { [key: string]: Json };
    const child = parent[key] ?? null;
    if (typeof child === "object" && child !== null && pick(8) !== 0) {
      node = child;
      continue;
    }
    const kind = pick(5);
    if (kind === 0 && !Array.isArray(parent)) delete parent[key];
    else if (kind === 1 && !Array.isArray(parent)) parent[`${key}2`] = child;
    else if (kind === 2 && Array.isArray(parent)) parent.push(child);
    else parent[key] = structuredClone(strange[pick(strange.length)] ?? null);
    return;
  }
}

/** Written anew from nothing but the parsed values. */
function toJson({ types, primaryType, domain, message }: TypedData): Json {
  const declared = Object.fromEntries(
    [...types].map(([name, fields]) => [name, fields.map((field) => ({ ...field }))]),
  );
  return { types: declared, primaryType, domain: valueToJson(domain), message: valueToJson(message) };
}

function valueToJson(value: TypedValue): Json {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, item]) => [name, valueToJson(item)]));
  if (Array.isArray(value)) return value.map(valueToJson);
  return value as string | boolean;
}

const privateKey = new Uint8Array(32).fill(1);
const address = toHex(keccak_256(secp256k1.getPublicKey(privateKey, false).subarray(1)).subarray(12));

/** Whether another library finds our signer behind the digest; undefined when it does not take the document. */
function agreesElsewhere(parsed: TypedData, digest: Uint8Array): boolean | undefined {
  const signature = secp256k1.sign(digest, privateKey, { prehash: false, format: "recovered" });
  const text = `0x${toHex(signature.subarray(1))}${signature[0] === 0 ? "1b" : "1c"}`;
  try {
    const recovered = recoverAddressTyped(text, toJson(parsed) as never);
    return recovered.toLowerCase() === `0x${address}`;
  } catch {
    return undefined;
  }
}
