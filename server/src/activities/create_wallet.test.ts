import assert from "node:assert/strict";
import { test } from "node:test";
import { type ContextChanges, runActivity } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { after, organization } from "../../test/members.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { put } from "../state/entities.ts";
import { createWallet } from "./create_wallet.ts";

const acme = organization();
const ethereum = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
} as const;

const run = (params: object = {}, context: ContextChanges = {}, pages = acme) =>
  runActivity(createWallet, pages, { walletName: "w", accounts: [], ...params }, context);

test("a wallet without accounts is one record and one more in the count", () => {
  const { changes, records, result } = run();
  assert.deepEqual(changes, [put("keyCounts", { wallets: 1, privateKeys: 0 })]);
  assert.equal(records?.length, 1);
  assert.deepEqual(result, { walletId: "new 0", addresses: [] });
});

test("two wallets never have the same words", () => {
  const [first, second] = [run(), run()].map(({ records }) => records?.[0]);
  assert.notDeepEqual(first?.secret, second?.secret);
  assert.notEqual(first?.blindIndex, second?.blindIndex);
});

test("the limit is the one configured, of its own kind of organization, and says its number", () => {
  const one = after(acme, run());
  const limits = { walletsPerOrganization: 2, walletsPerSubOrganization: 1 };
  const two = run({}, { limits }, one);
  assert.deepEqual(two.changes, [put("keyCounts", { wallets: 2, privateKeys: 0 })]);
  const full = (limit: number) => ({
    code: "resource_exhausted",
    message: new RegExp(`^organization has reached its limit of ${limit} wallets; `),
  });
  assert.throws(() => run({}, { limits }, after(one, two)), full(2));
  assert.throws(() => run({}, { limits, parentId: "parent" }, one), full(1));
});

test("a name that is taken is refused; renaming or deleting its wallet frees it", () => {
  const { records = [] } = run({ accounts: [{ ...ethereum, name: "Main" }] });
  const taken = { code: "invalid_argument", message: "wallet label must be unique: `W` exists" };
  const at = (facts: object[] = []) => ({ keys: testKeyAccess({ records, facts: facts as never }) });
  assert.throws(() => run({ walletName: "W" }, at()), taken);
  const fact = { id: "new 0", kind: "wallet", updatedAtMs: 0 };
  assert.equal(run({ walletName: "W" }, at([{ ...fact, name: "x" }])).records?.length, 1);
  assert.throws(() => run({ walletName: "X" }, at([{ ...fact, name: "x" }])), { code: "invalid_argument" });
  assert.equal(run({ walletName: "W" }, at([{ ...fact, deleted: true }])).records?.length, 1);
  const named = { walletName: "y", accounts: [{ ...ethereum, path: "m/1", name: "main" }] };
  assert.throws(() => run(named, at()), { message: "wallet account label must be unique: `main` exists" });
  assert.equal(run(named, at([{ ...fact, deleted: true }])).records?.length, 2);
});

test("parameters may leave out or null the number of words, and take no other number", () => {
  const fits = (params: object) =>
    activityValidators[createWallet.type]?.({ walletName: "w", accounts: [], ...params });
  for (const mnemonicLength of [undefined, null, 12, 15, 18, 21, 24]) assert.equal(fits({ mnemonicLength }), true);
  for (const mnemonicLength of [0, 9, 13, 27, "12", 12.5]) assert.equal(fits({ mnemonicLength }), false);
  assert.equal(fits({ accounts: undefined }), false);
  assert.equal(fits({ accounts: Array(100).fill(ethereum) }), true);
  assert.equal(fits({ accounts: Array(101).fill(ethereum) }), false);
  assert.equal(fits({ walletName: "" }), false);
});
