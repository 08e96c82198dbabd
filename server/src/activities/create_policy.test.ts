/** The five activities on policies. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ContextChanges, nowMs, runActivity } from "../../test/activity_context.ts";
import { after, organization } from "../../test/members.ts";
import type { PolicyParams } from "../fields/policies.ts";
import { type Policy, put, remove } from "../state/entities.ts";
import { createPolicies } from "./create_policies.ts";
import { createPolicy } from "./create_policy.ts";
import { deletePolicies } from "./delete_policies.ts";
import { deletePolicy } from "./delete_policy.ts";
import { updatePolicy } from "./update_policy.ts";

const standing: Policy = {
  policyId: "standing",
  policyName: "Standing",
  effect: "EFFECT_ALLOW",
  consensus: "approvers.count() > 1",
  condition: "activity.resource == 'USER'",
  time: "time.now > Timestamp('2026-01-01T00:00:00Z')",
  notes: "kept",
  createdAtMs: 1,
  updatedAtMs: 1,
};
const other: Policy = { ...standing, policyId: "other", policyName: "Other", effect: "EFFECT_DENY" };
const acme = after(organization(), { changes: [put("policy", standing), put("policy", other)] });

const allow = { policyName: "New", effect: "EFFECT_ALLOW" } as const;

function create(params: PolicyParams, context: ContextChanges = {}) {
  return runActivity(createPolicy, acme, params, context);
}

function createAll(...policies: PolicyParams[]) {
  return runActivity(createPolicies, acme, { policies });
}

function update(change: Partial<Parameters<typeof updatePolicy.run>[1]>) {
  return runActivity(updatePolicy, acme, { policyId: "standing", ...change });
}

const noSuchPolicy = {
  code: "not_found",
  message: "unable to find policy lost in organization acme",
};

test("a policy is kept as it is written, and what is left out is empty", () => {
  const condition = `  activity.resource  ==\n"USER"  `;
  const consensus = "approvers.any(user, user.id == 'ä')";
  const { changes, result } = create({ ...allow, condition, consensus, notes: "a\nb" });
  assert.deepEqual(result, { policyId: "new 0" });
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const written = { policyId: "new 0", ...allow, condition, consensus, time: "", notes: "a\nb", ...times };
  assert.deepEqual(changes, [put("policy", written)]);
  const nothing = { consensus: "", condition: "", time: "", notes: "" };
  for (const params of [allow, { ...allow, ...nothing }, { ...allow, condition: null, notes: null }]) {
    assert.deepEqual(create(params).changes, [put("policy", { policyId: "new 0", ...allow, ...nothing, ...times })]);
  }
});

const badExpressions = [
  ["condition", "eth.tx.nowhere == 1"],
  ["condition", "activity.type"],
  ["condition", "(activity.type == 'A'"],
  ["condition", "approvers.count() == 1"],
  ["condition", `activity.type == '${"x".repeat(5_000)}'`],
  ["consensus", "activity.type == 'A'"],
  ["consensus", "approvers.any(user)"],
  ["time", "time.now"],
  ["time", "true &&"],
] as const;

for (const [kind, expression] of badExpressions) {
  test(`a ${kind} that is none is refused by its kind, alone or among good ones: ${expression.slice(0, 30)}`, () => {
    const refusal = { code: "invalid_argument", message: new RegExp(`^invalid policy ${kind}: `) };
    assert.throws(() => create({ ...allow, [kind]: expression }), refusal);
    assert.throws(() => createAll(allow, { ...allow, policyName: "Second", [kind]: expression }), refusal);
    const field = { condition: "policyCondition", consensus: "policyConsensus", time: "time" }[kind];
    assert.throws(() => update({ [field]: expression }), refusal);
  });
}

test("several policies are made in their order", () => {
  const { changes, result } = createAll({ ...allow, policyName: "One" }, { ...allow, policyName: "Two" });
  assert.deepEqual(result, { policyIds: ["new 0", "new 1"] });
  const names = changes.flatMap((change) =>
    change.kind === "policy" && change.op === "put" ? change.value.policyName : [],
  );
  assert.deepEqual(names, ["One", "Two"]);
});

test("names are unique, whatever their case or form, also among policies that are made together", () => {
  const taken = { code: "invalid_argument", message: "policy label must be unique: `Standing` exists" };
  for (const policyName of ["Standing", "STANDING", " ｓtanding"]) {
    assert.throws(() => create({ ...allow, policyName }), taken);
    assert.throws(() => createAll({ ...allow, policyName: "One" }, { ...allow, policyName }), taken);
    assert.throws(() => runActivity(updatePolicy, acme, { policyId: "other", policyName }), taken);
  }
  assert.throws(() => createAll({ ...allow, policyName: "One" }, { ...allow, policyName: "ONE" }), {
    code: "invalid_argument",
    message: "policy label must be unique: `One` exists",
  });
  assert.equal(update({ policyName: "STANDING" }).changes.length, 1);
});

test("the limit is the one configured, a sub-organization's its own, and counts all that are asked for", () => {
  const full = (limit: number) => ({
    code: "resource_exhausted",
    message: new RegExp(`^organization has reached its limit of ${limit} policies; `),
  });
  const limits = { policiesPerOrganization: 3, policiesPerSubOrganization: 2 };
  assert.equal(create(allow, { limits }).changes.length, 1);
  assert.throws(() => create(allow, { limits, parentId: "parent" }), full(2));
  const two = { policies: [allow, { ...allow, policyName: "Second" }] };
  assert.throws(() => runActivity(createPolicies, acme, two, { limits }), full(3));
});

test("an update changes what it names and nothing else; an empty expression takes one away", () => {
  assert.deepEqual(update({}).changes, [put("policy", { ...standing, updatedAtMs: nowMs })]);
  assert.deepEqual(
    update({ policyName: null, policyEffect: null, policyCondition: null, time: null, policyNotes: null }).changes,
    [put("policy", { ...standing, updatedAtMs: nowMs })],
  );
  const changed = update({ policyEffect: "EFFECT_DENY", policyCondition: "", policyNotes: "", policyName: "Renamed" });
  assert.deepEqual(changed.result, { policyId: "standing" });
  assert.deepEqual(changed.changes, [
    put("policy", {
      ...standing,
      policyName: "Renamed",
      effect: "EFFECT_DENY",
      condition: "",
      notes: "",
      updatedAtMs: nowMs,
    }),
  ]);
  assert.deepEqual(update({ policyConsensus: "true", time: "" }).changes, [
    put("policy", { ...standing, consensus: "true", time: "", updatedAtMs: nowMs }),
  ]);
});

test("the first version of an update knew no times: one that it names is left aside", () => {
  const [v1] = updatePolicy.versions ?? [];
  assert.equal(v1?.type, "ACTIVITY_TYPE_UPDATE_POLICY");
  const sent = { policyId: "standing", policyNotes: "new", time: "nonsense" };
  assert.deepEqual(v1.translate(sent as never), { policyId: "standing", policyNotes: "new" });
});

test("policies are deleted by their ids, each once: all of them, or none", () => {
  assert.deepEqual(runActivity(deletePolicy, acme, { policyId: "other" }), {
    changes: [remove("policy", "other")],
    result: { policyId: "other" },
  });
  const both = runActivity(deletePolicies, acme, { policyIds: ["other", "standing", "other"] });
  assert.deepEqual(both.result, { policyIds: ["other", "standing"] });
  assert.equal(after(acme, both).policies.size, 0);
});

test("a policy that is not there is named, whatever is asked of it", () => {
  assert.throws(() => update({ policyId: "lost" }), noSuchPolicy);
  assert.throws(() => runActivity(deletePolicy, acme, { policyId: "lost" }), noSuchPolicy);
  assert.throws(() => runActivity(deletePolicies, acme, { policyIds: ["other", "lost"] }), noSuchPolicy);
});
