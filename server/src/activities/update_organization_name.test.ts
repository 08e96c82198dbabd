import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { organization } from "../../test/members.ts";
import { put } from "../state/entities.ts";
import { updateOrganizationName } from "./update_organization_name.ts";

test("only the name changes; features stay", () => {
  const acme = organization({ features: ["FEATURE_NAME_SMS_AUTH"] });
  const { changes, result } = runActivity(updateOrganizationName, acme, { organizationName: "Apex" });
  assert.deepEqual(changes, [put("settings", { ...acme.settings, organizationName: "Apex", updatedAtMs: nowMs })]);
  assert.deepEqual(result, { organizationId: "acme", organizationName: "Apex" });
});

test("no policy can grant it", () => {
  assert.equal(updateOrganizationName.rootQuorumOnly, true);
});
