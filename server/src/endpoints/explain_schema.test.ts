import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Value } from "typebox/value";
import { type TSchema, Type } from "../fields/schema.ts";
import { activityForms } from "../generated/activities.ts";
import { queryByPath } from "../generated/queries.ts";
import { explainMismatch } from "./explain_schema.ts";

type Schema = TSchema & { properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[]; enum?: unknown[] };

const declared = [
  ...[...activityForms.values()].map(({ params }) => params as Schema),
  ...[...queryByPath.values()].map(({ request }) => request as Schema),
];

const said = (schema: TSchema, value: unknown) => explainMismatch(schema, value, "parameters").message;
const at = (path: string, problem: string) => `invalid request body: field \`parameters${path}\` ${problem}`;

test("each kind of mismatch has its text", () => {
  const schema = Type.Object({
    name: Type.String({ minLength: 1, maxLength: 3, pattern: "^[a-z]*$" }),
    kinds: Type.Optional(Type.Array(Type.Enum(["A", "B"]), { minItems: 1, maxItems: 2 })),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
    share: Type.Optional(Type.Number()),
    format: Type.Optional(Type.Literal("F")),
    flag: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    more: Type.Optional(Type.Unknown()),
  });
  const cases: [unknown, string][] = [
    [[], at("", "must be object")],
    [null, at("", "must be object")],
    [{ kinds: 1 }, "invalid request body: missing field `name`"],
    [{ name: 1 }, at(".name", "must be string")],
    [{ name: "" }, at(".name", "must not have fewer than 1 characters")],
    [{ name: "ABCD" }, at(".name", "must not have more than 3 characters")],
    [{ name: "😀😀😀" }, at(".name", "has characters that are not allowed")],
    [{ name: "a", kinds: {} }, at(".kinds", "must be array")],
    [{ name: "a", kinds: [] }, at(".kinds", "must not have fewer than 1 items")],
    [{ name: "a", kinds: ["C", "A", "B"] }, at(".kinds", "must not have more than 2 items")],
    [{ name: "a", kinds: ["A", "C"] }, at(".kinds.1", "must be one of A, B")],
    [{ name: "a", count: 1.5 }, at(".count", "must be integer")],
    [{ name: "a", count: 0 }, at(".count", "must be >= 1")],
    [{ name: "a", count: 10 }, at(".count", "must be <= 9")],
    [{ name: "a", share: "1" }, at(".share", "must be number")],
    [{ name: "a", format: 1 }, at(".format", "must be string")],
    [{ name: "a", format: "G" }, at(".format", "must be equal to constant")],
    [{ name: "a", flag: "yes", more: {} }, at(".flag", "must be boolean")],
    [{ name: "a", flag: null, more: [{}] }, at("", "does not fit")],
  ];
  for (const [value, text] of cases) assert.equal(said(schema, value), text);
  assert.equal(explainMismatch(schema, { name: 1 }, "").message, "invalid request body: field `name` must be string");
});

test("declared requests use no keyword that is not explained", () => {
  const known = [
    ...["type", "required", "properties", "minItems", "maxItems", "items", "minLength", "maxLength", "pattern"],
    ...["minimum", "maximum", "const", "enum", "anyOf", "description"],
  ];
  const check = (schema: Schema) => {
    assert.deepEqual(
      Object.keys(schema).filter((keyword) => !known.includes(keyword)),
      [],
    );
    if ("items" in schema) assert.ok("maxItems" in schema, JSON.stringify(schema));
    for (const inner of partsOf(schema)) check(inner);
  };
  for (const schema of declared) check(schema);
});

function partsOf({ properties = {}, items, anyOf = [] }: Schema): Schema[] {
  return [...Object.values(properties), ...(items ? [items] : []), ...anyOf];
}

/** Values of roughly the schema's shape, with anything in any place now and then. */
function roughly(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary: shaped(schema) }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) });
}

function shaped({ properties, items, anyOf, enum: choices, ...rest }: Schema): fc.Arbitrary<unknown> {
  if (anyOf) return fc.oneof(...anyOf.map(roughly));
  if (choices) return fc.constantFrom(...choices);
  if (items) return fc.array(roughly(items), { maxLength: 2 });
  if (properties) {
    const fields = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, roughly(schema)]));
    const requiredKeys = fc.oneof(
      { weight: 6, arbitrary: fc.constant(Object.keys(fields)) },
      { weight: 1, arbitrary: fc.subarray(Object.keys(fields)) },
    );
    return requiredKeys.chain((names) => fc.record(fields, { requiredKeys: names }));
  }
  const { type, const: only } = rest as { type?: string; const?: unknown };
  if (only !== undefined) return fc.constant(only);
  if (type === "string") return fc.oneof(fc.string(), fc.constantFrom("", "a\u0000", "a".repeat(300)));
  if (type === "integer") return fc.oneof(fc.integer(), fc.constant(2 ** 40), fc.double());
  return type === "boolean" ? fc.boolean() : fc.constant(null);
}

/** What the schema library finds first. It looks at everything to find it. */
function oracle(schema: TSchema, value: unknown): string {
  const [error] = Value.Errors(schema, value);
  if (error === undefined) return at("", "does not fit");
  const path = error.instancePath.replaceAll("/", ".");
  if (error.keyword === "required")
    return `invalid request body: missing field \`${error.params.requiredProperties[0]}\``;
  if (error.keyword === "enum") return at(path, `must be one of ${error.params.allowedValues.join(", ")}`);
  if (error.keyword === "pattern") return at(path, "has characters that are not allowed");
  return at(path, error.message);
}

/** Some fields have published words of their own for a value outside their enumeration, or for being missing. */
function withoutOwnWords(text: string): string {
  return text
    .replace(/^invalid [a-z ]+: (?=field `[^`]*` must be one of )/, "invalid request body: ")
    .replace(
      /^(curve required|missing wallet params|missing parameter: user authenticator attestation): (?=missing field )/,
      "invalid request body: ",
    );
}

test("what must be there and has published words of its own is missed in those", () => {
  const wallet = Type.Object({
    walletName: Type.String(),
    accounts: Type.Array(Type.Object({ curve: Type.String() })),
  });
  const cases: [unknown, string][] = [
    [{ accounts: [] }, "missing wallet params: missing field `walletName`"],
    [{ walletName: "w" }, "missing wallet params: missing field `accounts`"],
    [{ walletName: "w", accounts: [{}] }, "curve required: missing field `curve`"],
  ];
  for (const [value, text] of cases) assert.equal(said(wallet, value), text);
});

test("of values near any declared request, the mismatch told is the schema library's first", () => {
  for (const schema of declared) {
    fc.assert(
      fc.property(roughly(schema), (value) =>
        assert.equal(withoutOwnWords(said(schema, value)), oracle(schema, value)),
      ),
      { numRuns: 60 },
    );
  }
});

/** A list that counts how often its ends are read, where whoever reads on must come by. */
function countedList(length: number, element: (index: number) => unknown) {
  const seen = { reads: 0 };
  const list: unknown[] = [];
  for (const index of [0, 1, 2, 3, 4, length - 1]) {
    Object.defineProperty(list, index, {
      get() {
        seen.reads++;
        return element(index);
      },
    });
  }
  return { list, seen };
}

test("a long list is read up to its first wrong element, and not at all when it is too long", () => {
  const unbounded = Type.Object({ ids: Type.Array(Type.String({ maxLength: 10 })) });
  const bounded = Type.Object({ ids: Type.Array(Type.String({ maxLength: 10 }), { maxItems: 1_000 }) });
  const cases: [TSchema, number, number, string][] = [
    [unbounded, 0, 1, at(".ids.0", "must be string")],
    [unbounded, 2, 3, at(".ids.2", "must be string")],
    [bounded, 0, 0, at(".ids", "must not have more than 1000 items")],
  ];
  for (const [schema, firstWrong, reads, text] of cases) {
    const { list, seen } = countedList(500_000, (index) => (index < firstWrong ? "id" : 0));
    assert.equal(said(schema, { ids: list }), text);
    assert.equal(seen.reads, reads);
  }
});

test("a long list in a place that may also be null is read as little", () => {
  const { list, seen } = countedList(500_000, () => 0);
  const schema = Type.Union([Type.Array(Type.String()), Type.Null()]);
  assert.equal(said(schema, list), at(".0", "must be string"));
  assert.equal(seen.reads, 1);
});

test("a value outside an enumeration begins with the published words of its field, also inside a list", () => {
  const schema = Type.Object({
    curve: Type.Enum(["A"]),
    addressFormats: Type.Array(Type.Enum(["B"]), { maxItems: 9 }),
  });
  const refusal = (value: unknown) => explainMismatch(schema, value, "parameters").message;
  assert.match(
    refusal({ curve: "X", addressFormats: [] }),
    /^invalid curve: field `parameters\.curve` must be one of A$/,
  );
  assert.match(
    refusal({ curve: "A", addressFormats: ["B", "X"] }),
    /^invalid address format: field `.*\.1` must be one of B$/,
  );
});
