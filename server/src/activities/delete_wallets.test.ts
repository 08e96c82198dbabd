import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { organization } from "../../test/members.ts";
import type { NewRecord } from "../endpoints/key_access.ts";
import { type KeyFacts, put } from "../state/entities.ts";
import { deleteWallets } from "./delete_wallets.ts";

const keyCounts = { wallets: 3, privateKeys: 5 };
const pages = { ...organization(), keyCounts };

const records = ["a", "b", "c"].map((walletId): NewRecord => {
  const fields = { organizationId: "acme", walletName: walletId, imported: true, createdAtMs: 0 };
  return {
    record: { kind: "wallet", walletId, language: "MNEMONIC_LANGUAGE_ENGLISH", ...fields },
    secret: new Uint8Array(),
  };
});

const facts = (id: string, change: Partial<KeyFacts>): KeyFacts => ({ id, kind: "wallet", updatedAtMs: 1, ...change });
const gone = (id: string) => put("keyFacts", { id, kind: "wallet", deleted: true, updatedAtMs: nowMs });

function run(walletIds: string[], deleteWithoutExport?: boolean | null, given: KeyFacts[] = []) {
  const params = { walletIds, ...(deleteWithoutExport !== undefined && { deleteWithoutExport }) };
  return runActivity(deleteWallets, pages, params, { keys: testKeyAccess({ records, facts: given }) });
}

test("each becomes nothing but its deletion, and the count goes down by as many", () => {
  const { changes, records: made, result } = run(["b", "a", "b"], true, [facts("a", { name: "x", exported: true })]);
  assert.deepEqual(changes, [gone("b"), gone("a"), put("keyCounts", { wallets: 1, privateKeys: 5 })]);
  assert.equal(made, undefined);
  assert.deepEqual(result, { walletIds: ["b", "a"] });
});

test("one that was not exported keeps all, imported or not; false and null are no permission", () => {
  for (const flag of [undefined, null, false]) {
    assert.throws(() => run(["a", "b"], flag, [facts("a", { exported: true })]), {
      code: "invalid_argument",
      message: "wallet has not been exported: `b`; export it first, or set deleteWithoutExport",
    });
  }
  assert.equal(run(["a"], false, [facts("a", { exported: true })]).changes.length, 2);
});

test("an unknown and a deleted one are missing alike", () => {
  const missing = (id: string) => ({
    code: "not_found",
    message: `unable to find wallet ${id} in organization acme`,
  });
  assert.throws(() => run(["a", "nobody"], true), missing("nobody"));
  assert.throws(() => run(["a"], true, [facts("a", { deleted: true, exported: true })]), missing("a"));
});

test("only the records it names are looked for, and policies see them", () => {
  assert.deepEqual(deleteWallets.records?.({ walletIds: ["a"] }), [{ by: "id", kind: "wallet", id: "a" }]);
  assert.deepEqual(deleteWallets.policySubject?.({ walletIds: ["a"] }), { by: "wallets", walletIds: ["a"] });
});
