import assert from "node:assert/strict";
import { test } from "node:test";
import { knownFields } from "./known_fields.ts";
import { Type } from "./schema.ts";

const schema = Type.Object({ a: Type.String(), b: Type.Optional(Type.String()) });

test("fields the schema does not name are left out, inherited ones among them", () => {
  const value = Object.assign(Object.create({ b: "inherited" }), { a: "x", c: "more" });
  assert.deepEqual(knownFields(schema, value), { a: "x" });
});

test("fields it names are kept as they are, and one that is absent stays absent", () => {
  assert.deepEqual(knownFields(schema, { a: "x", b: "y" }), { a: "x", b: "y" });
  assert.deepEqual(Object.keys(knownFields(schema, { a: "x" })), ["a"]);
});
