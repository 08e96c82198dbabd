/** Bent copies of valid calls: whatever is read in one of them is encoded as exactly these bytes, by a second encoder. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { encodeAll, type Parameter, parameterOf, splitTypes } from "../../../test/abi_encoding.ts";
import { samples } from "../../../test/samples.ts";
import { fromHex, toHex } from "../../encoding/hex.ts";
import { Fault } from "../../fault.ts";
import { EvmText, type Value } from "../values/values.ts";
import { decodeCall, parseAbi, selectorOf } from "./abi.ts";

const rounds = samples.abiCalls;

const signatures = [
  "transfer(address,uint256)",
  "execute((address,uint256,bytes)[],bool)",
  "swap(bytes32[],(address,int24)[2],string)",
  "nested(uint8[][],(string,(bytes,bool[3])[]),bytes4)",
  "limits(int128,bytes1,function,address[])",
];

const functions = signatures.map((signature) => {
  const at = signature.indexOf("(");
  const inputs = splitTypes(signature.slice(at + 1, -1)).map((type) => parameterOf(type));
  return {
    name: signature.slice(0, at),
    signature,
    inputs,
    selector: selectorOf(signature).toString(16).padStart(8, "0"),
  };
});
const abi = parseAbi(JSON.stringify(functions.map(({ name, inputs }) => ({ type: "function", name, inputs }))));

const bytesOf = (least: number, most: number) =>
  fc.uint8Array({ minLength: least, maxLength: most }).map((bytes) => new EvmText(`0x${toHex(bytes)}`));

function arbitraryOf({ type, components = [] }: Parameter): fc.Arbitrary<Value> {
  const [, item, digits] = /^(.*)\[(\d*)\]$/.exec(type) ?? [];
  if (item !== undefined) {
    const size = digits === "" ? { maxLength: 4 } : { minLength: Number(digits), maxLength: Number(digits) };
    return fc.array(arbitraryOf({ name: "", type: item, components }), size);
  }
  if (type === "tuple") return fc.tuple(...components.map(arbitraryOf));
  if (type === "bool") return fc.boolean();
  if (type === "string") return fc.string({ unit: "binary", maxLength: 40 });
  if (type === "bytes") return bytesOf(0, 70);
  const bits = Number(/\d+$/.exec(type)?.[0] ?? 0);
  if (type.startsWith("uint")) return fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n });
  if (type.startsWith("int")) return fc.bigInt({ min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n });
  const length = type === "address" ? 20 : type === "function" ? 24 : bits;
  return bytesOf(length, length);
}

const call = fc
  .constantFrom(...functions)
  .chain(({ selector, inputs }) =>
    fc.tuple(...inputs.map(arbitraryOf)).map((values) => ({ values, data: selector + encodeAll(inputs, values) })),
  );

test("what was encoded is read as it was", () => {
  fc.assert(
    fc.property(call, ({ values, data }) => {
      assert.deepEqual([...(decodeCall(abi, fromHex(data))?.args.values() ?? [])], values);
    }),
    { numRuns: rounds / 10, seed: 5 },
  );
});

type Change = { kind: string; at: number; from: number; value: number };

/** One change: a byte, the last byte of a word (most offsets and counts), two words swapped, an end cut off or added. */
const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom("byte", "last", "swap", "cut", "add", "repeat"),
  at: fc.nat(10_000),
  from: fc.nat(10_000),
  value: fc.nat(255),
});

function bend(bytes: Uint8Array, { kind, at, from, value }: Change): Uint8Array {
  const words = Math.max(1, Math.floor((bytes.length - 4) / 32));
  const place = (n: number) => 4 + 32 * (n % words);
  const bent = Uint8Array.from(bytes);
  if (kind === "byte") bent[at % bytes.length] = value;
  if (kind === "last") bent[place(at) + 31] = value;
  if (kind === "swap") {
    bent.set(bytes.subarray(place(from), place(from) + 32), place(at));
    bent.set(bytes.subarray(place(at), place(at) + 32), place(from));
  }
  if (kind === "cut") return bent.subarray(0, at % bytes.length);
  if (kind === "add") return Uint8Array.of(...bent, ...new Uint8Array(32).fill(value % 3));
  if (kind === "repeat") return Uint8Array.of(...bent, ...bytes.subarray(place(at)));
  return bent;
}

test("a bent call is read as nothing, or encodes to the same bytes again", () => {
  let read = 0;
  fc.assert(
    fc.property(call, fc.array(change, { minLength: 1, maxLength: 3 }), ({ data }, changes) => {
      const bent = changes.reduce<Uint8Array>(
        (bytes, one) => (bytes.length < 40 ? bytes : bend(bytes, one)),
        fromHex(data),
      );
      const decoded = decodeCall(abi, bent);
      if (decoded === undefined) return;
      read++;
      const { selector, inputs } = functions.find(({ name }) => name === decoded.name) ?? assert.fail(decoded.name);
      assert.equal(selector + encodeAll(inputs, [...decoded.args.values()]), toHex(bent));
    }),
    { numRuns: rounds, seed: 7 },
  );
  // Changes inside a value leave a valid call, so that both answers were met often.
  assert.ok(read > rounds / 20 && read < (9 * rounds) / 10, `${read} of ${rounds} were read`);
});

test("a bent ABI is read or refused as ours, whatever is in it", () => {
  const text = JSON.stringify(functions.map(({ name, inputs }) => ({ type: "function", name, inputs })));
  const pieces = [
    "[",
    "]",
    "{",
    "}",
    '"',
    ",",
    ":",
    "tuple",
    "uint",
    "256",
    "[]",
    "components",
    "null",
    "1e9",
    "\\u0061",
  ];
  fc.assert(
    fc.property(fc.nat(text.length), fc.nat(12), fc.constantFrom(...pieces), (at, length, piece) => {
      try {
        parseAbi(text.slice(0, at) + piece + text.slice(at + length));
      } catch (error) {
        assert.ok(error instanceof Fault && error.code === "invalid_argument", String(error));
      }
    }),
    { numRuns: rounds / 10, seed: 9 },
  );
});
