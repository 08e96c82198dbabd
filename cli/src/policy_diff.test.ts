import assert from "node:assert/strict";
import { test } from "node:test";
import type { WrittenPolicy } from "@keystead/core/policy/cases/case_file.ts";
import { diffLines, diffPolicies, type StoredPolicy } from "./policy_diff.ts";

function stored(policyName: string, changes: Partial<StoredPolicy> = {}): StoredPolicy {
  const rest = { consensus: "", condition: "true", time: "", notes: "" };
  return { policyId: `id of ${policyName}`, policyName, effect: "EFFECT_ALLOW", ...rest, ...changes };
}

const written: WrittenPolicy = { policyName: "a", effect: "EFFECT_ALLOW", condition: "true" };

test("a policy that is written as it is stored is left alone", () => {
  assert.deepEqual(diffPolicies([written], [stored("a")]), { create: [], update: [], surplus: [], same: 1 });
});

test("only what differs is changed, and an expression that is left out is taken away", () => {
  const before = stored("a", { condition: "1 == 1", consensus: "approvers.count() > 1", notes: "by hand" });
  const { update } = diffPolicies([written], [before]);
  assert.deepEqual(update, [{ stored: before, changed: { condition: "true", consensus: "" } }]);
});

test("notes are changed where the file has some, and left alone where it has none", () => {
  const before = stored("a", { notes: "by hand" });
  assert.equal(diffPolicies([written], [before]).same, 1);
  const [update] = diffPolicies([{ ...written, notes: "" }], [before]).update;
  assert.deepEqual(update?.changed, { notes: "" });
});

test("another spelling of a name is the same policy with another name", () => {
  const { create, update, surplus } = diffPolicies([{ ...written, policyName: "Payments" }], [stored("payments")]);
  assert.deepEqual([create, surplus], [[], []]);
  assert.deepEqual(update[0]?.changed, { policyName: "Payments" });
});

test("what the file does not have is named, and only pruning deletes it", () => {
  const diff = diffPolicies([written], [stored("a"), stored("by hand", { effect: "EFFECT_DENY" })]);
  assert.deepEqual(diffLines(diff, { prune: false }), [
    '! DENY "by hand" is not in the file and stays in force; --prune deletes it',
    "0 to create, 0 to change, 0 to delete, 1 as they are",
  ]);
  assert.deepEqual(diffLines(diff, { prune: true }), [
    '- DENY "by hand"',
    "    condition: true",
    "0 to create, 0 to change, 1 to delete, 1 as they are",
  ]);
});

test("new and changed policies are shown with their expressions", () => {
  const fresh: WrittenPolicy = { policyName: "b", effect: "EFFECT_DENY", condition: "x\ny", time: "z" };
  assert.deepEqual(diffLines(diffPolicies([written, fresh], [stored("a", { condition: "false" })]), { prune: false }), [
    '+ DENY "b"',
    "    condition: x y",
    "    time: z",
    '~ ALLOW "a"',
    "    - condition: false",
    "    + condition: true",
    "1 to create, 1 to change, 0 to delete, 0 as they are",
  ]);
});
