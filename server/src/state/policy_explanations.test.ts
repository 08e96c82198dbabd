import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { PolicyExplanation } from "@keystead/core/policy/decision/explain.ts";
import { decodeExplanations, encodeExplanations } from "./policy_explanations.ts";

function explanation(more: Partial<PolicyExplanation> = {}): PolicyExplanation {
  return {
    policyId: randomUUID(),
    outcome: "OUTCOME_DENY_IMPLICIT",
    expression: "condition",
    clause: "eth.tx.to == '0x\"1'",
    start: 0,
    end: 18,
    observed: { "eth.tx.to": "0x2" },
    ...more,
  };
}

const outcomesOf = (all: readonly PolicyExplanation[]) => all.map(({ policyId, outcome }) => ({ policyId, outcome }));

test("explanations come back as they were told, and take their policies and outcomes from the evaluations", () => {
  const all = [explanation(), explanation({ outcome: "OUTCOME_ERROR", reason: "no `eth.tx`", observed: {} })];
  const text = encodeExplanations(all, outcomesOf(all));
  assert.deepEqual(decodeExplanations(text, outcomesOf(all)), all);
  for (const { policyId } of all) assert.ok(!text.includes(policyId));
  assert.deepEqual(decodeExplanations(encodeExplanations([], []), []), []);
});

test("entries that are not in the order of the evaluations, and those of earlier releases, name their policies", () => {
  const all = [explanation(), explanation(), explanation()];
  const evaluations = outcomesOf(all.toReversed());
  assert.deepEqual(decodeExplanations(encodeExplanations(all, evaluations), evaluations), all);
  assert.deepEqual(decodeExplanations(encodeExplanations(all.slice(0, 2), []), []), all.slice(0, 2));
  assert.deepEqual(decodeExplanations(JSON.stringify(all), outcomesOf(all)), all);
});

test("an entry whose evaluation is gone is a damaged row", () => {
  const all = [explanation(), explanation()];
  const text = encodeExplanations(all, outcomesOf(all));
  assert.throws(() => decodeExplanations(text, outcomesOf(all.slice(1))), { code: "internal" });
});

test("what a policy says anew is told anew, whatever differs", () => {
  const first = explanation();
  const changes: Partial<PolicyExplanation>[] = [
    { outcome: "OUTCOME_ALLOW" },
    { expression: "consensus" },
    { clause: "other" },
    { start: 1 },
    { end: 17 },
    { reason: "why" },
    { observed: {} },
    { observed: { "eth.tx.to": "0x3" } },
    { observed: { "eth.tx.to": "0x2", "eth.tx.value": "1" } },
    { observed: { "eth.tx.from": "0x2" } },
  ];
  for (const change of changes) {
    for (const told of [first, { ...first, ...change }, first]) {
      const [again] = decodeExplanations(encodeExplanations([told], outcomesOf([told])), outcomesOf([told]));
      assert.deepEqual(again, told);
    }
  }
});

test("so many policies that not all are remembered are still told right", () => {
  const many = Array.from({ length: 5_000 }, () => explanation());
  for (const _ of ["once", "again"]) {
    const text = encodeExplanations(many, outcomesOf(many));
    assert.deepEqual(decodeExplanations(text, outcomesOf(many)), many);
  }
});
