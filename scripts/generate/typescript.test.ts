import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonSchema } from "./json_schema.ts";
import { typeText } from "./typescript.ts";

const cases: [JsonSchema, string][] = [
  [{ type: "string" }, "string"],
  [{ type: "integer", minimum: 1 }, "number"],
  [{ type: "null" }, "null"],
  [{}, "unknown"],
  [{ $ref: "#/components/schemas/Vote" }, "Vote"],
  [{ type: "string", const: "X" }, '"X"'],
  [{ enum: ["A", "B"] }, '"A" | "B"'],
  [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
  [{ type: "array", items: { type: "string" } }, "readonly string[]"],
  [{ type: "array", items: { enum: ["A", "B"] } }, 'readonly ("A" | "B")[]'],
  [{ type: "array", items: { type: "array", items: { type: "string" } } }, "readonly (readonly string[])[]"],
  [{ type: "object", properties: {} }, "Record<string, never>"],
  [{ type: "object", properties: {}, additionalProperties: true }, "Record<string, unknown>"],
  [{ type: "object", patternProperties: { "^.*$": { type: "number" } } }, "Record<string, number>"],
  [
    {
      type: "object",
      required: ["a"],
      properties: { a: { type: "string", description: "First." }, b: { type: "boolean" } },
    },
    "{\n  /** First. */\n  a: string;\n  b?: boolean;\n}",
  ],
  [{ allOf: [{ $ref: "#/x/Base" }, { anyOf: [{ type: "string" }, { type: "number" }] }] }, "Base & (string | number)"],
];

test("schemas become the TypeScript one would write", () => {
  for (const [schema, text] of cases) assert.equal(typeText(schema, { readonlyArrays: true }), text);
});

test("a description cannot end its comment", () => {
  const schema: JsonSchema = { type: "object", properties: { a: { description: "x */ y" } } };
  assert.ok(!typeText(schema, { readonlyArrays: false }).includes("x */ y"));
});
