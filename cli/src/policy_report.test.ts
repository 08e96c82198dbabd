import assert from "node:assert/strict";
import { test } from "node:test";
import { type ExplainedPolicy, reportLines } from "./policy_report.ts";

function told(
  policyName: string,
  outcome: ExplainedPolicy["outcome"],
  rest: Partial<ExplainedPolicy> = {},
): ExplainedPolicy {
  return { policyName, outcome, effect: "EFFECT_ALLOW", observed: {}, ...rest };
}

const denial = told("no exports", "OUTCOME_DENY_EXPLICIT", { effect: "EFFECT_DENY" });
const erring = told("no calls", "OUTCOME_ERROR", {
  effect: "EFFECT_DENY",
  reason: "no such key; a policy that denies does so too when it cannot be evaluated",
});
const broken = told("calls", "OUTCOME_ERROR", { reason: "no such key" });
const elsewhere = told("solana", "OUTCOME_ERROR", { reason: "not applicable: this activity has no `solana.tx`" });
const unmet = told("pays", "OUTCOME_DENY_IMPLICIT", { expression: "condition", start: 40 });
const unlike = told("wallets", "OUTCOME_DENY_IMPLICIT", { expression: "condition", start: 0 });
const others = told("others", "OUTCOME_DENY_IMPLICIT", { expression: "consensus", start: 99 });
const silent = told("no raw", "OUTCOME_DENY_IMPLICIT", { effect: "EFFECT_DENY", expression: "condition", start: 90 });
const asleep = told("by day", "OUTCOME_TIME_INACTIVE", { expression: "time" });
const waiting = told("two people", "OUTCOME_REQUIRES_CONSENSUS", { expression: "consensus" });
const allowing = told("small", "OUTCOME_ALLOW");

/** The titles alone. */
function report(all: ExplainedPolicy[], isRefused = true): string[] {
  return reportLines(all, { isRefused }).filter((line) => !line.startsWith("    "));
}

test("what decided comes first, and each outcome is said in words beside the published one", () => {
  const all = [elsewhere, silent, unmet, asleep, broken, waiting, allowing, erring, denial];
  assert.deepEqual(report(all), [
    'denied by "no calls", "no exports"',
    '  DENY "no calls" cannot be evaluated, and so denies (ERROR)',
    '  DENY "no exports" denies (DENY_EXPLICIT)',
    '  ALLOW "small" allows (ALLOW)',
    '  ALLOW "two people" waits for approvals (REQUIRES_CONSENSUS)',
    '  ALLOW "by day" does not apply at this time (TIME_INACTIVE)',
    '  ALLOW "pays" does not apply (DENY_IMPLICIT)',
    '  ALLOW "calls" cannot be evaluated, and allows nothing (ERROR)',
    '  DENY "no raw" does not apply (DENY_IMPLICIT)',
    '  ALLOW "solana" is about something else (ERROR)',
  ]);
});

test("the first sentence says what came of it, and which policy came nearest to allowing", () => {
  const verdicts: [ExplainedPolicy[], boolean, string][] = [
    [[unmet, allowing], true, 'allowed by "small"'],
    [[unmet, waiting], false, 'waits for approvals under "two people"'],
    [[unmet, waiting], true, 'no policy allows it; nearest: "two people"'],
    [[unlike, silent, unmet, elsewhere], true, 'no policy allows it; nearest: "pays"'],
    [[unlike, others], true, 'no policy allows it; nearest: "others"'],
    [[others, unmet], true, 'no policy allows it; nearest: "pays"'],
    [[unmet, asleep], true, 'no policy allows it; nearest: "by day"'],
    [[unlike, silent, elsewhere], true, "no policy allows it"],
    [[1, 2, 3, 4, 5].map((n) => ({ ...denial, policyName: `${n}` })), true, 'denied by "1", "2", "3", 2 more'],
  ];
  for (const [all, isRefused, verdict] of verdicts) assert.equal(report(all, isRefused)[0], verdict);
});

test("an outcome of a newer server is told as unknown, and what is not shown is counted", () => {
  const newer = { policyName: "new", outcome: "OUTCOME_NEW" as ExplainedPolicy["outcome"], observed: {} };
  const others = ["a", "b"].map(
    (policyName): ExplainedPolicy => ({ policyName, outcome: "OUTCOME_DENY_IMPLICIT", observed: {} }),
  );
  assert.deepEqual(reportLines([...others, newer], { isRefused: true, shown: [newer] }), [
    "no policy allows it",
    '  policy "new" came to something that this version does not know (NEW)',
    "  and 2 more policies",
  ]);
});
