import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../fault.ts";
import { flag, listOf, mapOf, optional, record, text, wordOf } from "./json_shape.ts";

const person = record({ name: text, isRoot: optional(flag) });
const shape = record({ people: listOf(person), tags: optional(mapOf(text)), effect: wordOf(["ALLOW", "DENY"]) });
const whole = { people: [{ name: "Alice", isRoot: true }, { name: "Bob" }], tags: { a: "b" }, effect: "DENY" };

function refusalOf(value: unknown): string {
  try {
    shape(value, "");
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
  return assert.fail("accepted");
}

test("what has the shape is given back as it is", () => {
  assert.deepEqual(shape(whole, ""), whole);
});

test("everything else is refused with the way to it", () => {
  const refusals: [unknown, string][] = [
    [[], "the document: a list where an object belongs"],
    [null, "the document: null where an object belongs"],
    [{ ...whole, effects: 1 }, "effects: unknown key; here can have people, tags, effect"],
    [{ ...whole, people: {} }, "people: an object where a list belongs"],
    [
      { ...whole, people: [{ name: "A" }, { nam: "B" }] },
      "people[1].nam: unknown key; people[1] can have name, isRoot",
    ],
    [{ ...whole, people: [{}] }, "people[0].name: missing"],
    [{ ...whole, people: [{ name: 5 }] }, "people[0].name: a number where text belongs"],
    [{ ...whole, people: [{ name: "A", isRoot: "yes" }] }, "people[0].isRoot: text where true or false belongs"],
    [{ ...whole, people: [{ name: "A", isRoot: null }] }, "people[0].isRoot: null where true or false belongs"],
    [{ ...whole, tags: { a: true } }, "tags.a: true where text belongs"],
    [{ ...whole, effect: "PERHAPS" }, "effect: `PERHAPS` where one of ALLOW, DENY belongs"],
    [{ ...whole, effect: undefined }, "effect: a undefined where one of ALLOW, DENY belongs"],
  ];
  for (const [value, message] of refusals) assert.equal(refusalOf(value), message);
});

test("a key that every object inherits is unknown like any other, and one that is free to choose is kept", () => {
  assert.match(refusalOf({ ...whole, constructor: 1 }), /^constructor: unknown key/);
  const map = mapOf(text)(JSON.parse('{"__proto__":"a","constructor":"b"}'), "");
  assert.deepEqual(Object.entries(map), [
    ["__proto__", "a"],
    ["constructor", "b"],
  ]);
});

test("whatever JSON arrives, it is read or refused with our own code", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom("people", "tags", "effect", "name"), (value, key) => {
      for (const candidate of [value, { ...whole, [key]: value }]) {
        try {
          shape(candidate, "");
        } catch (error) {
          assert.ok(error instanceof Fault && error.code === "invalid_argument");
        }
      }
    }),
  );
});
