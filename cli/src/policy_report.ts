/** Why policies decided as they did, for people. */
import type { PolicyExplanation } from "@keystead/core/policy/explain.ts";
import { printable } from "./printable.ts";

/** What an explanation says, wherever it comes from. */
export type Explained = Pick<PolicyExplanation, "outcome" | "observed"> &
  Partial<Pick<PolicyExplanation, "expression" | "clause" | "reason">>;

/** In which words a clause settled the outcome. */
const verbs: Readonly<Record<string, string>> = {
  OUTCOME_ALLOW: "holds",
  OUTCOME_DENY_EXPLICIT: "holds",
  OUTCOME_ERROR: "has no value",
};

/** One policy: its outcome, the clause that settled it, and what the names in it stood for. */
export function explanationLines(policyName: string, explained: Explained): string[] {
  const { outcome, expression, clause, observed, reason } = explained;
  const verb = verbs[outcome] ?? "is not met";
  return [
    `${outcome.replace("OUTCOME_", "")} "${printable(policyName)}"`,
    ...(clause === undefined || clause === "" ? [] : [`  ${expression ?? "clause"} ${verb}: ${printable(clause)}`]),
    ...Object.entries(observed).map(
      ([name, value]) => `    ${printable(name)} = ${value === "" ? "''" : printable(value)}`,
    ),
    ...(reason === undefined ? [] : [`  ${printable(reason)}`]),
  ];
}

export function indented(lines: readonly string[], by: string): string[] {
  return lines.map((line) => `${by}${line}`);
}
