import assert from "node:assert/strict";
import { test } from "node:test";
import type { PolicyEvaluation } from "@keystead/core/policy/decision/decide.ts";
import type { PolicyExplanation } from "@keystead/core/policy/decision/explain.ts";
import { maxExplanationLength, withinBounds } from "./explanations.ts";

/** A policy that had a lot to say about a lot of values. */
function talkative(policyId: string, outcome: PolicyExplanation["outcome"]): PolicyExplanation {
  const observed = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`name ${at}`, "v".repeat(200)]));
  return { policyId, outcome, expression: "condition", clause: "c".repeat(400), observed };
}

const outcomes = Array.from({ length: 60 }, (_, at) => (at === 59 ? "OUTCOME_ALLOW" : "OUTCOME_DENY_IMPLICIT"));
const explanations = outcomes.map((outcome, at) => talkative(`p${at}`, outcome as PolicyExplanation["outcome"]));
const evaluations = explanations.map(
  ({ policyId, outcome }): PolicyEvaluation => ({ policyId, outcome, denies: false }),
);

test("explanations that fit are kept as they are", () => {
  assert.equal(withinBounds(explanations.slice(0, 10), evaluations.slice(0, 10)).length, 10);
  assert.deepEqual(withinBounds(explanations.slice(0, 10), evaluations), explanations.slice(0, 10));
});

test("of too many the one that settles it is kept, wherever it stands, and every policy keeps its place and outcome", () => {
  const kept = withinBounds(explanations, evaluations);
  assert.ok(JSON.stringify(kept).length < maxExplanationLength * 1.1);
  assert.deepEqual(
    kept.map(({ policyId, outcome }) => ({ policyId, outcome })),
    explanations.map(({ policyId, outcome }) => ({ policyId, outcome })),
  );
  assert.deepEqual(kept.at(-1), explanations.at(-1));
  assert.match(kept.at(-2)?.reason ?? "", /^not explained/);
});
