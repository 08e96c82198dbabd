import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../fault.ts";
import { tokenize } from "./lexer.ts";

function texts(source: string): string[] {
  return tokenize(source).map(({ kind, text }) => `${kind} ${text}`.trim());
}

function refusal(source: string): string {
  try {
    tokenize(source);
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid_argument") return error.message;
    throw error;
  }
  assert.fail(`not refused: ${source}`);
}

test("every token knows where it stands in the source", () => {
  const source = "eth.tx.data[0..10] ==\n  '0xa9059cbb'";
  for (const { kind, start, end, text } of tokenize(source)) {
    assert.equal(source.slice(start, end), kind === "string" ? `'${text}'` : text);
  }
  assert.deepEqual(tokenize("ab").at(-1), { kind: "end", text: "", start: 2, end: 2 });
});

test("the longest symbol is taken", () => {
  assert.deepEqual(texts("<=<>=>!=!..."), [
    "symbol <=",
    "symbol <",
    "symbol >=",
    "symbol >",
    "symbol !=",
    "symbol !",
    "symbol ..",
    "symbol .",
    "end",
  ]);
});

test("spaces, tabs and line ends separate, and nothing else does", () => {
  assert.deepEqual(texts(" a\tb\r\nc "), ["name a", "name b", "name c", "end"]);
  assert.equal(refusal("a\u00a0b"), "unexpected U+00A0 at position 1");
  assert.equal(refusal("\ufeffa"), "characters that cannot be seen are not allowed: U+FEFF at position 0");
});

test("a string holds everything up to the next quote of its kind, without escapes", () => {
  assert.deepEqual(texts(`'a "b" \\'`), [`string a "b" \\`, "end"]);
  assert.deepEqual(texts(`"it's 5 && <X>"`), ["string it's 5 && <X>", "end"]);
  assert.deepEqual(texts("'two\nlines'"), ["string two\nlines", "end"]);
  assert.deepEqual(texts("'金庫 🔑'"), ["string 金庫 🔑", "end"]);
  assert.equal(refusal("a == 'b"), "the string `'b` is not closed: expected a ' at position 5");
});

test("numbers are decimal digits, at most 78, below 2^256", () => {
  const largest = (2n ** 256n - 1n).toString();
  assert.deepEqual(texts(`007 ${largest}`), ["int 007", `int ${largest}`, "end"]);
  assert.equal(refusal(`x < ${2n ** 256n}`), "a number must be less than 2^256 at position 4");
  assert.equal(refusal("0".repeat(79)), "a number has at most 78 digits, found 79 at position 0");
  for (const text of ["0x1f", "10eth", "1e18", "1_000", "1in"]) {
    assert.equal(refusal(text), `\`${text}\` is not a number: expected digits only, or text in quotes at position 0`);
  }
});

test("what other languages have is refused by name", () => {
  assert.equal(refusal("a = 1"), "unexpected `=` (equality is written `==`) at position 2");
  assert.equal(refusal("a & b"), "unexpected `&` (both of two is written `&&`) at position 2");
  assert.equal(refusal("a | b"), "unexpected `|` (either of two is written `||`) at position 2");
  assert.equal(refusal("a > -1"), "unexpected `-` (there are no negative numbers and no arithmetic) at position 4");
  assert.match(refusal("true // really"), /there are no comments\) at position 5$/);
  assert.match(refusal("a == ‘b’"), /^unexpected `‘` \(quotes must be straight: `'`\) at position 5$/);
  for (const character of ["{", "}", ";", ":", "$", "@", "%", "^", "~", "`", "\\", "é", "🔑"]) {
    assert.equal(refusal(`true ${character}`), `unexpected \`${character}\` at position 5`);
  }
});

test("what nobody reviewing a policy could see is refused, in strings too", () => {
  // The classic: shown from right to left, the string seems to end elsewhere.
  assert.equal(
    refusal("wallet.label == 'x\u202e' || true"),
    "characters that cannot be seen are not allowed: U+202E at position 18",
  );
  for (const character of [
    "\0",
    "\u0007",
    "\u001b",
    "\u007f",
    "\u0085",
    "\u200e",
    "\u200f",
    "\u061c",
    "\u2066",
    "\ud83d",
    // Drawn as nothing: spaces of no width, joiners, a soft hyphen, fillers, variation selectors, tags, separators.
    "\u200b",
    "\u200d",
    "\u2060",
    "\ufeff",
    "\u00ad",
    "\u115f",
    "\u3164",
    "\uffa0",
    "\u034f",
    "\u180e",
    "\ufe0f",
    "\u{e0041}",
    "\u{e01ef}",
    "\u2028",
    "\u2029",
    "\u2800",
  ]) {
    assert.match(
      refusal(`'${character}'`),
      /^characters that cannot be seen are not allowed: U\+[0-9A-F]{4,5} at position 1$/,
    );
  }
});

test("an expression has at most 4096 bytes in UTF-8", () => {
  assert.equal(tokenize(`'${"a".repeat(4094)}'`).length, 2);
  assert.equal(tokenize(`'${"é".repeat(2047)}'`).length, 2);
  assert.equal(refusal(`'${"a".repeat(4095)}'`), "the expression is longer than 4096 bytes at position 4096");
  assert.equal(refusal("a".repeat(10_000_000)), "the expression is longer than 4096 bytes at position 4096");
  // In units it is shorter than the limit, and a position must be one in the source.
  assert.equal(refusal(`'${"é".repeat(2048)}'`), "the expression is longer than 4096 bytes at position 2050");
});
