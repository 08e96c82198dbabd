/** What an expression costs. There is no short circuit, so this is known before it runs, but for the insides of loops. */
import type { Expression } from "./ast.ts";
import { childrenOf } from "./children.ts";

/** A span looks at the calendar of up to ten days, which takes as long as so many comparisons. */
const stepsOfCronSpan = 50;

/** The nodes that are evaluated once each time this one is: all but the bodies of `all`, `any` and `filter`. */
export function evaluationStepsOf(node: Expression): number {
  let steps = node.kind === "cronSpan" ? stepsOfCronSpan : 1;
  for (const child of node.kind === "each" ? [node.of] : childrenOf(node)) steps += evaluationStepsOf(child);
  return steps;
}
