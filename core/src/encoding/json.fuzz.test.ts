/** readJson against JSON.parse: what it accepts is the same value, and what it refuses has a reason we can name. */
import assert from "node:assert/strict";
import { isUtf8 } from "node:buffer";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../fault.ts";
import { readJson } from "./json.ts";

/** A second, slow and independent opinion on documents that JSON.parse accepts: does our strictness apply? */
function isStrict(text: string): boolean {
  const objects: (Set<string> | undefined)[] = []; // One entry per open bracket; undefined for arrays.
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/gs) ?? [];
  for (const [i, token] of tokens.entries()) {
    if (token === "{") objects.push(new Set());
    else if (token === "[") objects.push(undefined);
    else if (token === "}" || token === "]") objects.pop();
    else if (token.startsWith('"')) {
      const value: string = JSON.parse(token);
      if (value.includes("\0") || Buffer.from(value).toString() !== value) return false;
      if (tokens[i + 1] !== ":") continue;
      const keys = objects.at(-1);
      if (token.includes("\\") || value === "__proto__" || keys?.has(value)) return false;
      keys?.add(value);
    } else if (/^[-\d]/.test(token)) {
      const value = Number(token);
      if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
    }
    if (objects.length > 32) return false;
  }
  return true;
}

type Verdict = { value: unknown } | "refused";

function verdictOf(read: () => unknown): Verdict {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof SyntaxError))
      assert.ok(error instanceof Fault && error.code === "invalid_argument", `${error}`);
    return "refused";
  }
}

function expected(bytes: Uint8Array): Verdict {
  if (!isUtf8(bytes)) return "refused";
  const text = Buffer.from(bytes).toString();
  const parsed = verdictOf(() => JSON.parse(text));
  return parsed === "refused" || !isStrict(text) ? "refused" : parsed;
}

const counts = { accepted: 0, refused: 0 };

function compare(bytes: Uint8Array): void {
  const verdict = verdictOf(() => readJson(bytes));
  assert.deepEqual(verdict, expected(bytes));
  counts[verdict === "refused" ? "refused" : "accepted"]++;
}

/** Documents written by hand, so that duplicates, escapes and odd spacing occur. */
const quoted = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a", "b", "c", "", "é", "𝄞", ":", "{", "]", "__proto__x", "0", "1") },
  {
    weight: 1,
    arbitrary: fc.constantFrom("\\u0061", "\\\\", '\\"', "\\n", "\\u0000", "\\ud800", "\\ud834\\udd1e", "__proto__"),
  },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 6 }).map((s) => JSON.stringify(s).slice(1, -1)) },
);
const number = fc.oneof(
  { weight: 6, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }).map(String) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("9007199254740991", "9007199254740993", "1e999", "-1e999", "-0", "1E2", "1e-999"),
  },
);
const space = fc.constantFrom("", "", "", " ", "\n\t");
const { document } = fc.letrec<{ document: string }>((tie) => ({
  document: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    quoted.map((s) => `"${s}"`),
    number,
    fc.constantFrom("true", "false", "null"),
    fc.array(tie("document"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
    fc
      .array(fc.tuple(quoted, space, tie("document"), space), { maxLength: 4 })
      .map((entries) => `{${entries.map(([k, a, v, b]) => `${b}"${k}"${a}:${b}${v}${a}`).join(",")}}`),
  ),
}));

const utf8 = new TextEncoder();

test("5,000 documents written with duplicates, escapes and odd spacing", () => {
  counts.accepted = counts.refused = 0;
  fc.assert(
    fc.property(document, fc.integer({ min: -5, max: 34 }), (text, depth) => {
      const nested = depth > 28 ? "[".repeat(depth) + text + "]".repeat(depth) : text;
      compare(utf8.encode(nested));
    }),
    { seed: 11, numRuns: 5000 },
  );
  assert.equal(counts.accepted + counts.refused, 5000);
  assert.ok(
    counts.accepted > 1000 && counts.refused > 500,
    `both verdicts must occur often: ${JSON.stringify(counts)}`,
  );
});

test("5,000 documents with one byte changed, removed or doubled", () => {
  counts.accepted = counts.refused = 0;
  const byte = fc.oneof(fc.constantFrom(...utf8.encode('"\\{}[]:,u0d \n')), fc.nat(255));
  fc.assert(
    fc.property(document, fc.nat(), byte, fc.nat(2), (text, place, value, kind) => {
      const bytes = [...utf8.encode(text)];
      const at = place % bytes.length;
      if (kind === 0) bytes[at] = value;
      else if (kind === 1) bytes.splice(at, 1);
      else bytes.splice(at, 0, value);
      compare(Uint8Array.from(bytes));
    }),
    { seed: 12, numRuns: 5000 },
  );
  assert.ok(counts.accepted > 500 && counts.refused > 500, `both verdicts must occur often: ${JSON.stringify(counts)}`);
});

test("any JSON value of strict content round-trips", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      compare(utf8.encode(text));
    }),
    { seed: 13, numRuns: 1000 },
  );
});
