import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { decodeEvaluations, encodeEvaluations, outcomes } from "./policy_evaluations.ts";

test("every outcome comes back as it was, in its order, from 17 bytes each", () => {
  const evaluations = [...outcomes, ...outcomes.toReversed()].map((outcome) => ({ policyId: randomUUID(), outcome }));
  const bytes = encodeEvaluations(evaluations);
  assert.equal(bytes.length, 17 * 16);
  assert.deepEqual(decodeEvaluations(bytes), evaluations);
  assert.deepEqual(decodeEvaluations(encodeEvaluations([])), []);
});

test("the numbers of the outcomes stay what they are, because rows hold them", () => {
  const policyId = "00112233-4455-6677-8899-aabbccddeeff";
  const numbers = outcomes.map((outcome) => [outcome, encodeEvaluations([{ policyId, outcome }]).at(-1)]);
  assert.deepEqual(Object.fromEntries(numbers), {
    OUTCOME_ALLOW: 1,
    OUTCOME_DENY_EXPLICIT: 2,
    OUTCOME_DENY_IMPLICIT: 3,
    OUTCOME_REQUIRES_CONSENSUS: 4,
    OUTCOME_REJECTED: 5,
    OUTCOME_ERROR: 6,
    OUTCOME_REQUIRES_AUTHENTICATORS: 7,
    OUTCOME_TIME_INACTIVE: 8,
  });
  assert.equal(
    Buffer.from(encodeEvaluations([{ policyId, outcome: "OUTCOME_ERROR" }])).toString("hex"),
    "00112233445566778899aabbccddeeff06",
  );
});

test("bytes that are cut off, or hold an outcome that is none, are not read as something else", () => {
  const bytes = encodeEvaluations([{ policyId: randomUUID(), outcome: "OUTCOME_ALLOW" }]);
  assert.throws(() => decodeEvaluations(bytes.subarray(0, 16)), { code: "internal", message: /cut off/ });
  for (const number of [0, 9, 255]) {
    assert.throws(() => decodeEvaluations(Uint8Array.of(...bytes.subarray(0, 16), number)), { code: "internal" });
  }
});
