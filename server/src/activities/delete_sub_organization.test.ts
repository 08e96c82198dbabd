import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { organization } from "../../test/members.ts";
import { type KeyCounts, put } from "../state/entities.ts";
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
    message: "this organization is not a sub-organization: name the one to delete in organizationId",
  });
});

test("only its own root users decide", () => {
  assert.equal(deleteSubOrganization.rootQuorumOnly, true);
});

test("what nobody has exported keeps its organization; false and null are no permission", () => {
  const withCounts = (keyCounts: KeyCounts) => ({ ...acme, keyCounts });
  const run = (keyCounts: KeyCounts, deleteWithoutExport?: boolean | null) =>
    runActivity(
      deleteSubOrganization,
      withCounts(keyCounts),
      { ...(deleteWithoutExport !== undefined && { deleteWithoutExport }) },
      { parentId: "parent" },
    );
  const refused: [KeyCounts, lost: number][] = [
    [{ wallets: 1, privateKeys: 0 }, 1],
    [{ wallets: 0, privateKeys: 2 }, 2],
    [{ wallets: 2, privateKeys: 3, exported: 4 }, 1],
  ];
  for (const [counts, lost] of refused) {
    for (const flag of [undefined, null, false]) {
      assert.throws(() => run(counts, flag), {
        code: "invalid_argument",
        errorCode: "WALLET_ACCOUNT_NOT_EXPORTED",
        message: `wallet account has not been exported: ${lost} of the organization's wallets and private keys would be lost; export them or set deleteWithoutExport`,
      });
    }
    assert.equal(run(counts, true).changes.length, 1);
  }
  assert.equal(run({ wallets: 2, privateKeys: 3, exported: 5 }).changes.length, 1);
});
