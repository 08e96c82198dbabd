/** A policy, from its three texts to what decisions run. */

import { type CompiledExpression, compileExpression } from "../evaluation/evaluate.ts";
import { type CheckedExpression, checkExpression } from "../language/check.ts";
import type { ExpressionKind } from "../vocabulary/vocabulary.ts";
import type { Effect } from "./effect.ts";
import { compileNeeds, type Needs } from "./needs.ts";
import { isAlwaysTrue } from "./open_policy.ts";
import { compileRelevance, type Relevance } from "./relevance.ts";

/** An empty expression is true. */
export type PolicyText = { effect: Effect; consensus: string; condition: string; time: string };

export type CompiledPolicy = {
  effect: Effect;
  consensus: CompiledExpression;
  condition: CompiledExpression;
  time: CompiledExpression;
  /** What an activity must have for the condition to apply to it. */
  needs: Needs;
  relevance: Relevance;
  /** It allows every user every activity, at the times that it names. */
  isOpen: boolean;
};

/** Throws `invalid_argument` for an expression that is not one; it says which of the three, why and where. */
export function compilePolicy({ effect, consensus, condition, time }: PolicyText): CompiledPolicy {
  const who = check("consensus", consensus);
  const what = check("condition", condition);
  return {
    effect,
    consensus: compileExpression(who),
    condition: compileExpression(what),
    time: compileExpression(check("time", time)),
    needs: compileNeeds(what.needs),
    relevance: compileRelevance(who),
    isOpen: effect === "EFFECT_ALLOW" && isAlwaysTrue(who) && isAlwaysTrue(what),
  };
}

function check(kind: ExpressionKind, source: string): CheckedExpression {
  if (source !== "") return checkExpression(kind, source);
  return { kind, source, root: { kind: "literal", value: true, start: 0, end: 0 }, needs: [] };
}
