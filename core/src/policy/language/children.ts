/** The parts of a node, and a node with other parts. */
import type { Expression } from "./ast.ts";

/** In the order in which they are evaluated. */
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

/** A node like this one, with `change` made to each of its parts. */
export function withChildren(node: Expression, change: (child: Expression) => Expression): Expression {
  switch (node.kind) {
    case "literal":
    case "name":
    case "timestamp":
    case "cronSpan":
      return node;
    case "list":
    case "and":
    case "or":
      return { ...node, items: node.items.map(change) };
    case "field":
    case "count":
    case "not":
      return { ...node, of: change(node.of) };
    case "index":
      return { ...node, of: change(node.of), at: change(node.at) };
    case "slice":
      return { ...node, of: change(node.of), from: change(node.from), to: change(node.to) };
    case "each":
      return { ...node, of: change(node.of), body: change(node.body) };
    case "contains":
      return { ...node, of: change(node.of), item: change(node.item) };
    case "compare":
      return { ...node, left: change(node.left), right: change(node.right) };
  }
}
