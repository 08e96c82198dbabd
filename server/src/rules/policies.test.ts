import assert from "node:assert/strict";
import { test } from "node:test";
import { finish } from "@keystead/core/work.ts";
import { activityContext } from "../../test/activity_context.ts";
import type { Policy } from "../state/entities.ts";
import { compiledOf, compiledPolicies } from "./policies.ts";
import { newPolicies, replacedPolicy } from "./policy_changes.ts";

const draft = { policyName: "P", effect: "EFFECT_ALLOW", condition: "activity.action == 'SIGN'" } as const;

test("what was compiled when a policy was made or changed is what decisions run", () => {
  const context = activityContext();
  const [policy] = finish(newPolicies(new Map(), [draft], context));
  assert.ok(policy);
  const page = new Map([[policy.policyId, policy]]);
  assert.equal(compiledPolicies(page)[0]?.policy, compiledOf(policy));
  const changed = replacedPolicy(page, policy, { ...policy, condition: "activity.action == 'CREATE'" }, context);
  assert.equal(compiledPolicies(new Map([[policy.policyId, changed]]))[0]?.policy, compiledOf(changed));
  assert.notEqual(compiledOf(changed), compiledOf(policy));
});

test("expressions are bounded together by their bytes; what does not grow is never refused", () => {
  const context = activityContext({ limits: { policyBytesPerOrganization: 60 } });
  const full = { code: "resource_exhausted", message: /limit of 60 bytes of policy expressions;/ };
  const long = { ...draft, condition: `'${"é".repeat(26)}' == 'a'`.slice(0, 60) };
  const [policy] = finish(newPolicies(new Map(), [long], activityContext())) as [Policy];
  const page = new Map([[policy.policyId, policy]]);
  assert.throws(() => finish(newPolicies(page, [{ ...draft, policyName: "Q" }], context)), full);
  finish(newPolicies(page, [{ policyName: "Q", effect: "EFFECT_DENY" }], context));
  assert.throws(() => replacedPolicy(page, policy, { ...policy, time: "true" }, context), full);
  replacedPolicy(page, policy, { ...policy, policyName: "R" }, context);
  replacedPolicy(page, policy, { ...policy, condition: "true" }, context);
});
