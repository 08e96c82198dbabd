import assert from "node:assert/strict";
import { test } from "node:test";
import { compilePolicy } from "@keystead/core/policy/decision/compiled_policy.ts";
import { decisionFigures, decisionLines, withRatios } from "./policy_report.ts";
import { payloads, policyTexts, transfers } from "./policy_texts.ts";

const report = {
  signatureUs: 100,
  decisions: [
    { policies: 10, isExplained: false, us: 19 },
    { policies: 100, isExplained: false, us: 101 },
    { policies: 100, isExplained: true, us: 300 },
  ],
};

test("decisions are held against the signature that was measured beside them; reasons have no target", () => {
  assert.deepEqual(
    withRatios(report).decisions.map(({ ratio }) => ratio),
    [0.19, 1.01, 3],
  );
  assert.deepEqual(decisionFigures(report), [
    ["ratio of a decision over 10 policies", 0.19, 0.2],
    ["ratio of a decision over 100 policies", 1.01, 1],
  ]);
  const lines = decisionLines(report).filter((line) => line.includes("(target"));
  assert.equal(lines.length, 2);
});

test("of the policies one is about the user and the address that ask, and all of them are policies", () => {
  for (const condition of [transfers, payloads]) {
    const texts = policyTexts(10, condition, "me", "0xabc");
    assert.equal(texts.length, 10);
    const isAsked = texts.map((text) => text.consensus.includes("'me'") && text.condition.includes("'0xabc'"));
    assert.deepEqual(isAsked, [...Array(9).fill(false), true]);
    for (const text of texts) compilePolicy(text);
  }
});
