/** Expression text to tokens. Every character is in a token or is plain space; nothing is skipped in silence. */

import { expressionLimits, maxInteger } from "../expression_limits.ts";
import { faultAt, quote } from "../position.ts";
import type { SourceRange } from "./ast.ts";

/** `text` is the content of a string, and what stands in the source of everything else. */
export type Token = SourceRange & { kind: "name" | "int" | "string" | "symbol" | "end"; text: string };

const space = /[ \t\r\n]+/y;
const name = /[A-Za-z_][A-Za-z0-9_]*/y;
/** With the letters that run into it, so that `0x1f` or `10eth` is one mistake and not two tokens. */
const int = /[0-9][A-Za-z0-9_]*/y;
/** Longest first. */
const symbol = /\|\||&&|==|!=|<=|>=|\.\.|[<>!.,()[\]]/y;

const forms = [["name", name] as const, ["int", int] as const, ["symbol", symbol] as const];

/**
 * Half characters, control characters, those that make text read in another order than it stands, and those that are drawn as
 * nothing (joiners, fillers, variation selectors, tags): whoever reviews a policy must see what the engine reads. Tabs and line ends
 * are fine.
 */
const unseen =
  /[\p{Surrogate}\p{Format}\p{Default_Ignorable_Code_Point}\p{Line_Separator}\p{Paragraph_Separator}\u2800]|[^\P{Control}\t\r\n]/u;

/** What people of other languages write, and what to write instead. */
const hints: Readonly<Record<string, string>> = {
  "=": "equality is written `==`",
  "&": "both of two is written `&&`",
  "|": "either of two is written `||`",
  "-": "there are no negative numbers and no arithmetic",
  "+": "there is no arithmetic",
  "*": "there is no arithmetic",
  "/": "there is no arithmetic, and there are no comments",
  "#": "there are no comments",
  "?": "there is no choice between values; write two policies",
  "‘": "quotes must be straight: `'`",
  "’": "quotes must be straight: `'`",
  "“": "quotes must be straight: `'`",
  "”": "quotes must be straight: `'`",
};

/** The last token is always the one `end`. */
export function tokenize(source: string): readonly Token[] {
  refuseSize(source);
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    at = endOf(space, source, at);
    if (at === source.length) break;
    const token = nextToken(source, at);
    tokens.push(token);
    at = token.end;
  }
  tokens.push({ kind: "end", text: "", start: at, end: at });
  return tokens;
}

function refuseSize(source: string): void {
  const limit = expressionLimits.bytes;
  // No text has fewer bytes than units, so what is far too long is never encoded.
  if (source.length > limit || new TextEncoder().encode(source).length > limit) {
    throw faultAt(source, Math.min(limit, source.length), `the expression is longer than ${limit} bytes`);
  }
  const at = source.search(unseen);
  if (at >= 0) throw faultAt(source, at, `characters that cannot be seen are not allowed: ${codePointAt(source, at)}`);
}

function nextToken(source: string, start: number): Token {
  const first = source[start] ?? "";
  if (first === "'" || first === '"') return stringToken(source, start, first);
  for (const [kind, form] of forms) {
    const end = endOf(form, source, start);
    if (end === start) continue;
    const text = source.slice(start, end);
    if (kind === "int") refuseInteger(source, start, text);
    return { kind, text, start, end };
  }
  throw unknownCharacter(source, start);
}

/** There are no escapes: a string ends at the next quote of its kind. */
function stringToken(source: string, start: number, mark: string): Token {
  const close = source.indexOf(mark, start + 1);
  if (close < 0)
    throw faultAt(source, start, `the string ${quote(source.slice(start))} is not closed: expected a ${mark}`);
  return { kind: "string", text: source.slice(start + 1, close), start, end: close + 1 };
}

function refuseInteger(source: string, start: number, text: string): void {
  const limit = expressionLimits.digits;
  if (!/^[0-9]+$/.test(text)) {
    throw faultAt(source, start, `${quote(text)} is not a number: expected digits only, or text in quotes`);
  }
  if (text.length > limit) throw faultAt(source, start, `a number has at most ${limit} digits, found ${text.length}`);
  if (BigInt(text) > maxInteger) throw faultAt(source, start, "a number must be less than 2^256");
}

function unknownCharacter(source: string, at: number): Error {
  const character = String.fromCodePoint(source.codePointAt(at) ?? 0);
  const hint = Object.hasOwn(hints, character) ? ` (${hints[character]})` : "";
  // A space that is not plain looks like one in backticks.
  const shown = /\s/.test(character) ? codePointAt(source, at) : quote(character);
  return faultAt(source, at, `unexpected ${shown}${hint}`);
}

function codePointAt(source: string, at: number): string {
  return `U+${(source.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Where what has this form ends; where it starts, if nothing there has. */
function endOf(form: RegExp, source: string, at: number): number {
  form.lastIndex = at;
  return form.test(source) ? form.lastIndex : at;
}
