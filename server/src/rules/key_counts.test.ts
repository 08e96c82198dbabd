import assert from "node:assert/strict";
import { test } from "node:test";
import { testKeyAccess } from "../../test/key_access.ts";
import type { Change, KeyCounts, KeyFacts } from "../state/entities.ts";
import type { PrivateKeyRecord, WalletRecord } from "../state/records.ts";
import { countNotExported, countWithout, markExported } from "./key_counts.ts";

const shared = { organizationId: "acme", imported: false, createdAtMs: 0 };
const wallet: WalletRecord = {
  ...shared,
  kind: "wallet",
  walletId: "wallet",
  walletName: "w",
  language: "MNEMONIC_LANGUAGE_ENGLISH",
};
const privateKey: PrivateKeyRecord = {
  ...shared,
  kind: "privateKey",
  privateKeyId: "key",
  privateKeyName: "k",
  curve: "CURVE_P256",
  publicKey: "",
  addresses: [],
};

function countsIn(changes: readonly Change[]): KeyCounts | undefined {
  const change = changes.find(({ kind }) => kind === "keyCounts");
  return change?.op === "put" && change.kind === "keyCounts" ? change.value : undefined;
}

const exported = (id: string, kind: KeyFacts["kind"]): KeyFacts => ({ id, kind, exported: true, updatedAtMs: 1 });

test("an export is counted once per key, and a deletion takes away what it had counted", () => {
  let counts: KeyCounts = { wallets: 2, privateKeys: 1 };
  assert.equal(countNotExported(counts), 3);
  counts = countsIn(markExported(counts, testKeyAccess(), wallet, 1)) ?? counts;
  counts = countsIn(markExported(counts, testKeyAccess(), privateKey, 1)) ?? counts;
  assert.deepEqual(counts, { wallets: 2, privateKeys: 1, exported: 2 });
  assert.equal(countNotExported(counts), 1);

  const keys = testKeyAccess({ facts: [exported("wallet", "wallet"), exported("key", "privateKey")] });
  assert.equal(countsIn(markExported(counts, keys, wallet, 2)), undefined, "it was counted before");

  counts = countsIn([countWithout(counts, keys, [privateKey])]) ?? counts;
  assert.deepEqual(counts, { wallets: 2, privateKeys: 0, exported: 1 });
  counts = countsIn([countWithout(counts, testKeyAccess(), [{ ...wallet, walletId: "other" }])]) ?? counts;
  assert.deepEqual(counts, { wallets: 1, privateKeys: 0, exported: 1 }, "one that was never exported");
  assert.equal(countNotExported(counts), 0);
  counts = countsIn([countWithout(counts, keys, [wallet])]) ?? counts;
  assert.deepEqual(counts, { wallets: 0, privateKeys: 0 });
});
