import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../fault.ts";
import type { Expression } from "./ast.ts";
import { childrenOf } from "./children.ts";
import { parseExpression } from "./parser.ts";

function refusal(source: string): string {
  try {
    parseExpression(source);
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid_argument") return error.message;
    throw error;
  }
  assert.fail(`not refused: ${source}`);
}

/** The shape of a tree as nested lists: the operator, then the operands. */
function shape(node: Expression): unknown {
  const children = childrenOf(node).map(shape);
  switch (node.kind) {
    case "literal":
      return node.value;
    case "name":
      return node.name;
    case "field":
      return [`.${node.name}`, ...children];
    case "compare":
      return [node.operator, ...children];
    case "each":
      return [node.method, node.binder, ...children];
    default:
      return [node.kind, ...children];
  }
}

const parsed = (source: string): unknown => shape(parseExpression(source));

test("from loosest to tightest: ||, &&, comparison, !, postfix", () => {
  assert.deepEqual(parsed("a || b && !c == d.e"), ["or", "a", ["and", "b", ["==", ["not", "c"], [".e", "d"]]]]);
  assert.deepEqual(parsed("(a || b) && c"), ["and", ["or", "a", "b"], "c"]);
  assert.deepEqual(parsed("!(a in [1, 2])"), ["not", ["in", "a", ["list", 1n, 2n]]]);
  assert.deepEqual(parsed("!!a"), ["not", ["not", "a"]]);
});

test("a chain of one operator is one node, however long", () => {
  assert.deepEqual(parsed("a && b && c && d"), ["and", "a", "b", "c", "d"]);
  assert.deepEqual(parsed("a || (b || c)"), ["or", "a", ["or", "b", "c"]]);
});

test("all forms of the grammar", () => {
  assert.deepEqual(parsed("a[0][1..b.c]['k']"), ["index", ["slice", ["index", "a", 0n], 1n, [".c", "b"]], "k"]);
  assert.deepEqual(parsed("a.all(x, x == 1)"), ["all", "x", "a", ["==", "x", 1n]]);
  assert.deepEqual(parsed("a.filter(x, true).count() >= 2"), [">=", ["count", ["filter", "x", "a", true]], 2n]);
  assert.deepEqual(parsed("a.any(u, u.b.any(t, t == 'x'))"), [
    "any",
    "u",
    "a",
    ["any", "t", [".b", "u"], ["==", "t", "x"]],
  ]);
  assert.deepEqual(parsed("a.contains('x')"), ["contains", "a", "x"]);
  assert.deepEqual(parsed("[].count"), ["count", ["list"]]);
  assert.deepEqual(parsed("[1,2,3][0..2]"), ["slice", ["list", 1n, 2n, 3n], 0n, 2n]);
  assert.deepEqual(parsed("'abc'[0]"), ["index", "abc", 0n]);
  for (const operator of ["==", "!=", "<", "<=", ">", ">=", "in"]) {
    assert.deepEqual(parsed(`a ${operator} b`), [operator, "a", "b"]);
  }
});

test("double quotes and count without parentheses are accepted, as published policies have them", () => {
  assert.deepEqual(parsed(`a in ["0x00"]`), ["in", "a", ["list", "0x00"]]);
  assert.deepEqual(parsed("a.count == 1"), ["==", ["count", "a"], 1n]);
  assert.deepEqual(parsed("a.count() == 1"), ["==", ["count", "a"], 1n]);
});

test("words of the language are names after a dot, and may name an element where that is not ambiguous", () => {
  assert.deepEqual(parsed("a.in.true.Timestamp"), [".Timestamp", [".true", [".in", "a"]]]);
  assert.deepEqual(parsed("a.any(any, any == 1)"), ["any", "any", "a", ["==", "any", 1n]]);
  assert.deepEqual(parsed("a.all(eth, eth == 1)"), ["all", "eth", "a", ["==", "eth", 1n]]);
  for (const word of ["true", "false", "in", "Timestamp", "CronSpan"]) {
    assert.equal(
      refusal(`a.all(${word}, true)`),
      `expected another name for the element but found \`${word}\` at position 6`,
    );
  }
});

test("text in quotes is never an operator", () => {
  assert.equal(refusal("a 'in' [1]"), "expected an operator or the end but found `'in'` at position 2");
  assert.equal(refusal("a '.' b"), "expected an operator or the end but found `'.'` at position 2");
});

test("moments and spans are read with the expression, and their mistakes have its position", () => {
  const node = parseExpression("Timestamp('2026-01-31T09:30:00Z')");
  assert.ok(node.kind === "timestamp" && node.ms === Date.UTC(2026, 0, 31, 9, 30));
  assert.equal(parseExpression("CronSpan ( '0 9 * * 1-5' , \"8h\", 'America/New_York' )").kind, "cronSpan");
  assert.match(refusal("true && Timestamp('soon')"), /`soon` is not a timestamp.* at position 8$/);
  assert.match(refusal("CronSpan('0 9 * * 7', '8h', 'UTC')"), / at position 0$/);
  assert.match(refusal("CronSpan('0 9 * * *', '8 days', 'UTC')"), /`8 days` is not a duration.* at position 0$/);
  assert.match(refusal("CronSpan('0 9 * * *', '8h', 'Mars/Olympus')"), /Mars\/Olympus.* at position 0$/);
});

test("Timestamp and CronSpan are only called, with text in quotes, as often as they take", () => {
  const moment = "as in `Timestamp('2026-01-31T09:30:00Z')`";
  assert.equal(refusal("a < Timestamp"), `expected \`(\` ${moment} but found the end at position 13`);
  assert.equal(refusal("Timestamp(5)"), `expected text in quotes ${moment} but found \`5\` at position 10`);
  assert.equal(refusal("Timestamp('2026-01-31T09:30:00Z', 'UTC')"), "expected `)` but found `,` at position 32");
  assert.equal(refusal("CronSpan('* * * * *', '1h')"), "expected `,` but found `)` at position 26");
});

test("a refusal says what was expected, what was found, and where", () => {
  const refusals: [source: string, message: string][] = [
    ["", "expected a value but found the end at position 0"],
    ["a &&", "expected a value but found the end at position 4"],
    ["a && && b", "expected a value but found `&&` at position 5"],
    ["(a == b", "expected `)` but found the end at position 7"],
    ["a == b)", "expected an operator or the end but found `)` at position 6"],
    ["a b", "expected an operator or the end but found `b` at position 2"],
    ["[1 2]", "expected `,` or `]` but found `2` at position 3"],
    ["[1,]", "expected a value but found `]` at position 3"],
    ["[,]", "expected a value but found `,` at position 1"],
    ["a[]", "expected a value but found `]` at position 2"],
    ["a[1..]", "expected a value but found `]` at position 5"],
    ["a[..1]", "expected a value but found `..` at position 2"],
    ["a[1..2..3]", "expected `]` but found `..` at position 6"],
    ["a.", "expected a field or a method but found the end at position 2"],
    ["a.'b'", "expected a field or a method but found `'b'` at position 2"],
    ["a.0", "expected a field or a method but found `0` at position 2"],
    ["a..b", "expected an operator or the end but found `..` at position 1"],
    ["a.any", "expected `(` but found the end at position 5"],
    ["a.any()", "expected a name for the element but found `)` at position 6"],
    ["a.any(x)", "expected `,` but found `)` at position 7"],
    ["a.any(x, )", "expected a value but found `)` at position 9"],
    ["a.any(x.y, true)", "expected `,` but found `.` at position 7"],
    ["a.contains()", "expected a value but found `)` at position 11"],
    ["a.contains(1, 2)", "expected `)` but found `,` at position 12"],
    ["a.count(1)", "expected `)` but found `1` at position 8"],
    ["in in [1]", "expected a value but found `in` at position 0"],
    ["a not in [1]", "expected an operator or the end but found `not` at position 2"],
    ["o.address == <ADDRESS>", "expected a value but found `<` at position 13"],
    [
      "a.to.startsWith('0x')",
      "unknown method `startsWith`: expected all, any, filter, contains or count at position 5",
    ],
    ["len(a) == 1", "unknown function `len`: expected Timestamp or CronSpan at position 0"],
    ["a == b == c", "expected `&&` or `||`, since comparisons do not chain, but found `==` at position 7"],
    ["a < b in c", "expected `&&` or `||`, since comparisons do not chain, but found `in` at position 6"],
    ["(a &&\n   b == == c)", "expected a value but found `==` at position 14 (line 2, column 9)"],
    ["a ==\r\n'b' 'c'", "expected an operator or the end but found `'c'` at position 10 (line 2, column 5)"],
    [`a '${"b".repeat(60)}'`, `expected an operator or the end but found \`'${"b".repeat(38)}…\` at position 2`],
  ];
  for (const [source, message] of refusals) assert.equal(refusal(source), message);
  assert.equal(refusals.length, 35);
});

test("every node spans the text it came from", () => {
  const source = " a.any( x , x.b [ 0 ] == 'c' )  &&  ( !d )";
  const root = parseExpression(source);
  const found = new Map<string, string>();
  const walk = (node: Expression): void => {
    found.set(node.kind, source.slice(node.start, node.end));
    childrenOf(node).forEach(walk);
  };
  walk(root);
  assert.deepEqual(Object.fromEntries(found), {
    and: "a.any( x , x.b [ 0 ] == 'c' )  &&  ( !d )",
    each: "a.any( x , x.b [ 0 ] == 'c' )",
    compare: "x.b [ 0 ] == 'c'",
    index: "x.b [ 0 ]",
    field: "x.b",
    literal: "'c'",
    not: "!d",
    name: "d",
  });
});

test("at most 512 nodes", () => {
  const list = (items: number): string => `[${Array(items).fill("1").join(",")}]`;
  assert.equal(parseExpression(list(511)).kind, "list");
  assert.equal(refusal(list(512)), "the expression has more than 512 parts, the last of them at position 0");
  assert.match(refusal(`[${Array(1500).fill("1").join(",")}]`), /^the expression has more than 512 parts/);
});

test("at most 32 levels deep, and at most 32 brackets and ! open at once, of any kind", () => {
  const tooDeep = /^the expression is nested more than 32 levels deep at position \d+$/;
  const wrapped = (open: string, close: string, times: number): string =>
    `${open.repeat(times)}a${close.repeat(times)}`;
  for (const [open, close] of [
    ["(", ")"],
    ["a[", "]"],
    ["a.all(x, ", ")"],
    ["a.contains(", ")"],
    ["[", "]"],
    ["!", ""],
    ["(!", ")"],
  ] as const) {
    assert.equal(typeof parseExpression(wrapped(open, close, 16)).kind, "string", open);
    assert.match(refusal(wrapped(open, close, 33)), tooDeep, open);
    assert.match(refusal(wrapped(open, close, Math.floor(4000 / (open.length + close.length)))), tooDeep, open);
  }
  assert.equal(parseExpression(`a${".b".repeat(31)}`).kind, "field");
  assert.match(refusal(`a${".b".repeat(32)}`), tooDeep);
  assert.match(refusal(`a${".b".repeat(500)}`), tooDeep);
});
