/** Policies that allow every user every activity, alone. They are valid; whoever writes or reads one should be told so. */

import { compile } from "../evaluation/evaluate.ts";
import { Scope } from "../evaluation/scope.ts";
import type { Expression } from "../language/ast.ts";
import { type CheckedExpression, checkExpression } from "../language/check.ts";
import { childrenOf } from "../language/children.ts";
import type { Effect } from "./effect.ts";

/** In these words, wherever it is said. */
export const allowsEverything = "allows every user every activity";

/** Says it of a policy as it is written: what is left out is true. Throws for an expression that is not one. */
export function isOpenText({ effect, condition = "", consensus = "" }: OpenText): boolean {
  if (effect !== "EFFECT_ALLOW") return false;
  const isOpen = (kind: "condition" | "consensus", text: string) =>
    text === "" || isAlwaysTrue(checkExpression(kind, text));
  return isOpen("condition", condition) && isOpen("consensus", consensus);
}

type OpenText = { effect: Effect; condition?: string | undefined; consensus?: string | undefined };

/**
 * Whether it is true whatever is asked, and whoever asks: `true`, `!false`, `1 == 1`, and of consensus also
 * `approvers.count() >= 1`, because whoever asks approves. What looks at a field depends on it, as far as we say.
 */
export function isAlwaysTrue(expression: CheckedExpression): boolean {
  if (expression.needs.length > 0 || looksAtFields(expression.root)) return false;
  const somebody = { id: "", tags: [], email: "", alias: "" };
  const voices = { approvers: [somebody], credentials: [{}] };
  return compile(expression)(new Scope(undefined, voices, 0)) === true;
}

function looksAtFields(node: Expression): boolean {
  return node.kind === "field" || childrenOf(node).some(looksAtFields);
}
