/**
 * Conditions that are true of no activity. A condition applies only to activities that have all that it names, wherever it
 * names it: `wallet.id == … || private_key.id == …` is about none, and as a denial denies nothing.
 */
import type { Expression } from "@keystead/core/policy/language/ast.ts";
import type { CheckedExpression } from "@keystead/core/policy/language/check.ts";
import { textsBeside } from "./paths.ts";
import { type ActivityShape, canEqual, shapes } from "./shapes.ts";

/** `need` is the name to point at; without one it is the whole condition. */
export type Never = { need?: string; position?: number; message: string };

/** `verb` is what the policy would do if it applied. */
export function neverWarnings({ root, needs }: CheckedExpression, verb: "allows" | "denies"): Never[] {
  const about = shapes.filter((shape) => hasAll(shape, needs));
  const never = `so this never ${verb} anything`;
  if (about.length === 0) {
    const [one, other] = findExclusive(needs);
    const what = other === undefined ? "all that this names" : `both \`${one}\` and \`${other}\``;
    const message = `no activity has ${what}, ${never}; write a policy for each`;
    return [{ ...(other !== undefined && { need: other }), message }];
  }
  const possible = about.filter((shape) => canBe(root, shape, true));
  if (possible.length > 0) return deadBranches(root, possible, needs);
  const asked = shapes.filter((shape) => canBe(root, shape, true));
  const absent = needs.find((need) => asked.length > 0 && !asked.some(({ has }) => has.has(need)));
  if (absent === undefined) return [{ message: `no activity is all of this at once, ${never}` }];
  return [{ need: absent, message: `no activity that the rest is true of has \`${absent}\`, ${never}` }];
}

function hasAll({ has }: ActivityShape, needs: readonly string[]): boolean {
  return needs.every((need) => has.has(need));
}

/** The first two that no activity has together. */
function findExclusive(needs: readonly string[]): readonly [string?, string?] {
  for (const [i, other] of needs.entries())
    for (const one of needs.slice(0, i)) if (!shapes.some((shape) => hasAll(shape, [one, other]))) return [one, other];
  return [];
}

/** One side of an `||` that is true of nothing that the whole is about, because of what the other sides name. */
function deadBranches(node: Expression, possible: readonly ActivityShape[], needs: readonly string[]): Never[] {
  if (node.kind !== "and" && node.kind !== "or") return [];
  return node.items.flatMap((item) => {
    if (node.kind === "and" || possible.some((shape) => canBe(item, shape, true)))
      return deadBranches(item, possible, needs);
    const named = needs.map((need) => `\`${need}\``).join(", ");
    const message = `this side is never true, because the policy is only about activities with ${named}; write a policy of its own for it`;
    return needs.length === 0 ? [] : [{ position: item.start, message }];
  });
}

/** Whether the expression can have the value for such an activity, as far as its kind says. */
function canBe(node: Expression, shape: ActivityShape, value: boolean): boolean {
  if (node.kind === "not") return canBe(node.of, shape, !value);
  if (node.kind === "and" || node.kind === "or") {
    const needsAll = (node.kind === "and") === value;
    return needsAll
      ? node.items.every((item) => canBe(item, shape, value))
      : node.items.some((item) => canBe(item, shape, value));
  }
  if (node.kind !== "compare" && node.kind !== "contains") return true;
  const own = textsBeside(node);
  const [first] = own;
  // Names are compared with nothing but texts here, or it is not known what they are compared with.
  if (first === undefined || own.length !== operandCount(node)) return true;
  const found = own.map(({ path, text }) => canEqual(shape, path, text));
  const wantsEqual = (first.operator === "equal") === value;
  return wantsEqual ? found.some(({ equal }) => equal) : found.every(({ unequal }) => unequal);
}

/** How many texts a name is compared with. */
function operandCount(node: Extract<Expression, { kind: "compare" | "contains" }>): number {
  const list = node.kind === "contains" ? node.of : node.right;
  return list.kind === "list" ? list.items.length : 1;
}
