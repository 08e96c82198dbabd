import assert from "node:assert/strict";
import { test } from "node:test";
import TypeBox from "typebox";
import { Type } from "./schema.ts";

/** The same declaration in both: what is generated from ours follows TypeBox's rules. */
const declarations: Record<keyof typeof Type, (type: typeof Type) => unknown> = {
  Array: (type) => type.Array(type.String({ maxLength: 3 }), { maxItems: 2, description: "Some." }),
  Boolean: (type) => type.Boolean({ description: "Whether." }),
  Enum: (type) => type.Enum(["A", "B"], { description: "Which." }),
  Integer: (type) => type.Integer({ minimum: 1, maximum: 9 }),
  Literal: (type) => [type.Literal("A"), type.Literal(1), type.Literal(true, { description: "Only this." })],
  Null: (type) => type.Null(),
  Number: (type) => type.Number({ description: "Where." }),
  Object: (type) => [
    type.Object({}),
    type.Object({ a: type.String(), b: type.Optional(type.String()) }, { description: "Both." }),
    type.Object({ only: type.Optional(type.Object({ inner: type.Null() })) }),
  ],
  Optional: (type) => type.Optional(type.Array(type.Boolean(), { minItems: 1 })),
  Record: (type) => type.Record(type.String(), type.String(), { description: "By name." }),
  String: (type) => [type.String(), type.String({ minLength: 1, pattern: "^a$" })],
  Union: (type) => type.Union([type.Literal("A"), type.Null()], { description: "Either." }),
  Unknown: (type) => [type.Unknown(), type.Unknown({ description: "Anything." })],
  Unsafe: (type) => type.Object({ whole: type.Unsafe<string>({ $ref: "#/components/schemas/Whole" }) }),
};

for (const [word, declare] of Object.entries(declarations)) {
  // As text, because the order of fields is what OpenAPI and the SDK are written in.
  test(`${word} describes what TypeBox describes`, () => {
    assert.equal(JSON.stringify(declare(Type)), JSON.stringify(declare(TypeBox)));
  });
}

test("what is optional in one object is required in another that does not say so", () => {
  const name = Type.String();
  assert.deepEqual(Type.Object({ name: Type.Optional(name) }), { type: "object", properties: { name } });
  assert.deepEqual(Type.Object({ name }), { type: "object", required: ["name"], properties: { name } });
});

test("what TypeBox understands and these words do not is refused, not declared as something that checks less", () => {
  assert.throws(() => Type.Enum({ A: "a" }), /an enumeration is declared as a list/);
  for (const key of [Type.Integer(), Type.String({ pattern: "^a$" })]) {
    assert.throws(() => Type.Record(key, Type.String()), /the keys of a record are declared as any text/);
  }
});
