import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { organization } from "../../test/members.ts";
import type { NewRecord } from "../endpoints/key_access.ts";
import { type KeyFacts, put } from "../state/entities.ts";
import { deleteWalletAccounts } from "./delete_wallet_accounts.ts";

const [first, second, walletId] = [randomUUID(), randomUUID(), randomUUID()];

const records = [first, second].map(
  (walletAccountId, index): NewRecord => ({
    record: {
      kind: "walletAccount",
      organizationId: "acme",
      walletAccountId,
      walletId,
      wallet: { walletName: "w", imported: false },
      curve: "CURVE_ED25519",
      path: `m/${index}'`,
      addressFormat: "ADDRESS_FORMAT_SOLANA",
      address: "",
      publicKey: "",
      createdAtMs: 0,
    },
    secret: new Uint8Array(),
  }),
);

const fact = (kind: KeyFacts["kind"], id: string, change: Partial<KeyFacts>) => ({
  id,
  kind,
  updatedAtMs: 1,
  ...change,
});

function run(walletAccountIds: string[], deleteWithoutExport: boolean, facts: KeyFacts[] = []) {
  const params = { walletAccountIds, deleteWithoutExport };
  return runActivity(deleteWalletAccounts, organization(), params, { keys: testKeyAccess({ records, facts }) });
}

test("each becomes nothing but its deletion, once however often it is named", () => {
  const { changes, result } = run([second, first, second], true);
  const gone = (id: string) => put("keyFacts", { id, kind: "walletAccount", deleted: true, updatedAtMs: nowMs });
  assert.deepEqual(changes, [gone(second), gone(first)]);
  assert.deepEqual(result, { walletAccountIds: [second, first] });
});

test("an account must have been exported, itself or with its wallet", () => {
  const notExported = (id: string) => ({
    code: "invalid_argument",
    errorCode: "WALLET_ACCOUNT_NOT_EXPORTED",
    message: `wallet account has not been exported: \`${id}\`; export it first, or set deleteWithoutExport`,
  });
  assert.throws(() => run([first, second], false), notExported(first));
  const one = fact("walletAccount", first, { exported: true });
  assert.throws(() => run([first, second], false, [one]), notExported(second));
  assert.equal(run([first], false, [one]).changes.length, 1);
  assert.equal(run([first, second], false, [fact("wallet", walletId, { exported: true })]).changes.length, 2);
});

test("an unknown one, a deleted one and one of a deleted wallet are nobody's alike", () => {
  const foreign = (id: string) => ({
    code: "invalid_argument",
    message: `wallet account not part of your organization: \`${id}\``,
  });
  const unknown = randomUUID();
  assert.throws(() => run([first, unknown], true), foreign(unknown));
  assert.throws(() => run([first], true, [fact("walletAccount", first, { deleted: true })]), foreign(first));
  assert.throws(
    () => run([first], true, [fact("wallet", walletId, { deleted: true, exported: true })]),
    foreign(first),
  );
  assert.throws(() => run(["first"], true), { message: "invalid wallet account UUID: `first`" });
});
