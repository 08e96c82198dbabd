/**
 * Expressions that are true whatever is asked. The server names only those that look at no field; files are checked by
 * people who wait for it, so this looks further: `true || …`, `X || !X`, `approvers.any(u, true)`. It does not find all.
 */
import { isAlwaysTrue } from "@keystead/core/policy/decision/open_policy.ts";
import type { Expression } from "@keystead/core/policy/language/ast.ts";
import type { CheckedExpression } from "@keystead/core/policy/language/check.ts";
import { childrenOf } from "@keystead/core/policy/language/children.ts";

/** True of every activity, and for every user. */
export function isPlainlyTrue(expression: CheckedExpression): boolean {
  // It applies only to activities that have what it names, so it is not true of all.
  if (expression.needs.length > 0) return false;
  return isAlwaysTrue(expression) || isAlways(expression.root, true, expression);
}

function isAlways(node: Expression, value: boolean, whole: CheckedExpression): boolean {
  switch (node.kind) {
    case "not":
      return isAlways(node.of, !value, whole);
    case "and":
    case "or": {
      if ((node.kind === "and") === value) return node.items.every((item) => isAlways(item, value, whole));
      // Nothing is skipped: an error in one item is an error of the whole, which is neither true nor false.
      if (node.items.some(mayFail)) return false;
      return node.items.some((item) => isAlways(item, value, whole)) || hasOpposites(node.items, whole);
    }
    case "each":
      // The lists of consensus have at least one entry: somebody asks, with a credential.
      return node.method !== "filter" && node.of.kind === "name" && isAlways(node.body, value, whole);
    case "literal":
      return node.value === value;
    default: {
      if (hasName(node)) return false;
      const root: Expression = value ? node : { kind: "not", of: node, start: node.start, end: node.end };
      return isAlwaysTrue({ ...whole, root });
    }
  }
}

function mayFail(node: Expression): boolean {
  return node.kind === "index" || node.kind === "slice" || childrenOf(node).some(mayFail);
}

function hasName(node: Expression): boolean {
  return node.kind === "name" || childrenOf(node).some(hasName);
}

/** Something and its negation, spelled alike. */
function hasOpposites(items: readonly Expression[], { source }: CheckedExpression): boolean {
  const textOf = ({ start, end }: Expression) => source.slice(start, end);
  const texts = new Set(items.map(textOf));
  return items.some((item) => item.kind === "not" && texts.has(textOf(item.of)));
}
