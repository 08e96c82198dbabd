import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { toText, typeName } from "./describe.ts";
import { EvaluationError, EvmText, Instant, type Result, type Value } from "./values.ts";

const texts: readonly [value: Result, text: string][] = [
  [true, "true"],
  [12n, "12"],
  ["word", "word"],
  [new EvmText("0xAB"), "0xab"],
  [new Instant(0), "1970-01-01T00:00:00.000Z"],
  [new Instant(1e300), "1e+300"],
  [[1n, "b", [false]], "[1, b, [false]]"],
  [[], "[]"],
  [
    new Map<string, Value>([
      ["to", new EvmText("0x01")],
      ["n", 2n],
    ]),
    "{to: 0x01, n: 2}",
  ],
  [{ from: "x", amount: 5n, memo: undefined }, "{from: x, amount: 5}"],
  // What has an id is shown by it alone.
  [[{ id: "u1", email: "ann@example.org" }], "[u1]"],
  [new EvaluationError("why", { start: 0, end: 1 }), "why"],
];

for (const [value, text] of texts) test(`a value reads ${text}`, () => assert.equal(toText(value, 200), text));

test("every kind of value has a name", () => {
  const values = [true, 1n, "a", new EvmText("a"), new Instant(1), [], new Map(), {}];
  const names = ["a bool", "an int", "a string", "a string", "a timestamp", "a list", "a map", "a struct"];
  assert.deepEqual(values.map(typeName), names);
});

const { value: anyValue } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.string(),
    fc.boolean(),
    fc.bigInt(),
    fc.array(tie("value")),
    fc.array(fc.tuple(fc.string(), tie("value"))).map((entries) => new Map(entries)),
    fc.dictionary(fc.string(), tie("value")),
  ),
}));

test("no text is longer than asked for, and short ones are whole", () => {
  fc.assert(
    fc.property(anyValue, fc.integer({ min: 1, max: 60 }), (value, maxLength) => {
      const whole = toText(value, 1_000_000);
      const cut = toText(value, maxLength);
      assert.ok(cut.length <= maxLength);
      assert.equal(cut, whole.length <= maxLength ? whole : `${whole.slice(0, maxLength - 1)}…`);
    }),
  );
});

test("a huge or deep value costs no more than its text", () => {
  let deep: Value = [];
  for (let i = 0; i < 100_000; i += 1) deep = [deep];
  assert.equal(toText(deep, 10), "[[[[[[[[[…");
  assert.equal(toText(new Array<Value>(1_000_000).fill(1n), 10), "[1, 1, 1,…");
});
