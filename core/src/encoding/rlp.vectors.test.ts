import assert from "node:assert/strict";
import { test } from "node:test";
import { findVectors } from "../../test/vectors.ts";
import { fromHex, toHex } from "./hex.ts";
import { fromRlp, type RlpItem, toRlp, toRlpInteger } from "./rlp.ts";

/** What the files mean by a value: text, a number, a number beyond 2^53 behind `#`, or a list. */
type Value = string | number | readonly Value[];

function toItem(value: Value): RlpItem {
  if (typeof value === "number") return toRlpInteger(BigInt(value));
  if (typeof value === "string") {
    return value.startsWith("#") ? toRlpInteger(BigInt(value.slice(1))) : Uint8Array.from(Buffer.from(value, "latin1"));
  }
  return value.map(toItem);
}

const unprefixed = (hex: string) => fromHex(hex.replace(/^0x/, ""));

test("ethereum/tests: values and refusals", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type File = Record<string, { in: Value; out: string }>;
  const files = ["rlptest", "invalidRLPTest", "RandomRLPTests/example"];
  const cases = files.flatMap((file) => Object.entries(vectors.json<File>(`ethereum-tests/RLPTests/${file}.json`)));
  const counts = { exact: 0, accepted: 0, refused: 0 };
  for (const [name, { in: value, out }] of cases) {
    const bytes = unprefixed(out);
    if (value === "INVALID") {
      assert.throws(() => fromRlp(bytes), { code: "invalid_argument" }, name);
      counts.refused++;
      continue;
    }
    assert.equal(toHex(toRlp(fromRlp(bytes))), toHex(bytes), name);
    if (value === "VALID") {
      counts.accepted++;
      continue;
    }
    assert.deepEqual(fromRlp(bytes), toItem(value), name);
    assert.equal(toHex(toRlp(toItem(value))), toHex(bytes), name);
    counts.exact++;
  }
  assert.deepEqual(counts, { exact: 19, accepted: 1, refused: 18 });
});

test("ethers: values", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type Decoded = string | readonly Decoded[];
  const toBytes = (value: Decoded): RlpItem => (typeof value === "string" ? unprefixed(value) : value.map(toBytes));
  const cases = vectors.json<{ name: string; encoded: string; decoded: Decoded }[]>("ethers/rlp.json");
  for (const { name, encoded, decoded } of cases) {
    assert.deepEqual(fromRlp(unprefixed(encoded)), toBytes(decoded), name);
    assert.equal(toHex(toRlp(toBytes(decoded))), toHex(unprefixed(encoded)), name);
  }
  assert.equal(cases.length, 41);
});
