import assert from "node:assert/strict";
import { test } from "node:test";
import { finish } from "@keystead/core/work.ts";
import { activityContext, runActivity } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { organization } from "../../test/members.ts";
import type { KeyAccess } from "../endpoints/key_access.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { generateWallet, parseAccounts } from "../rules/wallets.ts";
import type { KeyFacts } from "../state/entities.ts";
import { createWalletAccounts } from "./create_wallet_accounts.ts";

const ethereum = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
} as const;
const second = { ...ethereum, path: "m/44'/60'/1'/0/0", name: "second" };

const { walletId, addresses, records } = finish(
  generateWallet(activityContext(), "acme", { walletName: "w" }, parseAccounts([ethereum])),
);

function run(params: object, facts: KeyFacts[] = [], keys: KeyAccess = testKeyAccess({ records, facts })) {
  const ids = ["x 0", "x 1", "x 2"].values();
  const newId = () => ids.next().value ?? "x";
  return runActivity(
    createWalletAccounts,
    organization(),
    { walletId, accounts: [second], ...params },
    { keys, newId },
  );
}

test("accounts are records of the wallet's seed, and nothing else changes", () => {
  const { changes, records: made = [], result } = run({});
  assert.deepEqual(changes, []);
  assert.deepEqual(
    made.map(({ record }) => record.kind === "walletAccount" && [record.walletId, record.walletAccountId, record.name]),
    [[walletId, "x 0", "second"]],
  );
  assert.deepEqual(result.addresses.length, 1);
  assert.notDeepEqual(result.addresses, addresses);
});

test("without persisting, the same addresses come and no record, whatever stands there already", () => {
  const { changes, records: made, result } = run({ persist: false, accounts: [ethereum, second, second] });
  assert.deepEqual([changes, made], [[], undefined]);
  assert.deepEqual(result.addresses, [...addresses, ...run({}).result.addresses, ...run({}).result.addresses]);
});

test("persist of true and null store; only the wallet is looked for when nothing is stored", () => {
  for (const persist of [true, null]) assert.equal(run({ persist }).records?.length, 1);
  const wishes = (params: object) =>
    createWalletAccounts.records?.({ walletId, accounts: [second], ...params }).map(({ by }) => by);
  assert.deepEqual(wishes({ persist: false }), ["id"]);
  assert.deepEqual(wishes({}), ["id", "place", "name"]);
});

test("an account that is there is named, one that was deleted is derived again to the same address", () => {
  assert.throws(() => run({ accounts: [second, ethereum] }), {
    code: "already_exists",
    message: "path already exists in wallet account new 1",
  });
  const deleted = { id: "new 1", kind: "walletAccount", deleted: true, updatedAtMs: 0 } as const;
  assert.deepEqual(run({ accounts: [ethereum] }, [deleted]).result.addresses, addresses);
});

test("another wallet's record does not stand for the one that is asked for, nor does a deleted one", () => {
  const missing = (id: string) => ({ code: "not_found", message: `unable to find wallet ${id} in organization acme` });
  assert.throws(() => run({ walletId: "another" }), missing("another"));
  assert.throws(
    () => run({ persist: false }, [{ id: walletId, kind: "wallet", deleted: true, updatedAtMs: 0 }]),
    missing(walletId),
  );
});

test("the seed is wiped, whether accounts are stored or told, and not even made for what is refused", () => {
  const keyAccess = testKeyAccess({ records });
  for (const [params, made] of [
    [{}, 1],
    [{ persist: false }, 1],
    [{ accounts: [second, second] }, 0],
    [{ accounts: [{ ...second, path: "m/x" }] }, 0],
  ] as const) {
    const seeds: Uint8Array[] = [];
    const pbkdf2Sha512: typeof keyAccess.signing.keys.pbkdf2Sha512 = (...given) => {
      const seed = keyAccess.signing.keys.pbkdf2Sha512(...given);
      seeds.push(seed);
      return seed;
    };
    const signing = { ...keyAccess.signing, keys: { ...keyAccess.signing.keys, pbkdf2Sha512 } };
    try {
      run(params, [], { ...keyAccess, signing });
    } catch {}
    assert.deepEqual(seeds, Array(made).fill(new Uint8Array(64)));
  }
});

test("a hundred accounts fit, one more does not", () => {
  const fits = (count: number) =>
    activityValidators[createWalletAccounts.type]?.({ walletId, accounts: Array(count).fill(ethereum) });
  assert.deepEqual([fits(0), fits(100), fits(101)], [true, true, false]);
});
