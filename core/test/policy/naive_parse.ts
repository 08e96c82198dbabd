/**
 * A second reading of the policy language, written from its grammar alone for the tests. It shares nothing with
 * core/src/policy, is as plain as it can be, knows no types and no limits, and throws `Refused` at the first thing amiss.
 */

import { naiveSpan, naiveTimestamp, Refused } from "./naive_time.ts";

/** An operator or form, then its parts: `["==", left, right]`, `["any", list, "x", body]`. */
export type Tree = readonly [form: string, ...parts: (Tree | string | bigint)[]];

type Token = { type: "name" | "int" | "text" | "sign" | "end"; text: string };

const tokenForms = [
  ["space", /[ \t\r\n]+/y],
  ["name", /[A-Za-z_][A-Za-z0-9_]*/y],
  ["int", /[0-9]+/y],
  ["text", /'[^']*'|"[^"]*"/y],
  ["sign", /\|\||&&|==|!=|<=|>=|\.\.|[<>!.,()[\]]/y],
] as const;

function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    let found = false;
    for (const [type, form] of tokenForms) {
      form.lastIndex = at;
      const text = form.exec(source)?.[0];
      if (text === undefined) continue;
      if (type !== "space") tokens.push({ type, text });
      at += text.length;
      found = true;
      break;
    }
    if (!found) throw new Refused(`nothing begins with ${source.slice(at, at + 1)}`);
  }
  return [...tokens, { type: "end", text: "" }];
}

const comparisons = ["==", "!=", "<", "<=", ">", ">=", "in"];
/** Words that stand for something by themselves and so name nothing. */
const reserved = ["true", "false", "in", "Timestamp", "CronSpan"];
const longestInt = 78;

/** The whole source as one tree. */
export function naiveParse(source: string): Tree {
  const tokens = tokensOf(source);
  let at = 0;

  const peek = () => tokens[at] ?? { type: "end", text: "" };
  const next = () => {
    const token = peek();
    at++;
    return token;
  };
  const isSign = (text: string) => peek().type === "sign" && peek().text === text;
  const take = (text: string): boolean => {
    if (!isSign(text)) return false;
    at++;
    return true;
  };
  const need = (text: string) => {
    if (!take(text)) throw new Refused(`${text} is missing before ${peek().text}`);
  };
  const nameOf = (token: Token) => {
    if (token.type !== "name") throw new Refused(`${token.text} is not a name`);
    return token.text;
  };
  const textOf = (token: Token) => {
    if (token.type !== "text") throw new Refused(`${token.text} is not a string`);
    return token.text.slice(1, -1);
  };

  const either = (): Tree => {
    let tree = both();
    while (take("||")) tree = ["||", tree, both()];
    return tree;
  };
  const both = (): Tree => {
    let tree = compared();
    while (take("&&")) tree = ["&&", tree, compared()];
    return tree;
  };
  const isComparison = () => ["sign", "name"].includes(peek().type) && comparisons.includes(peek().text);
  const compared = (): Tree => {
    const left = negated();
    if (!isComparison()) return left;
    const operator = next().text;
    const tree: Tree = [operator, left, negated()];
    if (isComparison()) throw new Refused("comparisons do not chain");
    return tree;
  };
  const negated = (): Tree => (take("!") ? ["!", negated()] : postfixed());
  const postfixed = (): Tree => {
    let tree = primary();
    for (;;) {
      if (take(".")) tree = afterDot(tree);
      else if (take("[")) tree = bracketed(tree);
      else return tree;
    }
  };
  const afterDot = (of: Tree): Tree => {
    const name = nameOf(next());
    if (name === "count") {
      if (take("(")) need(")");
      return ["count", of];
    }
    if (name === "all" || name === "any" || name === "filter") {
      need("(");
      const binder = nameOf(next());
      if (reserved.includes(binder)) throw new Refused(`${binder} cannot be bound`);
      need(",");
      const body = either();
      need(")");
      return [name, of, binder, body];
    }
    if (name === "contains") {
      need("(");
      const item = either();
      need(")");
      return ["in", item, of];
    }
    return ["field", of, name];
  };
  const bracketed = (of: Tree): Tree => {
    const from = either();
    if (!take("..")) {
      need("]");
      return ["at", of, from];
    }
    const to = either();
    need("]");
    return ["slice", of, from, to];
  };
  const primary = (): Tree => {
    const token = next();
    if (token.type === "int") {
      if (token.text.length > longestInt) throw new Refused("too many digits");
      return ["literal", BigInt(token.text)];
    }
    if (token.type === "text") return ["text", textOf(token)];
    if (token.type === "name") return named(token.text);
    if (token.text === "(" && token.type === "sign") {
      const tree = either();
      need(")");
      return tree;
    }
    if (token.text === "[" && token.type === "sign") return listed();
    throw new Refused(`no expression begins with ${token.text}`);
  };
  const listed = (): Tree => {
    if (take("]")) return ["list"];
    const items = [either()];
    while (take(",")) items.push(either());
    need("]");
    return ["list", ...items];
  };
  const named = (name: string): Tree => {
    if (name === "true" || name === "false") return [name];
    if (name !== "Timestamp" && name !== "CronSpan") {
      if (reserved.includes(name)) throw new Refused(`${name} is not a name`);
      return ["name", name];
    }
    need("(");
    const given = [textOf(next())];
    while (take(",")) given.push(textOf(next()));
    need(")");
    if (given.length !== (name === "Timestamp" ? 1 : 3)) throw new Refused(`${name} with ${given.length} strings`);
    const [first = "", second = "", third = ""] = given;
    if (name === "Timestamp") naiveTimestamp(first);
    else naiveSpan(first, second, third);
    return [name, ...given];
  };

  const tree = either();
  if (peek().type !== "end") throw new Refused(`${peek().text} after the end`);
  return tree;
}
