import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { organization } from "../../test/members.ts";
import { put } from "../state/entities.ts";
import { deleteSubOrganization } from "./delete_sub_organization.ts";

const acme = organization();

test("a sub-organization is marked as deleted, with everything else as it was, and names itself", () => {
  for (const params of [{}, { deleteWithoutExport: null }, { deleteWithoutExport: true }]) {
    const { changes, result } = runActivity(deleteSubOrganization, acme, params, { parentId: "parent" });
    assert.deepEqual(changes, [put("settings", { ...acme.settings, deleted: true, updatedAtMs: nowMs })]);
    assert.deepEqual(result, { subOrganizationUuid: "acme" });
  }
});

test("a top-level organization is none", () => {
  assert.throws(() => runActivity(deleteSubOrganization, acme, {}), {
    code: "permission_denied",
    errorCode: "INVALID_ACTIVITY_CALLER",
    message: "this organization is not a sub-organization",
  });
});

test("only its own root users decide", () => {
  assert.equal(deleteSubOrganization.rootQuorumOnly, true);
});
