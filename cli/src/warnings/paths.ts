/** Which names of the vocabulary an expression uses, and which texts it compares them with. */
import type { Expression } from "@keystead/core/policy/language/ast.ts";
import { childrenOf } from "@keystead/core/policy/language/children.ts";

/**
 * A name with its fields: `eth.tx.to`. `[]` is an element of a list, also one that `any`, `all` or `filter` binds, and
 * `['to']` an entry of a map. Undefined for what is computed.
 */
type Path = string | undefined;

/** What the bound names around a node stand for. */
type Bound = ReadonlyMap<string, Path>;

export type Visited = { node: Expression; path: Path };

/** Text that stands beside a name. */
export type Beside = { path: string; operator: "equal" | "unequal"; text: string; start: number };

function pathOf(node: Expression, bound: Bound): Path {
  if (node.kind === "name") return bound.has(node.name) ? bound.get(node.name) : node.name;
  if (node.kind === "field") return extended(pathOf(node.of, bound), `.${node.name}`);
  if (node.kind === "each" && node.method === "filter") return pathOf(node.of, bound);
  if (node.kind !== "index") return undefined;
  const { at } = node;
  const isKey = at.kind === "literal" && typeof at.value === "string";
  return extended(pathOf(node.of, bound), isKey ? `['${at.value}']` : "[]");
}

function extended(path: Path, by: string): Path {
  return path === undefined ? undefined : path + by;
}

function visit(node: Expression, bound: Bound, see: (node: Expression, bound: Bound) => void): void {
  see(node, bound);
  if (node.kind === "each") {
    visit(node.of, bound, see);
    visit(node.body, new Map(bound).set(node.binder, extended(pathOf(node.of, bound), "[]")), see);
  } else {
    for (const child of childrenOf(node)) visit(child, bound, see);
  }
}

/** Every node with the name it is, if it is one. */
export function visitedNodes(root: Expression): Visited[] {
  const found: Visited[] = [];
  visit(root, new Map(), (node, bound) => found.push({ node, path: pathOf(node, bound) }));
  return found;
}

/** Every text that a name is compared with for equality, or looked for among. */
export function textsBeside(root: Expression): Beside[] {
  const found: Beside[] = [];
  visit(root, new Map(), (node, bound) => {
    for (const { one, other, operator } of comparisonsIn(node)) {
      const path = pathOf(one, bound);
      // A text looked for in a list is beside its elements; a name looked for in a written list, beside each item.
      const items = other.kind === "list" ? other.items : [other];
      for (const item of items)
        if (path !== undefined && item.kind === "literal" && typeof item.value === "string")
          found.push({ path, operator, text: item.value, start: item.start });
    }
  });
  return found;
}

type Comparison = { one: Expression; other: Expression; operator: Beside["operator"] };

function comparisonsIn(node: Expression): Comparison[] {
  if (node.kind === "contains") return membership(node.item, node.of);
  if (node.kind !== "compare") return [];
  const { operator, left, right } = node;
  if (operator === "in") return membership(left, right);
  if (operator !== "==" && operator !== "!=") return [];
  const word = operator === "==" ? "equal" : "unequal";
  return [
    { one: left, other: right, operator: word },
    { one: right, other: left, operator: word },
  ];
}

function membership(item: Expression, list: Expression): Comparison[] {
  if (list.kind === "list") return [{ one: item, other: list, operator: "equal" }];
  const { start, end } = list;
  const element: Expression = { kind: "index", of: list, at: { kind: "literal", value: 0n, start, end }, start, end };
  return [{ one: element, other: item, operator: "equal" }];
}
