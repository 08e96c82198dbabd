/**
 * Random expressions that are well typed: each is grown from a name that the facts know, step by step to a scalar, and
 * ends in something true or false. Knowing the values, it stays inside lists and near the truth most of the time.
 */
import type { Plain } from "./naive_evaluate.ts";
import type { Chance } from "./seeded.ts";
import { hexes, isList, keys, numbers, type Shape, words } from "./shapes.ts";
import { type Known, partOf, shapeOf, type World } from "./worlds.ts";

/** Some are words of the language elsewhere. */
const binders = [
  "x",
  "u",
  "tx",
  "item_1",
  "_",
  "eth",
  "wallet",
  "approvers",
  "activity",
  "count",
  "any",
  "contains",
  "time",
];
const zones = ["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"];

export type Generator = {
  chance: Chance;
  /** A well-typed boolean expression. */
  bool(starts: readonly Known[], depth: number): string;
};

export function generatorOf(chance: Chance): Generator {
  const { below, once, of } = chance;
  const space = () => (once(12) ? of(["  ", "\n", "\t", "\r\n "]) : " ");
  const join = (...parts: string[]) => parts.join(space());
  const quote = (text: string) => {
    // Half a character cannot be written.
    const whole = text.isWellFormed() ? text : "x";
    return whole.includes("'") || once(8) ? `"${whole}"` : `'${whole}'`;
  };
  const maybeParenthesised = (source: string) => (once(10) ? `(${source})` : source);

  const bool = (starts: readonly Known[], depth: number): string => {
    const choice = below(depth <= 0 ? 8 : 12);
    if (choice === 11) return `!${join("", `(${bool(starts, depth - 1)})`).trimStart()}`;
    if (choice >= 8) {
      const operator = once(2) ? "&&" : "||";
      const parts = Array.from({ length: 2 + below(3) }, () => `${maybeParenthesised(mixed(starts, depth - 1))}`);
      return parts.join(`${space()}${operator}${space()}`);
    }
    if (once(20)) return `(${bool(starts, 0)}) ${of(["==", "!="])} (${bool(starts, 0)})`;
    if (once(20)) return overWritten(starts, depth);
    return predicateOver(walk(of(starts), depth, starts), starts, depth);
  };
  /** Over a list that is written out, some of it from the request. */
  const overWritten = (starts: readonly Known[], depth: number): string => {
    const shape = of(["int", "text"] as const);
    const items: Plain[] = Array.from({ length: 1 + below(3) }, () => (shape === "int" ? of(numbers) : of(words)));
    const path = once(2) ? pathOfShape(shape, starts) : undefined;
    const sources = items.map((item) => (typeof item === "string" ? quote(item) : `${item}`));
    const source = `[${[...sources, ...(path === undefined ? [] : [path])].join(", ")}]`;
    return overList({ source, shape: [shape], value: items }, shape, starts, depth);
  };
  /** Sometimes with the other operator inside, so that precedence shows. */
  const mixed = (starts: readonly Known[], depth: number): string =>
    once(3) ? `${bool(starts, depth)}` : bool(starts, 0);

  /** Goes on from something, through fields, places and keys, until it is a scalar or time to stop. */
  const walk = (from: Known, depth: number, starts: readonly Known[]): Known => {
    let known = from;
    for (let steps = 0; steps < 12; steps++) {
      const { shape } = known;
      if (shape === "map") known = valueAt(known);
      else if (isList(shape)) {
        if (once(2)) return known;
        known = once(4) ? filtered(known, starts, depth) : once(4) ? sliced(known) : itemAt(known, shape[0]);
      } else if (typeof shape === "object") {
        const fields = Object.entries(shape);
        if (fields.length === 0) return known;
        const [name, inner] = of(fields);
        known = partOf(known, name.replace("?", ""), inner);
        if (known.source.endsWith(".gas_price") && once(2)) {
          known = { ...known, source: known.source.replace("gas_price", "gasPrice") };
        }
      } else return known;
    }
    return known;
  };

  const lengthOf = (value: Plain | undefined): number => {
    if (Array.isArray(value)) return value.length;
    if (typeof value === "string") return value.length;
    return value !== undefined && typeof value === "object" && "hex" in value ? (value.hex as string).length : 2;
  };
  /** A small number, sometimes as the result of something. */
  const written = (number: number) => {
    if (!once(12)) return `${number}`;
    return of([`[7, ${number}][1]`, `[${Array(number).fill(0).join(", ")}].count()`, `(${number})`]);
  };
  /** A place that is mostly there. */
  const placeIn = (length: number) => (length > 0 && !once(12) ? below(length) : below(length + 3));

  const itemAt = (known: Known, shape: Shape): Known => {
    const place = placeIn(lengthOf(known.value));
    const value = Array.isArray(known.value) ? known.value[place] : undefined;
    return {
      source: `${known.source}[${written(place)}]`,
      shape: value === undefined ? shape : dynamic(shape, value),
      value,
    };
  };
  /** In a list from a map each item has its own shape. */
  const dynamic = (shape: Shape, value: Plain): Shape =>
    typeof shape === "object" && !isList(shape) ? shape : shapeOf(value);

  const bounds = (length: number): [number, number] => {
    const [a, b] = [below(length + 1), below(length + 1)];
    if (once(15)) return [a, b + 1 + below(2)];
    return once(30) ? [Math.max(a, b), Math.min(a, b)] : [Math.min(a, b), Math.max(a, b)];
  };
  const sliced = (known: Known): Known => {
    const [a, b] = bounds(lengthOf(known.value));
    const value = Array.isArray(known.value) ? known.value.slice(a, b) : known.value;
    return { ...known, source: `${known.source}[${written(a)}..${written(b)}]`, value };
  };
  const valueAt = ({ source, value }: Known): Known => {
    const there = value instanceof Map ? [...value.keys()] : [];
    const key = there.length > 0 && !once(8) ? of(there) : of(keys);
    const inner = value instanceof Map ? value.get(key) : undefined;
    return {
      source: `${source}[${quote(key)}]`,
      shape: inner === undefined || once(8) ? of(anyShapes) : shapeOf(inner),
      value: inner,
    };
  };
  const filtered = (known: Known, starts: readonly Known[], depth: number): Known => {
    return { ...known, source: each(known, "filter", starts, depth) };
  };

  const each = (known: Known, method: string, starts: readonly Known[], depth: number): string => {
    // Often the same, so that names hide each other.
    const binder = once(2) ? of(["x", "y"]) : of(binders);
    const items = Array.isArray(known.value) ? known.value : [];
    const value = items.length === 0 ? undefined : of(items);
    const shape = isList(known.shape) ? known.shape[0] : "text";
    const item: Known = { source: binder, shape: value === undefined ? shape : dynamic(shape, value), value };
    const others = starts.filter(({ source }) => source.split(".")[0] !== binder);
    const inner = depth > 0 && once(2) ? of(["nested", "any"] as const) : "plain";
    const body =
      inner === "nested"
        ? nested([item, ...others], depth - 1)
        : inner === "any"
          ? bool([item, item, ...others], depth - 1)
          : predicateOver(walk(item, 0, others), [item], 0);
    return `${known.source}.${method}(${binder},${space()}${body})`;
  };

  /** Another loop right inside, over anything, that may speak of all the elements around it. */
  const nested = (starts: readonly Known[], depth: number): string => {
    for (let tries = 0; tries < 6; tries++) {
      const found = walk(of(starts), 0, starts);
      if (isList(found.shape)) return each(found, of(["all", "any"]), starts, depth);
    }
    return each({ source: "[1, 2]", shape: ["int"], value: [1n, 2n] }, of(["all", "any"]), starts, depth);
  };

  const predicateOver = (known: Known, starts: readonly Known[], depth: number): string => {
    const { source, shape, value } = known;
    if (isList(shape)) return overList(known, shape[0], starts, depth);
    if (shape === "bool") return overBool(source);
    const other = once(6) && typeof shape === "string" ? pathOfShape(shape, starts) : undefined;
    if (other !== undefined) return join(source, of(shape === "int" ? orders : ["==", "!="]), other);
    if (shape === "int") return overInt(source, value);
    if (shape === "text" || shape === "hex") return overText(known);
    if (shape === "time") return overTime(source, value);
    // A struct or map that the walk could not leave.
    return once(2) ? "true" : "false";
  };

  /** Something else of the request that compares with it. */
  const pathOfShape = (shape: Shape, starts: readonly Known[]): string | undefined => {
    const isText = (one: Shape) => one === "text" || one === "hex";
    for (let tries = 0; tries < 4; tries++) {
      const found = walk(of(starts), 0, starts);
      if (found.shape === shape || (isText(found.shape) && isText(shape))) return found.source;
    }
    return undefined;
  };

  const swapped = (left: string, operator: string, right: string) =>
    once(5) ? join(right, mirrored[operator] ?? operator, left) : join(left, operator, right);

  const overBool = (source: string): string => {
    if (once(2)) return once(2) ? source : `!${source}`;
    return swapped(source, of(["==", "!="]), of(["true", "false"]));
  };
  const near = (value: Plain | undefined): bigint => {
    if (typeof value !== "bigint" || value < 0n || once(4)) return of(numbers);
    const moved = value + BigInt(below(3)) - 1n;
    return moved < 0n ? 0n : moved > last ? last : moved;
  };
  /** With zeros in front, while that leaves no more digits than a number may have. */
  const padded = (number: bigint) => `${number}`.padStart(once(6) ? Math.min(`${number}`.length + 2, 78) : 0, "0");
  const overInt = (source: string, value: Plain | undefined): string => {
    if (once(6))
      return join(source, "in", `[${[near(value), near(value), of(numbers)].slice(below(3)).join(`,${space()}`)}]`);
    if (once(6)) return swapped(source, of(["==", "!="]), quote(padded(near(value))));
    return swapped(source, of(["==", "!=", "<", "<=", ">", ">="]), near(value).toString());
  };
  const spelled = (known: Known, shape: Shape): string => {
    const { value } = known;
    if (typeof value === "string") return value;
    if (typeof value !== "object" || !("hex" in value)) return of(shape === "hex" ? hexes : words);
    const text = value.hex as string;
    return of([text, text.toLowerCase(), text.toUpperCase()]);
  };
  const overText = (known: Known): string => {
    const { source, shape } = known;
    const literal = (from = known) => quote(once(3) ? of(shape === "hex" ? hexes : words) : spelled(from, shape));
    const cut = below(4);
    if (cut === 0) {
      const text = spelled(known, shape);
      const [a, b] = bounds(text.length);
      return swapped(`${source}[${a}..${b}]`, of(["==", "!="]), quote(once(4) ? of(words) : text.slice(a, b)));
    }
    if (cut === 1 && once(2)) {
      const text = spelled(known, shape);
      const place = placeIn(text.length);
      return join(`${source}[${place}]`, of(["==", "!="]), quote(text[place] ?? "x"));
    }
    if (cut === 2)
      return join(source, "in", `[${Array.from({ length: 1 + below(3) }, () => literal()).join(`,${space()}`)}]`);
    return swapped(source, of(["==", "!="]), literal());
  };

  const overList = (known: Known, item: Shape, starts: readonly Known[], depth: number): string => {
    const { source, value } = known;
    const choice = below(6);
    if (choice <= 1)
      return swapped(`${source}.count${once(4) ? "" : "()"}`, of(["==", "!=", "<", "<=", ">", ">="]), `${below(4)}`);
    if (choice === 2 && (item === "text" || item === "hex" || item === "int" || item === "bool")) {
      const member = literalLike(Array.isArray(value) && value.length > 0 ? of(value) : undefined, item);
      return once(2) ? `${source}.contains(${member})` : join(member, "in", source);
    }
    if (choice === 3) return `${filtered(known, starts, depth).source}.count() ${of(["==", ">="])} ${below(3)}`;
    return each(known, of(["all", "any"]), starts, depth);
  };
  const literalLike = (value: Plain | undefined, shape: Shape): string => {
    if (shape === "bool") return of(["true", "false"]);
    if (shape === "int") return near(value).toString();
    return quote(spelled({ source: "", shape, value }, shape));
  };

  const moment = (value: Plain | undefined): string => {
    const ms = (value instanceof Date ? value.getTime() : 0) + of([0, 1, -1, 1_000, -60_000, 86_400_000]);
    const text = new Date(ms).toISOString();
    const shortened = text.endsWith(".000Z") && once(2) ? `${text.slice(0, -5)}Z` : text;
    return `Timestamp(${quote(once(4) ? shortened.replace("Z", of(["z", "+00:00", "-00:00"])) : shortened)})`;
  };
  const overTime = (source: string, value: Plain | undefined): string => {
    if (once(2)) return swapped(source, of(["==", "!=", "<", "<=", ">", ">="]), moment(value));
    if (once(6)) return join(source, "in", `[${moment(value)}, ${moment(value)}]`);
    const duration = of(["1m", "90m", "8h", "1h30m", "1d", "1d12h", "7d", "23h59m"]);
    return `CronSpan(${quote(cron())},${space()}${quote(duration)},${space()}${quote(of(zones))})`;
  };
  const cron = (): string => {
    const field = (least: number, most: number, wild: number) => {
      if (once(wild)) return "*";
      const values = Array.from({ length: 1 + below(3) }, () => {
        const from = least + below(most - least + 1);
        return once(2) ? `${from}` : `${from}-${from + below(most - from + 1)}`;
      });
      return values.join(",");
    };
    // A day that none of the months has is refused.
    const [days, months] = once(6) ? ["31", "*"] : [field(1, 28, 2), field(1, 12, 2)];
    return [field(0, 59, 4), field(0, 23, 3), days, months, field(0, 6, 2)].join(" ");
  };

  return { chance, bool };
}

/** The largest number that can be written. */
const last = 2n ** 256n - 1n;
const orders = ["==", "!=", "<", "<=", ">", ">="];
const anyShapes = ["bool", "int", "text", "hex"] as const;
const mirrored: Record<string, string> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" };

/** A random expression of a world. */
export function randomExpression(generator: Generator, world: World): string {
  return generator.bool(world.starts, generator.chance.below(5));
}
