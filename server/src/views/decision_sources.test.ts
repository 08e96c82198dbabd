/** What readers decide on: the same bytes are read once, and other bytes are never taken for them. */
import assert from "node:assert/strict";
import { addPolicy, done, onBothDatabases } from "../../test/policy_rig.ts";
import { readDecisionPages } from "./decision_sources.ts";

onBothDatabases("policies that did not change are the ones that were compiled before", async (rig) => {
  const read = async () => (await readDecisionPages(rig.store, rig.organizationId))?.policies;
  const policyId = await addPolicy(rig, { condition: "activity.action == 'SIGN'" });
  const first = await read();
  assert.ok(first?.has(policyId));
  assert.equal(await read(), first);
  await done(rig, rig.root, "update_policy", { policyId, policyEffect: "EFFECT_DENY" });
  const second = await read();
  assert.equal(second?.get(policyId)?.effect, "EFFECT_DENY");
  assert.equal(first?.get(policyId)?.effect, "EFFECT_ALLOW");
  assert.equal(await read(), second);
});
