/**
 * Text to a tree, by recursive descent: one function per line of the grammar in SPEC.md. Total: any text gives a tree
 * within the limits, or a Fault that says where it stopped and what was expected.
 */
import { Fault } from "../../fault.ts";
import { expressionLimits } from "../expression_limits.ts";
import { quote } from "../position.ts";
import { parseCronSpan } from "../time/cron_span.ts";
import { parseTimestamp } from "../time/timestamp_literal.ts";
import type { CompareOperator, EachMethod, Expression } from "./ast.ts";
import { childrenOf } from "./children.ts";
import type { Token } from "./lexer.ts";
import { TokenCursor } from "./token_cursor.ts";

/** Throws `invalid_argument`, with a message that ends in the position. */
export function parseExpression(source: string): Expression {
  const cursor = new TokenCursor(source);
  const root = parseOr(cursor);
  if (cursor.token.kind !== "end") throw cursor.unexpected("an operator or the end");
  refuseDepth(cursor, root, 1);
  return root;
}

const comparisons: readonly CompareOperator[] = ["==", "!=", "<", "<=", ">", ">=", "in"];
const eachMethods: readonly EachMethod[] = ["all", "any", "filter"];
/** Words that mean themselves everywhere but after a dot, and so cannot name an element. */
const reserved: readonly string[] = ["true", "false", "in", "Timestamp", "CronSpan"];

function parseOr(cursor: TokenCursor): Expression {
  return parseChain(cursor, "or", "||", parseAnd);
}

function parseAnd(cursor: TokenCursor): Expression {
  return parseChain(cursor, "and", "&&", parseComparison);
}

function parseChain(
  cursor: TokenCursor,
  kind: "and" | "or",
  operator: string,
  parse: (cursor: TokenCursor) => Expression,
): Expression {
  const { start } = cursor.token;
  const first = parse(cursor);
  if (!cursor.isAt(operator)) return first;
  const items = [first];
  while (cursor.accept(operator)) items.push(parse(cursor));
  return cursor.node({ kind, items, start, end: cursor.end });
}

function parseComparison(cursor: TokenCursor): Expression {
  const { start } = cursor.token;
  const left = parseUnary(cursor);
  const operator = cursor.acceptOneOf(comparisons);
  if (operator === undefined) return left;
  const right = parseUnary(cursor);
  // `a == b == c` means one thing in some languages and another in others.
  if (comparisons.some((each) => cursor.isAt(each))) {
    throw cursor.unexpected("`&&` or `||`, since comparisons do not chain,");
  }
  return cursor.node({ kind: "compare", operator, left, right, start, end: cursor.end });
}

function parseUnary(cursor: TokenCursor): Expression {
  const { start } = cursor.token;
  if (!cursor.accept("!")) return parsePostfix(cursor);
  const of = cursor.nested(start, () => parseUnary(cursor));
  return cursor.node({ kind: "not", of, start, end: cursor.end });
}

function parsePostfix(cursor: TokenCursor): Expression {
  const { start } = cursor.token;
  let of = parsePrimary(cursor);
  for (;;) {
    if (cursor.accept(".")) of = parseMember(cursor, start, of);
    else if (cursor.isAt("[")) of = parseIndex(cursor, start, of);
    else return of;
  }
}

/** A method if it is called like one: no field of the vocabulary is. */
function parseMember(cursor: TokenCursor, start: number, of: Expression): Expression {
  const { text: name, start: at } = cursor.expectKind("name", "a field or a method");
  const method = eachMethods.find((each) => each === name);
  if (method !== undefined) return parseEach(cursor, start, method, of);
  if (name === "contains") {
    const item = cursor.within("(", ")", () => parseOr(cursor));
    return cursor.node({ kind: "contains", of, item, start, end: cursor.end });
  }
  if (name === "count") {
    // Published policies leave the parentheses out.
    if (cursor.accept("(")) cursor.expect(")");
    return cursor.node({ kind: "count", of, start, end: cursor.end });
  }
  if (cursor.isAt("(")) {
    throw cursor.faultAt(at, `unknown method ${quote(name)}: expected all, any, filter, contains or count`);
  }
  return cursor.node({ kind: "field", of, name, start, end: cursor.end });
}

function parseEach(cursor: TokenCursor, start: number, method: EachMethod, of: Expression): Expression {
  const [binder, body] = cursor.within("(", ")", (): [string, Expression] => {
    if (reserved.some((word) => cursor.isAt(word))) throw cursor.unexpected("another name for the element");
    const { text } = cursor.expectKind("name", "a name for the element");
    cursor.expect(",");
    return [text, parseOr(cursor)];
  });
  return cursor.node({ kind: "each", method, of, binder, body, start, end: cursor.end });
}

function parseIndex(cursor: TokenCursor, start: number, of: Expression): Expression {
  const [at, to] = cursor.within("[", "]", (): [Expression, Expression?] => {
    const first = parseOr(cursor);
    return cursor.accept("..") ? [first, parseOr(cursor)] : [first];
  });
  if (to === undefined) return cursor.node({ kind: "index", of, at, start, end: cursor.end });
  return cursor.node({ kind: "slice", of, from: at, to, start, end: cursor.end });
}

function parsePrimary(cursor: TokenCursor): Expression {
  const { kind, text, start } = cursor.token;
  if (cursor.isAt("(")) return cursor.within("(", ")", () => parseOr(cursor));
  if (cursor.isAt("[")) {
    const items = cursor.within("[", "]", () => parseItems(cursor));
    return cursor.node({ kind: "list", items, start, end: cursor.end });
  }
  if (kind === "end" || kind === "symbol" || cursor.isAt("in")) throw cursor.unexpected("a value");
  const token = cursor.take();
  if (kind === "int") return cursor.node({ kind: "literal", value: BigInt(text), start, end: cursor.end });
  if (kind === "string") return cursor.node({ kind: "literal", value: text, start, end: cursor.end });
  if (text === "true" || text === "false")
    return cursor.node({ kind: "literal", value: text === "true", start, end: cursor.end });
  if (text === "Timestamp" || text === "CronSpan") return parseCall(cursor, token);
  if (cursor.isAt("(")) throw cursor.faultAt(start, `unknown function ${quote(text)}: expected Timestamp or CronSpan`);
  return cursor.node({ kind: "name", name: text, start, end: cursor.end });
}

function parseItems(cursor: TokenCursor): Expression[] {
  if (cursor.isAt("]")) return [];
  const items = [parseOr(cursor)];
  while (cursor.accept(",")) items.push(parseOr(cursor));
  if (!cursor.isAt("]")) throw cursor.unexpected("`,` or `]`");
  return items;
}

/** Both functions take text in quotes and nothing else. It is read here, so that its mistakes are found at creation. */
function parseCall(cursor: TokenCursor, { text: name, start }: Token): Expression {
  if (name === "Timestamp") {
    const [text = ""] = parseTexts(cursor, "Timestamp('2026-01-31T09:30:00Z')", 1);
    const ms = placed(cursor, start, () => parseTimestamp(text));
    return cursor.node({ kind: "timestamp", ms, start, end: cursor.end });
  }
  const [cron = "", duration = "", timeZone = ""] = parseTexts(
    cursor,
    "CronSpan('0 9 * * 1-5', '8h', 'Asia/Tokyo')",
    3,
  );
  const cronSpan = placed(cursor, start, () => parseCronSpan(cron, duration, timeZone));
  return cursor.node({ kind: "cronSpan", cronSpan, start, end: cursor.end });
}

function parseTexts(cursor: TokenCursor, form: string, count: number): string[] {
  if (!cursor.isAt("(")) throw cursor.unexpected(`\`(\` as in \`${form}\``);
  return cursor.within("(", ")", () => {
    const texts: string[] = [];
    while (texts.length < count) {
      if (texts.length > 0) cursor.expect(",");
      texts.push(cursor.expectKind("string", `text in quotes as in \`${form}\``).text);
    }
    return texts;
  });
}

/** Gives the refusal of a text the place where it stands. */
function placed<T>(cursor: TokenCursor, start: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw cursor.faultAt(start, error.message);
  }
}

function refuseDepth(cursor: TokenCursor, node: Expression, depth: number): void {
  if (depth > expressionLimits.depth) throw cursor.tooDeep(node.start);
  for (const child of childrenOf(node)) refuseDepth(cursor, child, depth + 1);
}
