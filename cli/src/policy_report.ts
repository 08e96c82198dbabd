/** Why policies decided as they did, for people. */
import type { PolicyExplanation } from "@keystead/core/policy/decision/explain.ts";
import { nearnessOf } from "@keystead/core/policy/decision/nearness.ts";
import { plural, printable } from "./printable.ts";

/** What an explanation says, wherever it comes from. */
export type Explained = Pick<PolicyExplanation, "outcome" | "observed"> &
  Partial<Pick<PolicyExplanation, "expression" | "clause" | "start" | "reason">>;

/** One policy with what it came to. The effect is not known of a policy that was deleted since. */
export type ExplainedPolicy = Explained & { policyName: string; effect?: "EFFECT_ALLOW" | "EFFECT_DENY" | undefined };

/** In which words a clause settled the outcome. */
const verbs: Readonly<Record<string, string>> = {
  OUTCOME_ALLOW: "holds",
  OUTCOME_DENY_EXPLICIT: "holds",
  OUTCOME_ERROR: "has no value",
};

/** What the published words mean. `DENY_IMPLICIT` most of all does not say that the policy denies anything. */
const meanings: Readonly<Record<Explained["outcome"], string>> = {
  OUTCOME_ALLOW: "allows",
  OUTCOME_DENY_EXPLICIT: "denies",
  OUTCOME_DENY_IMPLICIT: "does not apply",
  OUTCOME_REQUIRES_CONSENSUS: "waits for approvals",
  OUTCOME_REJECTED: "waited for approvals, and was rejected",
  OUTCOME_ERROR: "cannot be evaluated, and allows nothing",
  OUTCOME_TIME_INACTIVE: "does not apply at this time",
  OUTCOME_REQUIRES_AUTHENTICATORS: "waits for another way to authenticate",
};

function meaningOf(told: ExplainedPolicy): string {
  if (isAboutOtherThings(told)) return "is about something else";
  if (told.outcome === "OUTCOME_ERROR" && denies(told)) return "cannot be evaluated, and so denies";
  return meanings[told.outcome] ?? "came to something that this version does not know";
}

/** The engine has one word for both kinds of errors; its sentences tell them apart. */
function isAboutOtherThings({ outcome, reason = "" }: ExplainedPolicy): boolean {
  return outcome === "OUTCOME_ERROR" && reason.startsWith("not applicable");
}

function denies({ outcome, reason = "" }: ExplainedPolicy): boolean {
  if (outcome === "OUTCOME_ERROR") return reason.includes("a policy that denies does so too");
  return outcome === "OUTCOME_DENY_EXPLICIT";
}

type Report = {
  /** Whoever asked was told no, also where a policy waits for others. */
  isRefused: boolean;
  /** Those that are told with their reasons; all, if left out. The rest is counted. */
  shown?: readonly ExplainedPolicy[];
};

/** A sentence that says what came of all of them, and then each, those that decided first. */
export function reportLines(all: readonly ExplainedPolicy[], { isRefused, shown = all }: Report): string[] {
  const inOrder = all.toSorted((a, b) => rankOf(a) - rankOf(b) || nearnessOf(b) - nearnessOf(a));
  const told = inOrder.filter((one) => shown.includes(one));
  const rest = all.length - told.length;
  return [
    verdictOf(inOrder, isRefused),
    ...told.flatMap((one) => indented(explanationLines(one), "  ")),
    ...(rest > 0 ? [`  and ${plural(rest, "more policy", "more policies")}`] : []),
  ];
}

function verdictOf(inOrder: readonly ExplainedPolicy[], isRefused: boolean): string {
  const denying = inOrder.filter(denies);
  if (denying.length > 0) return `denied by ${namesOf(denying)}`;
  const allowing = inOrder.filter(({ outcome }) => outcome === "OUTCOME_ALLOW");
  if (allowing.length > 0) return `allowed by ${namesOf(allowing)}`;
  const waiting = inOrder.filter(({ outcome }) => outcome === "OUTCOME_REQUIRES_CONSENSUS");
  if (!isRefused && waiting.length > 0) return `waits for approvals under ${namesOf(waiting)}`;
  const nearest = inOrder
    .filter((told) => told.effect === "EFFECT_ALLOW" && nearnessOf(told) > 0)
    .toSorted((a, b) => nearnessOf(b) - nearnessOf(a))
    .slice(0, 1);
  return nearest.length === 0 ? "no policy allows it" : `no policy allows it; nearest: ${namesOf(nearest)}`;
}

function namesOf(policies: readonly ExplainedPolicy[]): string {
  const names = policies.slice(0, 3).map(({ policyName }) => `"${printable(policyName)}"`);
  return [...names, ...(policies.length > 3 ? [`${policies.length - 3} more`] : [])].join(", ");
}

/** Those that decided, those that could have, those that have nothing to do with it. */
function rankOf(told: ExplainedPolicy): number {
  if (denies(told)) return 0;
  if (told.outcome === "OUTCOME_ALLOW") return 1;
  if (isAboutOtherThings(told)) return 6;
  if (told.outcome === "OUTCOME_ERROR") return 4;
  if (told.outcome === "OUTCOME_DENY_IMPLICIT") return told.effect === "EFFECT_DENY" ? 5 : 3;
  return 2;
}

/** One policy: what it came to, the clause that settled it, and what the names in it stood for. */
export function explanationLines(told: ExplainedPolicy): string[] {
  const { outcome, expression, clause, observed, reason, policyName, effect } = told;
  const verb = verbs[outcome] ?? "is not met";
  const kind = effect?.replace("EFFECT_", "") ?? "policy";
  return [
    `${kind} "${printable(policyName)}" ${meaningOf(told)} (${outcome.replace("OUTCOME_", "")})`,
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
