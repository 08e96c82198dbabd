import assert from "node:assert/strict";
import { test } from "node:test";
import type { WrittenPolicy } from "@keystead/core/policy/cases/case_file.ts";
import { diffPolicies, type StoredPolicy } from "./policy_diff.ts";
import { planOf } from "./policy_plan.ts";

function written(policyName: string, effect: WrittenPolicy["effect"], changes: Partial<WrittenPolicy> = {}) {
  return { policyName, effect, condition: "true", ...changes };
}

function stored(policyName: string, effect: WrittenPolicy["effect"]): StoredPolicy {
  return { policyId: policyName, policyName, effect, consensus: "", condition: "true", time: "", notes: "" };
}

function todo(file: readonly WrittenPolicy[], organization: readonly StoredPolicy[] = [], prune = true): string[] {
  return planOf(diffPolicies(file, organization), { prune }).map((step) => step.todo);
}

test("what becomes a denial is one of the first, and what stops being one is one of the last", () => {
  const file = [
    written("becomes ALLOW", "EFFECT_ALLOW"),
    written("becomes DENY", "EFFECT_DENY"),
    written("new", "EFFECT_ALLOW"),
    written("kept", "EFFECT_ALLOW", { condition: "1 == 1" }),
  ];
  const organization = [
    stored("becomes ALLOW", "EFFECT_DENY"),
    stored("becomes DENY", "EFFECT_ALLOW"),
    stored("kept", "EFFECT_ALLOW"),
    stored("old", "EFFECT_ALLOW"),
    stored("old denial", "EFFECT_DENY"),
  ];
  const changes = [
    'change "becomes DENY"',
    "delete 1 ALLOW policy",
    "create 1 ALLOW policy",
    'change "kept"',
    'change "becomes ALLOW"',
    "delete 1 DENY policy",
  ];
  assert.deepEqual(todo(file, organization), changes);
  assert.deepEqual(
    todo(file, organization, false),
    changes.filter((change) => !change.startsWith("delete")),
  );
});

test("no activity creates more than 100 policies, and all denials come before the first that permits", () => {
  const many = Array.from({ length: 250 }, (_, i) => written(`p${i}`, i % 2 ? "EFFECT_DENY" : "EFFECT_ALLOW"));
  assert.deepEqual(todo(many), [
    "create 100 DENY policies",
    "create 25 DENY policies",
    "create 100 ALLOW policies",
    "create 25 ALLOW policies",
  ]);
  const steps = planOf(diffPolicies(many, []), { prune: false });
  const created = steps.flatMap(({ parameters }) => (parameters as { policies: WrittenPolicy[] }).policies);
  const inOrder = [...many.filter((_, i) => i % 2), ...many.filter((_, i) => i % 2 === 0)];
  assert.deepEqual(created, inOrder);
});

test("no activity is larger than a request may be", () => {
  const large = Array.from({ length: 100 }, (_, i) => written(`p${i}`, "EFFECT_DENY", { notes: "ä".repeat(4_096) }));
  const steps = planOf(diffPolicies(large, []), { prune: false });
  assert.deepEqual(
    steps.map(({ todo }) => todo),
    ["create 63 DENY policies", "create 37 DENY policies"],
  );
  for (const { parameters } of steps) assert.ok(Buffer.byteLength(JSON.stringify(parameters)) < 1_000_000);
});
