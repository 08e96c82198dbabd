/** Long values are written in pieces, and what comes of it is what `JSON.stringify` would have written. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bytesOf } from "../../../test/json_text.ts";
import { type JsonText, writeJson } from "./json_text.ts";

/** Longer than whatever is written in one piece. */
const long = 70_000;

async function checkSame(value: unknown, what = "a value"): Promise<JsonText> {
  const text = await writeJson(value);
  const bytes = bytesOf(text);
  const expected = JSON.stringify(value);
  assert.ok(expected !== undefined, what);
  assert.equal(text.length, bytes.length, what);
  assert.ok(bytes.equals(Buffer.from(expected)), what);
  return text;
}

/** What JSON has rules of its own for. */
const oddities: readonly unknown[] = [
  ...[
    undefined,
    null,
    true,
    -0,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e21,
    5e-324,
    "",
    '"\\\n\u2028',
    "\ud800",
    "\udc00x",
    "é😀",
  ],
  ...[
    () => 1,
    Symbol("s"),
    new Date(0),
    new Date(Number.NaN),
    /x/,
    new Map([[1, 2]]),
    new Uint8Array(3),
    Buffer.from("ab"),
  ],
  ...[Object("text"), Object(1), Object(false), Object.assign(Object.create({ inherited: 1 }), { own: 1 })],
  ...[{ toJSON: () => undefined }, { toJSON: () => ({ toJSON: () => 1, a: 2 }) }, { toJSON: "no function" }],
  { toJSON: (key: string) => `at ${key}` },
  Object.assign(() => 1, { toJSON: (key: string) => `function at ${key}` }),
  Object.assign([1, 2], { toJSON: (key: string) => [`list at ${key}`] }),
  ...[{ [Symbol("s")]: 1, b: undefined, a: 1, 2: 2, 1: 1 }, JSON.parse('{"__proto__":{"a":1},"constructor":2}')],
  ...[Object.create(null, { a: { value: 1, enumerable: true }, b: { value: 2 } }), Array(3)],
];

const anything = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(...oddities),
    fc.string({ unit: "binary" }),
    fc.double(),
    // Long ones, at every depth: with them whatever holds them is cut.
    fc.constantFrom("x".repeat(long), Array(long).fill(1), { text: "é".repeat(long) }),
    fc.array(tie("value"), { maxLength: 6 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("__proto__", "toString", "7")), tie("value"), { maxKeys: 6 }),
  ),
})).value;

test("every value is written as JSON.stringify writes it, whether it is cut or not", async () => {
  const values = anything.filter((value) => JSON.stringify(value) !== undefined);
  await fc.assert(
    fc.asyncProperty(values, async (value) => {
      await checkSame(value);
      await checkSame([value, "x".repeat(long), value]);
      await checkSame({ first: value, long: Array(long).fill(value === 0 ? 1 : null), last: value });
    }),
    { seed: 7, numRuns: 60 },
  );
});

test("each oddity is the same in a long list and in a long object, at every border of a group", async () => {
  for (const [index, oddity] of oddities.entries()) {
    const what = `oddity ${index}`;
    await checkSame(Array(long / 8).fill(oddity), what);
    await checkSame(Object.fromEntries(Array.from({ length: long / 10 }, (_, i) => [`key ${i}`, oddity])), what);
    await checkSame({ oddity, long: "x".repeat(long), list: [oddity, "x".repeat(long), oddity] }, what);
  }
});

test("characters are not torn apart, wherever a long text is cut", async () => {
  for (const unit of ["😀", "\ud83d", "\ude00", "\ude00\ud83d", "é", "\u0000", '"']) {
    for (let shift = 0; shift < 3; shift++) {
      const text = "x".repeat(shift) + unit.repeat(long);
      await checkSame(text, JSON.stringify(unit));
      await checkSame({ [text]: text }, JSON.stringify(unit));
    }
  }
});

test("a short value is one text, a long one parts of some 64 KiB, however it is built", async () => {
  const { parts } = await checkSame({ users: [{ name: "é" }] });
  assert.deepEqual(parts, ['{"users":[{"name":"é"}]}']);
  const user = { id: "x".repeat(36), tags: ["a", "b"], createdAt: { seconds: "1", nanos: "0" } };
  const longOnes: unknown[] = [
    "x".repeat(2_000_000),
    { users: Array(20_000).fill(user) },
    Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [i, user])),
    [Array(10).fill({ users: Array(2_000).fill(user) })],
  ];
  for (const value of longOnes) {
    const text = await checkSame(value);
    assert.ok(text.parts.length >= 10);
    for (const part of text.parts) assert.ok(part instanceof Uint8Array && part.length < 128 * 1024);
  }
});

test("what JSON cannot say is refused with the error of JSON.stringify: bigints, circles, nothing", async () => {
  const circle: unknown[] = [];
  circle.push({ circle: [circle, circle] });
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  const refused: readonly [value: unknown, error: RegExp][] = [
    [1n, /BigInt/],
    [["x".repeat(long), { a: 1n }], /BigInt/],
    [circle, /circular/],
    [{ text: "x".repeat(long), circle }, /circular/],
    [loop, /circular/],
    [undefined, /undefined/],
  ];
  for (const [value, message] of refused) await assert.rejects(writeJson(value), { name: "TypeError", message });
});

test("values deeper than anything that is cut are written all the same", async () => {
  let value: unknown = "x".repeat(long);
  for (let depth = 0; depth < 200; depth++) value = depth % 2 === 0 ? [depth, value] : { depth, value };
  await checkSame(value);
});

test("others are let in while a long value is written", async () => {
  let turns = 0;
  let counting = setImmediate(function count() {
    turns += 1;
    counting = setImmediate(count);
  });
  const value = { keys: Array.from({ length: 100_000 }, (_, i) => ({ id: `${i}`, name: `key ${i}`, tags: ["a"] })) };
  await writeJson(value);
  clearImmediate(counting);
  assert.ok(turns >= 5, `${turns}`);
});
