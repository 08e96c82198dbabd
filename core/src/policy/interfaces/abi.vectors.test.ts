/** Calls that others encoded: the Ethereum project's own cases, and a sample of the ethers library's. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeAll, parameterOf } from "../../../test/abi_encoding.ts";
import { findVectors } from "../../../test/vectors.ts";
import { fromHex } from "../../encoding/hex.ts";
import { EvmText, type Value } from "../values/values.ts";
import { decodeCall, parseAbi } from "./abi.ts";

function decode(types: readonly string[], encoded: string) {
  const inputs = types.map((type) => parameterOf(type));
  const abi = parseAbi(JSON.stringify([{ type: "function", name: "f", inputs }]));
  const [selector = 0] = abi.functions.keys();
  const call = decodeCall(abi, fromHex(selector.toString(16).padStart(8, "0") + encoded));
  return { inputs, values: call && [...call.args.values()] };
}

type Verbose = { type: string; value: string | boolean | readonly Verbose[] };

function expected({ type, value }: Verbose): Value {
  if (Array.isArray(value)) return value.map(expected);
  if (type === "number") return BigInt(value as string);
  if (type === "address" || type === "hexstring") return new EvmText(value as string);
  return value as string | boolean;
}

test("every encoding of the ethers sample gives the values that were encoded, and its own bytes again", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const cases = vectors.json<{ type: string; verbose: Verbose; encoded: string }[]>("ethers/abi.sample.json");
  assert.equal(cases.length, 160);
  for (const { type, verbose, encoded } of cases) {
    const { inputs, values } = decode([type], encoded.slice(2));
    assert.deepEqual(values, [expected(verbose)], type);
    assert.equal(encodeAll(inputs, values ?? []), encoded.slice(2), type);
  }
});

test("the Ethereum project's basic cases are read", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type Case = { args: unknown[]; result: string; types: string[] };
  const cases = Object.values(vectors.json<Record<string, Case>>("ethereum-tests/ABITests/basic_abi_tests.json"));
  assert.equal(cases.length, 3);
  for (const { args, result, types } of cases) {
    const { inputs, values } = decode(types, result);
    assert.equal(encodeAll(inputs, values ?? []), result);
    const plain = values?.map((value) => (value instanceof EvmText ? value.text : value));
    const asText = args.map((arg, i) => {
      if (typeof arg === "number") return BigInt(arg);
      if (Array.isArray(arg)) return arg.map(BigInt);
      return types[i] === "address" ? arg : `0x${Buffer.from(String(arg)).toString("hex")}`;
    });
    assert.deepEqual(plain, asText);
  }
});
