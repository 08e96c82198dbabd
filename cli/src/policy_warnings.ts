/** What can be evaluated and is probably not what is meant. */
import type { WrittenPolicy } from "@keystead/core/policy/cases/case_file.ts";
import { type CheckedExpression, checkExpression } from "@keystead/core/policy/language/check.ts";
import { expressionKinds } from "@keystead/core/policy/vocabulary/vocabulary.ts";
import { lineAbout, linesAt } from "./policy_place.ts";
import { textsBeside } from "./warnings/paths.ts";
import { type CheckedPolicy, reachWarnings } from "./warnings/reach.ts";
import { textWarning } from "./warnings/texts.ts";

/** Lines for the terminal, for each. The policies have no errors: those are said first. */
export function policyWarnings(path: string, policies: readonly WrittenPolicy[]): string[][] {
  const all = policies.map(checkedPolicy);
  return all.flatMap((one) => [
    ...Object.values(one.checked).flatMap((expression) => textWarnings(path, one.policy, expression)),
    ...reachWarnings(one, all).map(({ position, message }) => {
      const subject = { path, policyName: one.policy.policyName };
      const text = `warning: ${message}`;
      if (position === undefined) return lineAbout(subject, text);
      return linesAt(subject, "condition", one.policy.condition ?? "", position, text);
    }),
  ]);
}

function checkedPolicy(policy: WrittenPolicy): CheckedPolicy {
  const written = expressionKinds.filter((kind) => (policy[kind] ?? "") !== "");
  const checked = Object.fromEntries(written.map((kind) => [kind, checkExpression(kind, policy[kind] ?? "")]));
  return { policy, checked };
}

function textWarnings(
  path: string,
  { policyName }: WrittenPolicy,
  { kind, source, root }: CheckedExpression,
): string[][] {
  return textsBeside(root).flatMap((beside) => {
    const message = textWarning(beside);
    return message === undefined
      ? []
      : [linesAt({ path, policyName }, kind, source, beside.start, `warning: ${message}`)];
  });
}
