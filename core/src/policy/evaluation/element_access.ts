/** `L[i]`, `S[i]`, `M['key']` and slices. Past the end there is nothing: that is an error, and never the nearest element. */
import { quote } from "../position.ts";
import { EvaluationError, EvmText, type PolicyMap, type Result, type Value } from "../values/values.ts";
import {
  type Compiler,
  type Evaluator,
  errorAt,
  exhausted,
  mismatch,
  type NodeOf,
  type Place,
  placeOf,
  quotePlace,
  stepsForText,
  toUsable,
  unusable,
} from "./compiler.ts";
import { type Scope, spend, Unusable } from "./scope.ts";

export function compileIndex(node: NodeOf<"index">, compiler: Compiler): Evaluator {
  const { source } = compiler;
  const of = compiler.compile(node.of);
  const at = compiler.compile(node.at);
  const places: IndexPlaces = { whole: placeOf(node), of: placeOf(node.of), at: placeOf(node.at) };
  return (scope) => {
    const holder = of(scope);
    const key = at(scope);
    if (holder instanceof Map && typeof key === "string") return findEntry(scope, holder, key, places, source);
    if (holder instanceof EvaluationError) return holder;
    if (key instanceof EvaluationError) return key;
    if (!(holder instanceof Map)) return findItem(holder, key, places, source);
    if (key instanceof EvmText) return findEntry(scope, holder, key.text, places, source);
    return mismatch(source, places.at, key, "the name of an entry");
  };
}

type IndexPlaces = { whole: Place; of: Place; at: Place };

function findEntry(scope: Scope, map: PolicyMap, name: string, { whole, of }: IndexPlaces, source: string): Result {
  // A key that only the request knows may be long, and is hashed and compared.
  const steps = stepsForText(name.length);
  if (steps > 0 && !spend(scope, steps)) return exhausted(whole);
  const value = map.get(name);
  if (value === undefined) return errorAt(whole, `${quotePlace(source, of)} has no entry ${quote(name)}`);
  const usable = toUsable(value);
  return usable instanceof Unusable ? unusable(source, whole, usable) : usable;
}

function findItem(holder: Value, key: Value, { whole, of, at }: IndexPlaces, source: string): Result {
  const length = lengthOf(holder);
  if (length === undefined) return mismatch(source, of, holder, "a list, a string or a map");
  if (typeof key !== "bigint") return mismatch(source, at, key, "an int");
  // Exact for every index that is not past the end, and no smaller than the length for the others.
  const index = Number(key);
  if (index < 0 || index >= length) return pastTheEnd(whole, of, length, source);
  if (typeof holder === "string") return holder.charAt(index);
  if (holder instanceof EvmText) return new EvmText(holder.text.charAt(index), true);
  const usable = toUsable((holder as readonly Value[])[index]);
  return usable instanceof Unusable ? unusable(source, whole, usable) : usable;
}

export function compileSlice(node: NodeOf<"slice">, compiler: Compiler): Evaluator {
  const { source } = compiler;
  const of = compiler.compile(node.of);
  const from = compiler.compile(node.from);
  const to = compiler.compile(node.to);
  const [place, placeOfList] = [placeOf(node), placeOf(node.of)];
  const [placeOfFirst, placeOfLast] = [placeOf(node.from), placeOf(node.to)];
  return (scope) => {
    const holder = of(scope);
    const first = from(scope);
    const last = to(scope);
    if (holder instanceof EvaluationError) return holder;
    const length = lengthOf(holder);
    if (length === undefined) return mismatch(source, placeOfList, holder, "a list or a string");
    if (typeof first !== "bigint") return mismatch(source, placeOfFirst, first, "an int");
    if (typeof last !== "bigint") return mismatch(source, placeOfLast, last, "an int");
    if (first < 0n || last > length) return pastTheEnd(place, placeOfList, length, source);
    if (first > last) return errorAt(place, `${quotePlace(source, place)} ends before it starts`);
    const [start, end] = [Number(first), Number(last)];
    const steps = Array.isArray(holder) ? end - start : stepsForText(end - start);
    if (!spend(scope, steps)) return exhausted(place);
    if (typeof holder === "string") return holder.slice(start, end);
    if (holder instanceof EvmText) return new EvmText(holder.text.slice(start, end), true);
    return (holder as readonly Value[]).slice(start, end);
  };
}

/** Characters are UTF-16 units. */
function lengthOf(value: Value): number | undefined {
  if (typeof value === "string") return value.length;
  if (value instanceof EvmText) return value.text.length;
  return Array.isArray(value) ? value.length : undefined;
}

function pastTheEnd(place: Place, of: Place, length: number, source: string): EvaluationError {
  return errorAt(place, `${quotePlace(source, place)} is past the end: ${quotePlace(source, of)} has ${length}`);
}
