/** Random facts to evaluate an expression over, as ordinary data, together with the shapes of what can be named. */
import type { Fields, Plain } from "./naive_evaluate.ts";
import type { Chance } from "./seeded.ts";
import { activity, consensus, namespaces, params, randomFields, randomOf, type Shape } from "./shapes.ts";

/** Something that an expression can begin with. Without a value, it is a name that this request does not fill. */
export type Known = { source: string; shape: Shape; value: Plain | undefined };

export type World = {
  kind: "consensus" | "condition" | "time";
  /** What the names mean. */
  names: Fields;
  now: Date;
  starts: readonly Known[];
  /** Parameters that the kind of activity has, whether or not they were sent. */
  paramNames: readonly string[];
};

/** Around nights on which clocks change, at the edges of days and years, and anywhere. */
const momentTexts = [
  "2025-03-09T06:59:30Z",
  "2025-03-09T07:00:00Z",
  "2025-11-02T05:30:00Z",
  "2025-11-02T06:00:00Z",
  "2025-10-26T00:59:59.999Z",
  "2025-10-26T01:00:00Z",
  "2026-01-01T00:00:00Z",
  "2026-02-28T23:59:00Z",
  "2028-02-29T12:00:00Z",
  "2026-04-04T15:10:00Z",
];

export function randomMoment(chance: Chance): Date {
  const near = new Date(chance.of(momentTexts)).getTime();
  const distance = chance.of([0, 1, 1_000, 60_000, 3_600_000, 86_400_000, 7 * 86_400_000]);
  return new Date(near + distance * (chance.below(7) - 3));
}

/** Facts of an activity; each namespace is there most of the time, which no real activity offers but every path needs. */
export function conditionWorld(chance: Chance, present = 8): World {
  const names: Fields = { activity: randomFields(activity, chance) };
  const starts: Known[] = Object.entries(activity).map(([name, shape]) => ({
    source: `activity.${name}`,
    shape,
    value: (names.activity as Fields)[name],
  }));
  for (const [path, shape] of Object.entries(namespaces)) {
    const value = chance.once(present) ? undefined : randomOf(shape, chance);
    if (value !== undefined) place(names, path, value);
    starts.push({ source: path, shape, value });
  }
  // Where only the request knows the types, most can go wrong.
  for (const path of ["eth.tx.contract_call_args", "eth.eip_712.message", "secret.static_properties"]) {
    const [space = "", inner = ""] = path.split(/\.(?=[^.]+$)/);
    const value = starts.find(({ source }) => source === space)?.value as Fields | undefined;
    starts.push({ source: path, shape: "map", value: value?.[inner] });
  }
  const paramNames = Object.keys(params).filter(() => !chance.once(present));
  const given: Fields = {};
  for (const [name, shape] of Object.entries(params)) {
    const value = paramNames.includes(name) && !chance.once(10) ? randomOf(shape, chance) : undefined;
    if (value !== undefined) given[name] = value;
    // Some of them only, or there would be little else.
    if (chance.once(4)) starts.push({ source: `activity.params.${name}`, shape, value });
  }
  (names.activity as Fields).params = given;
  return { kind: "condition", names, now: randomMoment(chance), starts, paramNames };
}

/** Puts a value at a path of one or two words. */
function place(names: Fields, path: string, value: Plain): void {
  const [first = "", second] = path.split(".");
  if (second === undefined) names[first] = value;
  else {
    const outer = (names[first] ?? {}) as Fields;
    outer[second] = value;
    names[first] = outer;
  }
}

export function consensusWorld(chance: Chance): World {
  const names = randomFields(consensus, chance);
  return startingAt("consensus", names, Object.entries(consensus), chance);
}

export function timeWorld(chance: Chance): World {
  const now = randomMoment(chance);
  return {
    kind: "time",
    names: { time: { now } },
    now,
    starts: [{ source: "time.now", shape: "time", value: now }],
    paramNames: [],
  };
}

function startingAt(kind: World["kind"], names: Fields, shapes: [string, Shape][], chance: Chance): World {
  const starts = shapes.map(([source, shape]) => ({ source, shape, value: names[source] }));
  return { kind, names, now: randomMoment(chance), starts, paramNames: [] };
}

/** What a value looks like when only the request says what it is. */
export function shapeOf(value: Plain): Shape {
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int";
  if (typeof value === "string") return "text";
  if (value instanceof Date) return "time";
  if (value instanceof Map) return "map";
  if (Array.isArray(value)) return [value[0] === undefined ? "text" : shapeOf(value[0])];
  return "hex" in value ? "hex" : {};
}

/** What is behind a name, an index or a key, with its value where there is one. */
export function partOf({ source, value }: Known, name: string, shape: Shape): Known {
  const inner = value === undefined ? undefined : (value as Fields)[name];
  return { source: `${source}.${name}`, shape, value: inner };
}
