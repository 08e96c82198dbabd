/** The same facts as the engine takes them. */
import type { ConditionFacts } from "../../src/policy/facts/facts.ts";
import { EvmText, Instant, type Struct, type Value } from "../../src/policy/values/values.ts";
import type { Fields, Plain } from "./naive_evaluate.ts";
import type { World } from "./worlds.ts";

export function toValue(plain: Plain): Value {
  if (plain instanceof Date) return new Instant(plain.getTime());
  if (plain instanceof Map) return new Map([...plain].map(([key, value]) => [key, toValue(value)]));
  if (Array.isArray(plain)) return plain.map(toValue);
  if (typeof plain !== "object") return plain;
  return "hex" in plain && typeof plain.hex === "string" ? new EvmText(plain.hex) : toStruct(plain as Fields);
}

export function toStruct(fields: Fields): Struct {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, toValue(value)]])),
  );
}

/** A world of conditions, as one view. */
export function toConditionFacts({ names, paramNames }: Pick<World, "names" | "paramNames">): ConditionFacts {
  const { activity, ...others } = names as { activity: Fields } & Fields;
  const { params = {}, ...words } = activity;
  const spaces = toStruct(others);
  return {
    ...spaces,
    activity: words as ConditionFacts["activity"],
    params: toStruct(params as Fields),
    paramNames: new Set(paramNames),
  };
}
