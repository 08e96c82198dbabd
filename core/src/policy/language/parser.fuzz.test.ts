/** Any text at all: a tree within the limits that says what the text says, or our own refusal with a place in it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bent } from "../../../test/policy/bent_expressions.ts";
import { type Chance, chosenSeed, seeded } from "../../../test/policy/seeded.ts";
import { samples } from "../../../test/samples.ts";
import { findVectors } from "../../../test/vectors.ts";
import { Fault } from "../../fault.ts";
import { expressionLimits } from "../expression_limits.ts";
import { type ExpressionKind, expressionKinds } from "../vocabulary/vocabulary.ts";
import type { Expression } from "./ast.ts";
import { checkExpression } from "./check.ts";
import { childrenOf } from "./children.ts";
import { parseExpression } from "./parser.ts";

const rounds = samples.policyTexts;

type Verdicts = { parsed: number; checked: number; refused: number };

/** Calls, and gives undefined for a refusal of ours with a place inside the source. */
function attempt<T>(source: string, seed: number, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const message = `seed ${seed}: ${JSON.stringify(source)}: ${error}`;
    if (!(error instanceof Fault) || error.code !== "invalid_argument") throw new Error(message, { cause: error });
    const place = / at position (\d+)(?: \(line \d+, column \d+\))?$/.exec(error.message);
    assert.ok(place !== null && Number(place[1]) <= source.length, message);
    return undefined;
  }
}

function examine(source: string, seed: number, kind: ExpressionKind, verdicts: Verdicts): void {
  const root = attempt(source, seed, () => parseExpression(source));
  const checked = attempt(source, seed, () => checkExpression(kind, source));
  if (root === undefined) {
    assert.equal(checked, undefined);
    verdicts.refused++;
    return;
  }
  verdicts.parsed++;
  if (checked !== undefined) verdicts.checked++;
  const nodes = countNodes(root, { start: 0, end: source.length }, 1);
  assert.ok(nodes <= expressionLimits.nodes && source.length <= expressionLimits.bytes, `seed ${seed}`);
  const written = write(source, root);
  const again = attempt(written, seed, () => parseExpression(written));
  // The spaces around operators can push a text over the limit, and nothing else can.
  if (again === undefined) assert.ok(Buffer.byteLength(written) > expressionLimits.bytes, `seed ${seed}: ${written}`);
  else if (shapeOf(again) !== shapeOf(root)) assert.fail(`seed ${seed}: ${JSON.stringify(source)} became ${written}`);
}

/** Each node lies inside the one around it, and none deeper than allowed. */
function countNodes(node: Expression, around: { start: number; end: number }, depth: number): number {
  assert.ok(depth <= expressionLimits.depth);
  const isInside = around.start <= node.start && node.start < node.end && node.end <= around.end;
  if (!isInside) assert.fail(shapeOf(node));
  return childrenOf(node).reduce((sum, child) => sum + countNodes(child, node, depth + 1), 1);
}

/** The tree without places. */
function shapeOf(root: Expression): string {
  return JSON.stringify(root, (key, value) => {
    if (key === "start" || key === "end") return undefined;
    return typeof value === "bigint" ? `int ${value}` : value;
  });
}

/** The tree as text again, with no more parentheses than it needs. */
function write(source: string, node: Expression): string {
  const parts = childrenOf(node);
  const bare = (index: number): string => {
    const part = parts[index];
    return part === undefined ? "" : write(source, part);
  };
  const wrapped = (index: number, ...loose: Expression["kind"][]): string =>
    loose.includes(parts[index]?.kind ?? "literal") ? `(${bare(index)})` : bare(index);
  const all = (separator: string, ...loose: Expression["kind"][]): string =>
    parts.map((_, index) => wrapped(index, ...loose)).join(separator);
  const of = wrapped(0, "not", "and", "or", "compare");
  switch (node.kind) {
    case "literal":
      if (typeof node.value !== "string") return String(node.value);
      return node.value.includes("'") ? `"${node.value}"` : `'${node.value}'`;
    case "timestamp":
    case "cronSpan":
      return source.slice(node.start, node.end);
    case "name":
      return node.name;
    case "list":
      return `[${all(",")}]`;
    case "field":
      return `${of}.${node.name}`;
    case "index":
      return `${of}[${bare(1)}]`;
    case "slice":
      return `${of}[${bare(1)}..${bare(2)}]`;
    case "each":
      return `${of}.${node.method}(${node.binder},${bare(1)})`;
    case "contains":
      return `${of}.contains(${bare(1)})`;
    case "count":
      return `${of}.count`;
    case "not":
      return `!${wrapped(0, "and", "or", "compare")}`;
    case "and":
      return all("&&", "and", "or");
    case "or":
      return all("||", "or");
    case "compare":
      return all(` ${node.operator} `, "and", "or", "compare");
  }
}

const pieces = [
  ..."()[].,!<>=&|'\"0aé\n ".split(""),
  ..."( ( ( ) [ [ ] . .. , ! == != <= >= && || in true false 0 17 'a' \"b\" x eth .tx .to".split(" "),
  ...[
    ".any(x,",
    ".all(u,",
    ".filter(",
    ".contains(",
    ".count",
    ".count()",
    "Timestamp(",
    "CronSpan(",
    "approvers",
    "time",
  ],
];

function randomText(chance: Chance): string {
  // Now and then long or deep enough to reach a limit.
  const length = chance.once(50) ? 600 + chance.below(2_000) : 1 + chance.below(16);
  const choices = chance.once(10) ? [chance.of(pieces), chance.of(pieces)] : pieces;
  return Array.from({ length }, () => chance.of(choices)).join(chance.once(3) ? " " : "");
}

/** Of our own, so that there is always something to begin from. */
const own: readonly [ExpressionKind, string][] = [
  ["consensus", "approvers.filter(u, u.tags.contains('t') || u.id in ['a', 'b']).count() >= 2"],
  ["consensus", "!credentials.all(c, c.type == \"CREDENTIAL_TYPE_API_KEY_P256\" && c.user_id != '')"],
  [
    "condition",
    "(eth.tx.to == '0x00' || eth.tx.data[0..10] == '0xa9059cbb')\n  && eth.tx.gasPrice <= 100 && !wallet.exported",
  ],
  ["condition", "eth.eip_712.message['a'][0]['b'] == 1 && activity.params.transfer.leaves.any(l, l.leaf_id == 'x')"],
  ["condition", "solana.tx.instructions.all(i, i.accounts.any(a, a.signer == true) && i.accounts.count < 3)"],
  ["time", "CronSpan('0 9 * * 1-5', '8h', 'UTC') && time.now < Timestamp('2026-01-01T00:00:00Z')"],
];

test(`${rounds} random texts: our refusal with a place, or a tree that says the same when written again`, (t) => {
  const seed = chosenSeed();
  const chance = seeded(seed);
  const verdicts = { parsed: 0, checked: 0, refused: 0 };
  for (let round = 0; round < rounds; round++) examine(randomText(chance), seed, chance.of(expressionKinds), verdicts);
  t.diagnostic(`seed ${seed}: ${JSON.stringify(verdicts)}`);
  assert.ok(verdicts.parsed > rounds / 1000 && verdicts.refused > rounds / 2);
});

test(`${rounds} bent expressions of our own: alike`, (t) => {
  for (const [kind, source] of own) checkExpression(kind, source);
  bend(t, own);
});

test(`${rounds} bent published policies: alike`, (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const text = new TextDecoder().decode(vectors.bytes("../reference/policy-examples.jsonl"));
  const rows: Partial<Record<ExpressionKind, string | null>>[] = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const published = rows.flatMap((row) => expressionKinds.map((kind) => [kind, row[kind] ?? ""] as const));
  bend(
    t,
    published.filter(([, source]) => source !== ""),
  );
});

function bend(t: { diagnostic(message: string): void }, from: readonly (readonly [ExpressionKind, string])[]): void {
  const seed = chosenSeed();
  const chance = seeded(seed);
  const verdicts = { parsed: 0, checked: 0, refused: 0 };
  for (let round = 0; round < rounds; round++) {
    const [kind, source] = chance.of(from);
    let text = bent(source, chance.of(from)[1], chance);
    // Doubled until a limit is near.
    while (chance.once(20) && text.length < 10_000) text = `(${text}) ${chance.of(["&&", "||", "==", "in"])} (${text})`;
    examine(text, seed, kind, verdicts);
  }
  t.diagnostic(`seed ${seed}: ${JSON.stringify(verdicts)}`);
  assert.ok(Object.values(verdicts).every((count) => count > rounds / 100));
}
