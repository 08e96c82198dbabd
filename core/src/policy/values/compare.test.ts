import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertCost } from "../../../test/cost.ts";
import { equals, equalsText, integerIn, isInRange, order, prepareText } from "./compare.ts";
import { EvmText, Instant, type Value } from "./values.ts";

const max = 2n ** 256n - 1n;

const equalities: readonly [a: Value, b: Value, isEqual: boolean | undefined][] = [
  [true, true, true],
  [true, false, false],
  [1n, 1n, true],
  [max, max - 1n, false],
  ["a", "a", true],
  ["a", "A", false],
  ["", "", true],
  [new Instant(5), new Instant(5), true],
  [new Instant(5), new Instant(6), false],
  // Hexadecimal text of the EVM is the same in either case, on either side.
  [new EvmText("0xAb"), new EvmText("0xaB"), true],
  [new EvmText("0xAb"), "0xaB", true],
  ["0xAB", new EvmText("0xab"), true],
  [new EvmText("0xab"), "0xac", false],
  [new EvmText(""), "", true],
  [new EvmText("0xk"), "0x\u212a", false],
  // Numbers in quotes are numbers beside numbers.
  [8453n, "8453", true],
  ["8453", 8453n, true],
  [7n, "007", true],
  [-5n, "-5", true],
  [8453n, "8454", false],
  // And nothing else is.
  ["007", "7", false],
  [1n, "one", undefined],
  [1n, "", undefined],
  [1n, "1.0", undefined],
  [1n, "0x1", undefined],
  [1n, "+1", undefined],
  [1n, " 1", undefined],
  [1n, `${max + 1n}`, undefined],
  [1n, "1".repeat(79), undefined],
  [1n, new EvmText("1"), undefined],
  [true, "true", undefined],
  [true, 1n, undefined],
  [new Instant(5), 5n, undefined],
  [new Instant(5), "1970-01-01T00:00:00.005Z", undefined],
  [[1n], [1n], undefined],
  [new Map(), new Map(), undefined],
  [{ id: "a" }, { id: "a" }, undefined],
  ["a", ["a"], undefined],
];

for (const [a, b, isEqual] of equalities) {
  const name = [a, b].map((value) => (value instanceof EvmText ? `EVM ${value.text}` : String(value))).join("` and `");
  test(`equality of \`${name}\` is ${isEqual}, whichever is first`, () => {
    assert.equal(equals(a, b), isEqual);
    assert.equal(equals(b, a), isEqual);
    if (typeof b === "string") assert.equal(equalsText(a, prepareText(b)), isEqual, "as a literal");
  });
}

const orders: readonly [a: Value, b: Value, sign: number | undefined][] = [
  [1n, 2n, -1],
  [2n, 2n, 0],
  [max, 2n, 1],
  [-1n, 0n, -1],
  [new Instant(1), new Instant(2), -1],
  [9n, "10", -1],
  // Decoders give numbers of 128 bits as text: these have the order of numbers, not of texts.
  ["9", "10", -1],
  ["9", 10n, -1],
  ["a", "b", undefined],
  ["a", 1n, undefined],
  [new EvmText("1"), 2n, undefined],
  [true, false, undefined],
  [new Instant(1), 2n, undefined],
  [[1n], 2n, undefined],
];

for (const [a, b, sign] of orders) {
  test(`the order of ${typeof a} ${a} and ${typeof b} ${b} is ${sign}`, () => {
    const result = order(a, b);
    assert.equal(result === undefined ? undefined : Math.sign(result), sign);
    const reverse = order(b, a);
    assert.equal(
      reverse === undefined ? undefined : Math.sign(reverse) + 0,
      sign === undefined ? undefined : -sign + 0,
    );
  });
}

test("numbers reach from the smallest of 128 signed bits to the largest of 256", () => {
  for (const edge of [-(2n ** 127n), max]) assert.equal(isInRange(edge), true);
  for (const beyond of [-(2n ** 127n) - 1n, max + 1n]) assert.equal(isInRange(beyond), false);
});

test("every number in range is read from its decimal text, and no other text is a number", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 127n), max }), (value) => assert.equal(integerIn(value.toString()), value)),
  );
  fc.assert(
    fc.property(fc.string(), (text) => assert.equal(integerIn(text) !== undefined, /^-?[0-9]{1,38}$/.test(text))),
  );
});

test("a long text beside short text of the EVM is not looked at: 100,000 such pairs cost what short ones cost", () => {
  const long = `${"A".repeat(60_000)}é`;
  const short = new EvmText("0xab");
  const compareWith = (text: string) => () => {
    for (let i = 0; i < 50_000; i++) {
      assert.equal(equals(text, short), false);
      assert.equal(equals(short, text), false);
    }
  };
  assertCost(compareWith(long), compareWith("0xaé"), 30);
});
