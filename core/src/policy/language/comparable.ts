/** Which types compare with which, and why others do not. */

import { integerIn } from "../values/compare.ts";
import type { PolicyType } from "../vocabulary/types.ts";
import type { CompareOperator, Expression } from "./ast.ts";

/** One side of a comparison. */
export type Operand = { node: Expression; type: PolicyType };

/** What has an order. Everything that compares has equality. */
const ordered: readonly PolicyType["kind"][] = ["int", "timestamp", "any"];
const equatable: readonly PolicyType["kind"][] = [...ordered, "bool", "string"];

/**
 * Whether the operator takes these two. Numbers may stand in quotes where they are written out
 * (`eth.tx.chain_id == '1'`), because published policies have them so; two fields must be of one type. What is `any`
 * here is looked at again when its value is there.
 */
export function isComparable(operator: CompareOperator, left: Operand, right: Operand): boolean {
  const comparable = ["==", "!=", "in"].includes(operator) ? equatable : ordered;
  const kinds = [kindBeside(right, left), kindBeside(left, right)] as const;
  if (!kinds.every((kind) => comparable.includes(kind))) return false;
  return kinds[0] === kinds[1] || kinds.includes("any");
}

/** The kind that an operand counts as: beside what is or may be a number, a number in quotes is one. */
function kindBeside(other: Operand, { node, type }: Operand): PolicyType["kind"] {
  const mayBeNumber = other.type.kind === "int" || other.type.kind === "any";
  return mayBeNumber && node.kind === "literal" && isNumberInQuotes(node.value) ? "int" : type.kind;
}

/** What to do about a number and a text that do not compare, in either order. */
export function comparisonHint(a: Operand, b: Operand): string {
  const [number, text] = a.type.kind === "int" ? [a, b] : [b, a];
  if (number.type.kind !== "int" || text.type.kind !== "string") return "";
  if (text.node.kind === "literal") return ", since that is not a whole number";
  return number.node.kind === "literal" ? `: write \`'${number.node.value}'\`` : "";
}

function isNumberInQuotes(value: boolean | bigint | string): boolean {
  return typeof value === "string" && integerIn(value) !== undefined;
}
