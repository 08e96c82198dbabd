import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { organization } from "../../test/members.ts";
import type { NewRecord } from "../endpoints/key_access.ts";
import { type KeyFacts, put } from "../state/entities.ts";
import { updateWallet } from "./update_wallet.ts";

const records = ["a", "b"].map((walletId): NewRecord => {
  const fields = { organizationId: "acme", walletName: walletId, imported: false, createdAtMs: 0 };
  return {
    record: { kind: "wallet", walletId, language: "MNEMONIC_LANGUAGE_ENGLISH", ...fields },
    secret: new Uint8Array(),
  };
});

const run = (params: { walletId: string; walletName?: string | null }, facts: KeyFacts[] = []) =>
  runActivity(updateWallet, organization(), params, { keys: testKeyAccess({ records, facts }) });

test("a new name is a fact beside those that stand", () => {
  const exported = { id: "a", kind: "wallet", exported: true, updatedAtMs: 1 } as const;
  const { changes, result } = run({ walletId: "a", walletName: "New" }, [exported]);
  assert.deepEqual(changes, [put("keyFacts", { ...exported, name: "New", updatedAtMs: nowMs })]);
  assert.deepEqual(result, { walletId: "a" });
});

test("a wallet may keep its own name, in another case, and not take another's", () => {
  assert.equal(run({ walletId: "a", walletName: "A" }).changes.length, 1);
  const taken = { code: "invalid_argument", message: "wallet label must be unique: `B` exists" };
  assert.throws(() => run({ walletId: "a", walletName: "B" }), taken);
  const renamed = { id: "b", kind: "wallet", name: "c", updatedAtMs: 1 } as const;
  assert.equal(run({ walletId: "a", walletName: "B" }, [renamed]).changes.length, 1);
  assert.throws(() => run({ walletId: "a", walletName: "C" }, [renamed]), { code: "invalid_argument" });
});

test("without a name nothing changes, and an unknown or deleted wallet is missing all the same", () => {
  for (const none of [{}, { walletName: null }]) {
    assert.deepEqual(run({ walletId: "a", ...none }), { changes: [], result: { walletId: "a" } });
    const missing = { code: "not_found", message: "unable to find wallet x in organization acme" };
    assert.throws(() => run({ walletId: "x", ...none }), missing);
  }
  const deleted = { id: "a", kind: "wallet", deleted: true, updatedAtMs: 1 } as const;
  assert.throws(() => run({ walletId: "a", walletName: "n" }, [deleted]), { code: "not_found" });
});
