/** A policy, from its three texts to what decisions run. */

import { type CompiledExpression, compileExpression } from "../evaluation/evaluate.ts";
import { checkOptional } from "../language/check.ts";
import type { Effect } from "./effect.ts";
import { compileNeeds, type Needs } from "./needs.ts";
import { isAlwaysTrue } from "./open_policy.ts";
import { compileConsensus, type Relevance } from "./relevance.ts";

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
  const who = checkOptional("consensus", consensus);
  const what = checkOptional("condition", condition);
  const { expression, relevance } = compileConsensus(who);
  return {
    effect,
    consensus: expression,
    condition: compileExpression(what),
    time: compileExpression(checkOptional("time", time)),
    needs: compileNeeds(what.needs),
    relevance,
    isOpen: effect === "EFFECT_ALLOW" && isAlwaysTrue(who) && isAlwaysTrue(what),
  };
}
