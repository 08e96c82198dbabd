/**
 * The value of a policy expression, worked out the slow and obvious way over ordinary data. Written from the published
 * meaning of the language for the tests; shares nothing with core/src/policy.
 */
import type { Tree } from "./naive_parse.ts";
import { naiveIsIn, naiveSpan, naiveTimestamp } from "./naive_time.ts";

/**
 * Ordinary data: integers are bigint, moments are Date, `{ hex }` is text of the EVM in which letter case means nothing,
 * a `Map` has keys that only the request knows, and an object has named fields. Undefined: no value.
 */
export type Plain = boolean | bigint | string | Date | { hex: string } | Plain[] | Map<string, Plain> | Fields;
export type Fields = { [name: string]: Plain | undefined };

/** Why there is no value: something absent, beyond the end, of the wrong type, too large, or too much work. */
export class Wrong extends Error {
  readonly why: "absent" | "range" | "type" | "size" | "work";

  constructor(why: Wrong["why"], message: string) {
    super(message);
    this.why = why;
  }
}

/** Names that can be used, innermost first. */
export type Scope = readonly { [name: string]: Plain | undefined }[];

const longestText = 64 * 1024;
/** Beyond every budget, so that whatever the engine still evaluates is evaluated here too. */
const mostSteps = 1_000_000;
let steps = 0;

/** How many parts the last evaluation had. */
export function stepsTaken(): number {
  return steps;
}

/** The value, or a throw of `Wrong`. Nothing is left out: a part that has no value leaves the whole without one. */
export function naiveEvaluate(tree: Tree, scope: Scope, now: Date): Plain {
  steps = 0;
  return evaluate(tree, scope, now);
}

function evaluate(tree: Tree, scope: Scope, now: Date): Plain {
  steps++;
  if (steps > mostSteps) throw new Wrong("work", "too much");
  const [form, ...parts] = tree;
  const part = (i: number) => evaluate(parts[i] as Tree, scope, now);
  switch (form) {
    case "true":
      return true;
    case "false":
      return false;
    case "literal":
      return checked(parts[0] as bigint);
    case "text":
      return parts[0] as string;
    case "Timestamp":
      return naiveTimestamp(parts[0] as string);
    case "CronSpan":
      return naiveIsIn(naiveSpan(parts[0] as string, parts[1] as string, parts[2] as string), now);
    case "list":
      return parts.map((_, i) => part(i));
    case "name":
      return checked(scope.find((names) => Object.hasOwn(names, parts[0] as string))?.[parts[0] as string]);
    case "field":
      return fieldOf(part(0), parts[1] as string);
    case "at":
      return itemOf(part(0), part(1));
    case "slice":
      return sliceOf(part(0), part(1), part(2));
    case "count":
      return BigInt(asList(part(0)).length);
    case "!":
      return !asBool(part(0));
    case "&&":
    case "||": {
      const [left, right] = [asBool(part(0)), asBool(part(1))];
      return form === "&&" ? left && right : left || right;
    }
    case "in": {
      const item = part(0);
      return asList(part(1))
        .map((other) => isSame(item, checked(other)))
        .includes(true);
    }
    case "all":
    case "any":
    case "filter": {
      const list = asList(part(0));
      const holds = list.map((item) => {
        return asBool(evaluate(parts[2] as Tree, [{ [parts[1] as string]: checked(item) }, ...scope], now));
      });
      if (form === "filter") return list.filter((_, i) => holds[i]);
      return form === "all" ? !holds.includes(false) : holds.includes(true);
    }
    default:
      return compare(form, part(0), part(1));
  }
}

function compare(operator: string, left: Plain, right: Plain): boolean {
  if (operator === "==") return isSame(left, right);
  if (operator === "!=") return !isSame(left, right);
  const [a, b] = asOrdered(left, right);
  if (operator === "<") return a < b;
  if (operator === "<=") return a <= b;
  if (operator === ">") return a > b;
  if (operator === ">=") return a >= b;
  throw new Error(`unknown operator ${operator}`);
}

function isHex(value: Plain): value is { hex: string } {
  return typeof value === "object" && "hex" in value;
}

/** The characters of a text and whether their case means something. */
function textOf(value: Plain): { text: string; isExact: boolean } | undefined {
  if (typeof value === "string") return { text: value, isExact: true };
  return isHex(value) ? { text: value.hex, isExact: false } : undefined;
}

/** Without regard to the case of ASCII letters, and of these only. */
function folded(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** An integer, or a string of digits beside one: no more of them than a literal has, and with a sign if need be. */
function numberOf(value: Plain): bigint | undefined {
  if (typeof value === "bigint") return value;
  return typeof value === "string" && /^-?[0-9]{1,78}$/.test(value) ? checkedInt(BigInt(value)) : undefined;
}

function isSame(left: Plain, right: Plain): boolean {
  if (typeof left === "boolean" && typeof right === "boolean") return left === right;
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime();
  const [a, b] = [textOf(left), textOf(right)];
  if (a !== undefined && b !== undefined) {
    return a.isExact && b.isExact ? a.text === b.text : folded(a.text) === folded(b.text);
  }
  if (typeof left === "bigint" || typeof right === "bigint") {
    const [m, n] = [numberOf(left), numberOf(right)];
    if (m !== undefined && n !== undefined) return m === n;
  }
  throw new Wrong("type", "these two cannot be equal or unequal");
}

function asOrdered(left: Plain, right: Plain): [bigint, bigint] | [number, number] {
  if (left instanceof Date && right instanceof Date) return [left.getTime(), right.getTime()];
  // Large arguments of programs come as strings of digits, so two strings may be meant as numbers as well.
  const [m, n] = [numberOf(left), numberOf(right)];
  if (m !== undefined && n !== undefined) return [m, n];
  throw new Wrong("type", "these two have no order");
}

function asBool(value: Plain): boolean {
  if (typeof value !== "boolean") throw new Wrong("type", "not true or false");
  return value;
}

function asList(value: Plain): Plain[] {
  if (!Array.isArray(value)) throw new Wrong("type", "not a list");
  return value;
}

function asPlace(value: Plain): bigint {
  if (typeof value !== "bigint") throw new Wrong("type", "not a place in a list");
  return value;
}

function fieldOf(of: Plain, name: string): Plain {
  if (typeof of !== "object" || Array.isArray(of) || of instanceof Map || of instanceof Date || isHex(of)) {
    throw new Wrong("type", `nothing in it is called ${name}`);
  }
  // Published policies spell this one field in two ways.
  const spelled = name === "gasPrice" ? "gas_price" : name;
  return checked(Object.hasOwn(of, spelled) ? of[spelled] : undefined);
}

function itemOf(of: Plain, at: Plain): Plain {
  if (of instanceof Map) {
    const key = textOf(at);
    if (key === undefined) throw new Wrong("type", "keys are strings");
    return checked(of.get(key.isExact ? key.text : folded(key.text)));
  }
  const place = asPlace(at);
  if (Array.isArray(of)) return checked(of[Number(place)], "range");
  return sliceOf(of, place, place + 1n);
}

function sliceOf(of: Plain, from: Plain, to: Plain): Plain {
  const [first, last] = [asPlace(from), asPlace(to)];
  const text = textOf(of);
  const length = Array.isArray(of) ? of.length : text?.text.length;
  if (length === undefined) throw new Wrong("type", "it has no places");
  if (first < 0n || first > last || last > BigInt(length)) throw new Wrong("range", "beyond its end");
  if (Array.isArray(of)) return of.slice(Number(first), Number(last));
  const cut = text?.text.slice(Number(first), Number(last)) ?? "";
  return text?.isExact ? cut : { hex: cut };
}

/** A value that came from outside: there, and within the bounds of the language. */
function checked(value: Plain | undefined, why: Wrong["why"] = "absent"): Plain {
  if (value === undefined) throw new Wrong(why, "there is no value");
  if (typeof value === "bigint") return checkedInt(value);
  if ((textOf(value)?.text.length ?? 0) > longestText) throw new Wrong("size", "too long");
  return value;
}

function checkedInt(value: bigint): bigint {
  if (value >= 2n ** 256n || value < -(2n ** 127n)) throw new Wrong("size", "beyond 256 bits");
  return value;
}
