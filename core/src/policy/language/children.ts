/** The parts of a node, in the order in which they are evaluated. */
import type { Expression } from "./ast.ts";

export function childrenOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case "literal":
    case "name":
    case "timestamp":
    case "cronSpan":
      return [];
    case "list":
    case "and":
    case "or":
      return node.items;
    case "field":
    case "count":
    case "not":
      return [node.of];
    case "index":
      return [node.of, node.at];
    case "slice":
      return [node.of, node.from, node.to];
    case "each":
      return [node.of, node.body];
    case "contains":
      return [node.of, node.item];
    case "compare":
      return [node.left, node.right];
  }
}
