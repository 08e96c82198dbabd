/**
 * `all`, `any`, `filter` and `count`. Every element is looked at, also after the result is clear, so that an error is never
 * hidden by its neighbours. After an error there is nothing left to find out.
 */
import type { EachMethod } from "../language/ast.ts";
import { evaluationStepsOf } from "../language/evaluation_steps.ts";
import type { Value } from "../values/values.ts";
import {
  type Compiler,
  type Evaluator,
  exhausted,
  mismatch,
  type NodeOf,
  placeOf,
  toUsable,
  unusable,
} from "./compiler.ts";
import { spend, Unusable } from "./scope.ts";

/** From how many held, of how many, and which. Nothing holds of no element, and everything holds of all of none. */
const conclusions: Readonly<Record<EachMethod, (held: number, count: number, which: readonly Value[]) => Value>> = {
  any: (held) => held > 0,
  all: (held, count) => held === count,
  filter: (_held, _count, which) => which,
};

const nothing: readonly Value[] = [];

export function compileEach(node: NodeOf<"each">, compiler: Compiler): Evaluator {
  const { source } = compiler;
  const of = compiler.compile(node.of);
  const [place, placeOfList, placeOfBody] = [placeOf(node), placeOf(node.of), placeOf(node.body)];
  const isFilter = node.method === "filter";
  // Not the number of names: an inner one may hide an outer one.
  const depth = Math.max(-1, ...compiler.binders.values()) + 1;
  const body = compiler.compile(node.body, new Map(compiler.binders).set(node.binder, depth));
  const steps = 1 + evaluationStepsOf(node.body);
  const conclude = conclusions[node.method];
  return (scope) => {
    const list = of(scope);
    if (!Array.isArray(list)) return mismatch(source, placeOfList, list, "a list");
    const items: readonly Value[] = list;
    const which: Value[] | undefined = isFilter ? [] : undefined;
    let held = 0;
    for (let i = 0; i < items.length; i += 1) {
      if (!spend(scope, steps)) return exhausted(place);
      const item = toUsable(items[i]);
      if (item instanceof Unusable) return unusable(source, placeOfList, new Unusable(`[${i}] ${item.why}`));
      scope.elements[depth] = item;
      const result = body(scope);
      if (result === true) {
        held += 1;
        which?.push(item);
      } else if (result !== false) return mismatch(source, placeOfBody, result, "a bool");
    }
    return conclude(held, items.length, which ?? nothing);
  };
}

export function compileCount(node: NodeOf<"count">, compiler: Compiler): Evaluator {
  const { source } = compiler;
  const of = compiler.compile(node.of);
  const place = placeOf(node.of);
  return (scope) => {
    const list = of(scope);
    return Array.isArray(list) ? BigInt(list.length) : mismatch(source, place, list, "a list");
  };
}
