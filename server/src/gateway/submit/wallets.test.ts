/** Wallets from HTTP to the tables and back, over gateway, signer and both databases. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { p256 } from "@noble/curves/nist.js";
import { type BodyOptions, createGatewayRig, type GatewayRig, type Person } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import type { AnyQuery, Caller } from "../../endpoints/define_query.ts";
import type { WalletAccountParams } from "../../fields/wallets.ts";
import { queries } from "../../generated/queries.ts";
import { queryValidators } from "../../generated/query_validators.ts";
import { dialectOf } from "../../views/dialect.ts";

const ethereum = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
} as const satisfies WalletAccountParams;
const solana = {
  curve: "CURVE_ED25519",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/501'/0'/0'",
  addressFormat: "ADDRESS_FORMAT_SOLANA",
} as const satisfies WalletAccountParams;

const ethereumAt = (index: number, changes: Partial<WalletAccountParams> = {}): WalletAccountParams => ({
  ...ethereum,
  path: `m/44'/60'/${index}'/0/0`,
  ...changes,
});

type Shown = { walletAccountId: string; address: string; path: string; addressFormat: string; walletId: string };

/** A query as the gateway runs it, without the stamp. */
async function ask<T>(rig: GatewayRig, path: keyof typeof queries, request: object): Promise<T> {
  const whole = { organizationId: rig.organizationId, ...request };
  assert.equal(queryValidators[path]?.(whole), true, `the request fits ${path}`);
  const query = queries[path] as AnyQuery;
  return (await query.run(rig.store, {} as Caller, whole as never, dialectOf(undefined))) as T;
}

async function listAccounts(rig: GatewayRig, request: object = {}): Promise<Shown[]> {
  return (await ask<{ accounts: Shown[] }>(rig, "list_wallet_accounts", request)).accounts;
}

async function createWallet(rig: GatewayRig, walletName: string, accounts: WalletAccountParams[], by = rig.root) {
  const { result } = await rig.submit(by, "create_wallet", { walletName, accounts });
  return result.createWalletResult as { walletId: string; addresses: string[] };
}

async function deriveAccounts(rig: GatewayRig, walletId: string, accounts: WalletAccountParams[], persist?: boolean) {
  const { result } = await rig.submit(rig.root, "create_wallet_accounts", { walletId, accounts, persist });
  return (result.createWalletAccountsResult as { addresses: string[] }).addresses;
}

const refused = (code: number, message: string | RegExp) => (error: { message: string; failure: { code: number } }) => {
  assert.match(error.message, message instanceof RegExp ? message : new RegExp(`^${RegExp.escape(message)}`));
  assert.equal(error.failure.code, code);
  return true;
};

for (const dialect of dialects) {
  const withRig = (name: string, run: (rig: GatewayRig) => Promise<void>) =>
    test(`on ${dialect}: ${name}`, async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig !== undefined) await run(rig);
    });

  withRig("a wallet is made, shown, renamed and deleted, and its accounts with it", async (rig) => {
    const { walletId, addresses } = await createWallet(rig, "Treasury", [{ ...ethereum, name: "Main" }, solana]);
    const times = { seconds: String(Math.floor(rig.signer.clock.nowMs / 1000)) };
    const { wallet } = await ask<{ wallet: Record<string, unknown> }>(rig, "get_wallet", { walletId });
    const { createdAt, updatedAt, ...shown } = wallet as { createdAt: { seconds: string }; updatedAt: object };
    assert.deepEqual(shown, { walletId, walletName: "Treasury", exported: false, imported: false });
    assert.equal(createdAt.seconds, times.seconds);
    assert.deepEqual(updatedAt, createdAt);
    assert.deepEqual(await ask(rig, "list_wallets", {}), { wallets: [wallet] });

    const accounts = await listAccounts(rig, { walletId });
    assert.deepEqual(
      accounts.map(({ address }) => address),
      addresses,
    );
    const [first, second] = accounts as (Shown & Record<string, unknown>)[];
    assert.ok(first && second);
    assert.deepEqual(first, {
      walletAccountId: first.walletAccountId,
      organizationId: rig.organizationId,
      walletId,
      ...ethereum,
      address: addresses[0],
      createdAt,
      updatedAt,
      publicKey: first.publicKey,
      name: "Main",
      caip2Prefix: "eip155",
    });
    assert.match(String(first.publicKey), /^0[23][0-9a-f]{64}$/);
    assert.match(String(second.publicKey), /^[0-9a-f]{64}$/);
    assert.equal("name" in second, false);

    rig.signer.clock.nowMs += 5_000;
    const { result } = await rig.submit(rig.root, "update_wallet", { walletId, walletName: "Vault" });
    assert.deepEqual(result.updateWalletResult, { walletId });
    const detailed = await listAccounts(rig, { includeWalletDetails: true });
    const { walletDetails } = detailed[1] as Shown & { walletDetails: Record<string, { seconds: string }> };
    assert.equal(walletDetails.walletName as unknown, "Vault");
    assert.equal(Number(walletDetails.updatedAt?.seconds), Number(createdAt.seconds) + 5);
    assert.equal(walletDetails.createdAt?.seconds, createdAt.seconds);

    const kept = await createWallet(rig, "Treasury", [ethereum]);
    await assert.rejects(
      rig.submit(rig.root, "delete_wallets", { walletIds: [kept.walletId, walletId] }),
      refused(3, "wallet has not been exported"),
    );
    await rig.submit(rig.root, "delete_wallets", { walletIds: [walletId], deleteWithoutExport: true });
    await assert.rejects(ask(rig, "get_wallet", { walletId }), {
      code: "not_found",
      message: `unable to find wallet ${walletId} in organization ${rig.organizationId}`,
    });
    await assert.rejects(listAccounts(rig, { walletId }), { code: "not_found" });
    assert.deepEqual(
      (await listAccounts(rig)).map(({ address }) => address),
      kept.addresses,
    );
    const again = { walletIds: [walletId], deleteWithoutExport: true };
    await assert.rejects(rig.submit(rig.root, "delete_wallets", again), refused(5, /^unable to find wallet/));
    // The name is free again, the id never is.
    assert.notEqual((await createWallet(rig, "Vault", [])).walletId, walletId);
  });

  withRig("accounts are added, several formats on one path share its key, and the same one is refused", async (rig) => {
    const { walletId, addresses } = await createWallet(rig, "w", [ethereum]);
    const compressed = { ...ethereum, addressFormat: "ADDRESS_FORMAT_COMPRESSED" } as const;
    const bitcoin = { ...ethereum, addressFormat: "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR" } as const;
    const added = await deriveAccounts(rig, walletId, [compressed, bitcoin, solana]);
    const [first, ...rest] = (await listAccounts(rig)) as (Shown & { publicKey: string })[];
    assert.equal(first?.address, addresses[0]);
    assert.deepEqual(
      rest.map(({ address }) => address),
      added,
    );
    assert.equal(added[0], first?.publicKey);
    assert.equal(rest[1]?.publicKey, first?.publicKey);

    const exists = refused(6, `path already exists in wallet account ${first?.walletAccountId}`);
    await assert.rejects(
      deriveAccounts(rig, walletId, [ethereumAt(1), { ...ethereum, path: "m/44h/60H/0'/0/0" }]),
      exists,
    );
    // Ed25519 knows hardened steps only: this is the same key.
    await assert.rejects(
      deriveAccounts(rig, walletId, [{ ...solana, path: "m/44'/501'/0'/0" }]),
      refused(6, `path already exists in wallet account ${rest[2]?.walletAccountId}`),
    );
    await assert.rejects(
      deriveAccounts(rig, walletId, [ethereumAt(1), ethereumAt(1)]),
      refused(3, "invalid path: accounts 0 and 1 of the request are the same"),
    );
    assert.equal((await listAccounts(rig)).length, 4);

    const { walletId: other } = await createWallet(rig, "other", []);
    assert.notDeepEqual(await deriveAccounts(rig, other, [ethereum]), addresses);
  });

  withRig("without persisting, addresses are told and nothing is stored", async (rig) => {
    const { walletId, addresses } = await createWallet(rig, "w", [ethereum]);
    const named = ethereumAt(1, { name: "x" });
    const told = await deriveAccounts(rig, walletId, [ethereum, named, ethereum], false);
    assert.deepEqual([told[0], told[2]], [addresses[0], addresses[0]]);
    assert.equal((await listAccounts(rig)).length, 1);
    assert.deepEqual(await deriveAccounts(rig, walletId, [named]), [told[1]]);
  });

  withRig("an account is found by address or path in any spelling, in its own wallet only", async (rig) => {
    const compressed = { ...ethereum, addressFormat: "ADDRESS_FORMAT_COMPRESSED" } as const;
    const { walletId, addresses } = await createWallet(rig, "w", [solana, compressed, ethereum]);
    const { walletId: other } = await createWallet(rig, "other", [ethereumAt(3)]);
    const find = async (request: object) =>
      (await ask<{ account: Shown }>(rig, "get_wallet_account", { walletId, ...request })).account;
    const address = addresses[2] ?? "";
    assert.equal((await find({ address })).addressFormat, ethereum.addressFormat);
    assert.equal((await find({ address: address.toLowerCase() })).address, address);
    assert.equal((await find({ path: "m/44h/60h/0h/0/0" })).address, addresses[1]);
    assert.equal((await find({ path: ethereum.path, address })).address, address);
    assert.equal((await find({ path: "m/44'/501'/0'/0" })).address, addresses[0]);
    const missing = (text: string) => ({ code: "not_found", message: `Could not find wallet account with ${text}` });
    await assert.rejects(find({ walletId: other, address }), missing(`address: ${address}`));
    await assert.rejects(find({ path: "m/44'/60'/9'/0/0" }), missing("path: m/44'/60'/9'/0/0"));
    await assert.rejects(find({ path: solana.path, address }), missing(`address: ${address}`));
    await assert.rejects(find({ path: "m/x" }), {
      code: "invalid_argument",
      message: /^invalid path: write it like m/,
    });
    await assert.rejects(find({}), { code: "invalid_argument" });
  });

  withRig("pages are walked from both ends, and a cursor must be in the list", async (rig) => {
    const { walletId } = await createWallet(
      rig,
      "w",
      [0, 1, 2].map((index) => ethereumAt(index)),
    );
    rig.signer.clock.nowMs += 1;
    const { walletId: other } = await createWallet(rig, "other", [ethereum]);
    rig.signer.clock.nowMs += 1;
    await deriveAccounts(rig, walletId, [ethereumAt(3), ethereumAt(4)]);
    const all = (await listAccounts(rig)).map(({ walletAccountId }) => walletAccountId);
    assert.equal(all.length, 6);
    const own = await listAccounts(rig, { walletId });
    assert.deepEqual(
      own.map(({ path }) => path),
      [0, 1, 2, 3, 4].map((index) => ethereumAt(index).path),
    );
    const page = async (paginationOptions: object, request: object = {}) =>
      (await listAccounts(rig, { ...request, paginationOptions })).map(({ walletAccountId }) => walletAccountId);
    const walked: string[] = [];
    for (let after: string | undefined; ; after = walked.at(-1)) {
      const ids = await page({ limit: "2", ...(after && { after }) });
      walked.push(...ids);
      if (ids.length < 2) break;
    }
    assert.deepEqual(walked, all);
    assert.deepEqual(await page({ limit: "2", before: all[5] }), all.slice(3, 5));
    assert.deepEqual(await page({ limit: "5", after: all[0], before: all[4] }), all.slice(1, 4));
    const ids = own.map(({ walletAccountId }) => walletAccountId);
    assert.deepEqual(await page({ after: ids[2] }, { walletId }), ids.slice(3));
    const elsewhere = (await listAccounts(rig, { walletId: other }))[0]?.walletAccountId;
    for (const after of [elsewhere, randomUUID()]) {
      await assert.rejects(page({ after }, { walletId }), { code: "invalid_argument", message: /cursor/ });
    }
    await assert.rejects(page({ limit: "101" }), { code: "invalid_argument" });
  });

  withRig("without pages a list has at most a hundred, with pages and no limit ten", async (rig) => {
    const many = (from: number) => Array.from({ length: 51 }, (_, index) => ethereumAt(from + index));
    const { walletId } = await createWallet(rig, "w", many(0));
    await deriveAccounts(rig, walletId, many(51));
    assert.equal((await listAccounts(rig)).length, 100);
    assert.equal((await listAccounts(rig, { paginationOptions: {} })).length, 10);
    const tooMany = Array.from({ length: 101 }, (_, index) => ethereumAt(200 + index));
    await assert.rejects(deriveAccounts(rig, walletId, tooMany), { code: "invalid_argument" });
  });

  withRig("accounts are deleted only when exported or on purpose, and their paths are free again", async (rig) => {
    const { walletId, addresses } = await createWallet(rig, "w", [{ ...ethereum, name: "main" }, solana]);
    const [first, second] = await listAccounts(rig);
    assert.ok(first && second);
    const remove = (ids: string[], deleteWithoutExport?: boolean) =>
      rig.submit(rig.root, "delete_wallet_accounts", { walletAccountIds: ids, deleteWithoutExport });
    await assert.rejects(remove([first.walletAccountId]), (error: { failure: { errorCode?: string } }) => {
      assert.equal(error.failure.errorCode, "WALLET_ACCOUNT_NOT_EXPORTED");
      return refused(3, "wallet account has not been exported")(error as never);
    });
    await assert.rejects(remove(["first"], true), refused(3, "invalid wallet account UUID"));
    const unknown = refused(3, "wallet account not part of your organization");
    await assert.rejects(remove([first.walletAccountId, randomUUID()], true), unknown);
    const { result } = await remove([first.walletAccountId, first.walletAccountId], true);
    assert.deepEqual(result.deleteWalletAccountsResult, { walletAccountIds: [first.walletAccountId] });
    assert.deepEqual(await listAccounts(rig), [second]);
    await assert.rejects(remove([first.walletAccountId], true), unknown);
    assert.deepEqual(await deriveAccounts(rig, walletId, [{ ...ethereum, name: "Main" }]), [addresses[0]]);
    const [, anew] = await listAccounts(rig);
    assert.notEqual(anew?.walletAccountId, first.walletAccountId);
  });

  withRig("names are unique per kind, whatever their case, and a wallet may keep its own", async (rig) => {
    const { walletId } = await createWallet(rig, "Treasury", [{ ...ethereum, name: "Main" }]);
    const taken = refused(3, "wallet label must be unique");
    await assert.rejects(createWallet(rig, "TREASURY", []), taken);
    await createWallet(rig, "Main", []);
    await assert.rejects(rig.submit(rig.root, "update_wallet", { walletId, walletName: "main" }), taken);
    await rig.submit(rig.root, "update_wallet", { walletId, walletName: "TREASURY" });
    await rig.submit(rig.root, "update_wallet", { walletId });
    const takenAccount = refused(3, "wallet account label must be unique");
    await assert.rejects(createWallet(rig, "x", [ethereumAt(1, { name: "MAIN" })]), takenAccount);
    await assert.rejects(deriveAccounts(rig, walletId, [ethereumAt(1, { name: "MAIN" })]), takenAccount);
    const twice = [ethereumAt(1, { name: "a" }), ethereumAt(2, { name: "A" })];
    await assert.rejects(createWallet(rig, "x", twice), takenAccount);
    await rig.submit(rig.root, "update_wallet", { walletId, walletName: "Old" });
    await createWallet(rig, "Treasury", []);
  });

  withRig("what is asked for wrongly is refused with the published texts, and nothing is stored", async (rig) => {
    const { walletId } = await createWallet(rig, "w", []);
    const wrong: [message: string, account: object][] = [
      ["invalid path", { path: "44'/60'" }],
      ["invalid path", { path: "m/2147483648" }],
      ["invalid path", { path: "m/0'0" }],
      ["invalid path format", { pathFormat: "PATH_FORMAT_BIP44" }],
      ["invalid address format", { addressFormat: "ADDRESS_FORMAT_MONERO" }],
      ["invalid curve", { curve: "CURVE_P384" }],
      ["invalid curve", { curve: "CURVE_ED25519" }],
      ["invalid curve", { curve: "CURVE_P256", addressFormat: "ADDRESS_FORMAT_SOLANA" }],
      ["invalid request body: missing field `path`", { path: undefined }],
    ];
    for (const [message, account] of wrong) {
      const accounts = [{ ...ethereum, ...account } as WalletAccountParams];
      const isRefused = { message: new RegExp(`^${RegExp.escape(message)}`) };
      await assert.rejects(createWallet(rig, "x", accounts), isRefused);
      await assert.rejects(deriveAccounts(rig, walletId, accounts), isRefused);
      await assert.rejects(deriveAccounts(rig, walletId, accounts, false), isRefused);
    }
    for (const mnemonicLength of [0, 11, 13, 48, 12.5, "12"]) {
      const parameters = { walletName: "x", accounts: [], mnemonicLength };
      await assert.rejects(rig.submit(rig.root, "create_wallet", parameters), { code: "invalid_argument" });
    }
    const deep = Array.from({ length: 5 }, (_, index) => ethereumAt(index, { path: `m${"/0".repeat(250)}/${index}` }));
    await assert.rejects(createWallet(rig, "x", deep), refused(3, "invalid path: the paths of one request"));
    assert.equal((await ask<{ wallets: object[] }>(rig, "list_wallets", {})).wallets.length, 1);
    assert.deepEqual(await listAccounts(rig), []);
  });

  withRig("only the root quorum may, nobody elsewhere sees it, and a body counts once", async (rig) => {
    const bob = await rig.newPerson("bob");
    await assert.rejects(createWallet(rig, "w", [], bob), refused(7, "You don't have sufficient permissions"));
    const body = rig.body("create_wallet", { walletName: "w", accounts: [ethereum] });
    const made = await rig.send(rig.root, "create_wallet", body);
    assert.deepEqual(await rig.send(rig.root, "create_wallet", body), made);
    const { walletId, addresses } = made.result.createWalletResult as { walletId: string; addresses: [string] };
    assert.equal((await ask<{ wallets: object[] }>(rig, "list_wallets", {})).wallets.length, 1);

    const { organizationId, people } = await rig.newSubOrganization(1, ["cleo"]);
    const cleo = people[0] as Person;
    const within: BodyOptions = { organizationId };
    const accounts = [ethereum];
    const missing = refused(5, `unable to find wallet ${walletId} in organization ${organizationId}`);
    for (const [path, parameters] of [
      ["create_wallet_accounts", { walletId, accounts }],
      ["update_wallet", { walletId, walletName: "x" }],
      ["delete_wallets", { walletIds: [walletId], deleteWithoutExport: true }],
    ] as const) {
      await assert.rejects(rig.submit(cleo, path, parameters, within), missing);
      await assert.rejects(rig.submit(rig.root, path, parameters, within), { errorCode: "ORGANIZATION_MISMATCH" });
    }
    const [account] = await listAccounts(rig);
    const ids = { walletAccountIds: [account?.walletAccountId], deleteWithoutExport: true };
    const foreign = refused(3, "wallet account not part of your organization");
    await assert.rejects(rig.submit(cleo, "delete_wallet_accounts", ids, within), foreign);
    for (const [path, request] of [
      ["get_wallet", { walletId }],
      ["get_wallet_account", { walletId, address: addresses[0] }],
      ["list_wallet_accounts", { walletId }],
    ] as const) {
      await assert.rejects(ask(rig, path, { ...request, ...within }), { code: "not_found" });
    }
    assert.deepEqual(await ask(rig, "list_wallets", within), { wallets: [] });
  });

  withRig("a sub-organization is born with its wallet, which is its own, and found by its address", async (rig) => {
    const publicKey = toHex(p256.getPublicKey(p256.utils.randomSecretKey()));
    const rootUsers = [
      { userName: "dora", apiKeys: [{ apiKeyName: "key", publicKey, curveType: "API_KEY_CURVE_P256" }] },
    ];
    const wallet = { walletName: "Own", accounts: [ethereum, solana], mnemonicLength: 24 };
    const parameters = { subOrganizationName: "Sub", rootQuorumThreshold: 1, rootUsers, wallet };
    const { result } = await rig.submit(rig.root, "create_sub_organization", parameters);
    const born = result.createSubOrganizationResultV8 as {
      subOrganizationId: string;
      wallet: { walletId: string; addresses: string[] };
    };
    const organizationId = born.subOrganizationId;
    const accounts = await listAccounts(rig, { organizationId });
    assert.deepEqual(
      accounts.map(({ address, walletId }) => [address, walletId]),
      born.wallet.addresses.map((address) => [address, born.wallet.walletId]),
    );
    assert.deepEqual(await listAccounts(rig), []);
    await rig.newSubOrganization(1, ["other"]);
    const find = (filterValue: string) =>
      ask(rig, "list_suborgs", { filterType: "WALLET_ACCOUNT_ADDRESS", filterValue });
    for (const address of [...born.wallet.addresses, born.wallet.addresses[0]?.toLowerCase() ?? ""]) {
      assert.deepEqual(await find(address), { organizationIds: [organizationId] });
    }
    const own = await createWallet(rig, "Own", [ethereum]);
    assert.deepEqual(await find(own.addresses[0] ?? ""), { organizationIds: [] });
    assert.deepEqual(await find("nobody's"), { organizationIds: [] });
  });

  withRig("facts on many pages are fetched at once, by a signer that has none of them at hand", async (rig) => {
    const names = Array.from({ length: 20 }, (_, index) => `wallet ${index}`);
    const walletIds: string[] = [];
    for (const name of names) walletIds.push((await createWallet(rig, name, [ethereum])).walletId);
    for (const [index, walletId] of walletIds.entries()) {
      await rig.submit(rig.root, "update_wallet", { walletId, walletName: `renamed ${index}` });
    }
    rig.dependencies.organizations.forgetAll();
    const kept = await createWallet(rig, "wallet 0", [ethereum]);
    rig.dependencies.organizations.forgetAll();
    await assert.rejects(createWallet(rig, "Renamed 1", []), refused(3, "wallet label must be unique"));
    await rig.submit(rig.root, "delete_wallets", { walletIds, deleteWithoutExport: true });
    const { wallets } = await ask<{ wallets: { walletId: string }[] }>(rig, "list_wallets", {});
    assert.deepEqual(
      wallets.map(({ walletId }) => walletId),
      [kept.walletId],
    );
  });

  withRig("many at once: each name once, whoever comes first, and nobody is kept waiting for ever", async (rig) => {
    const names = Array.from({ length: 24 }, (_, index) => `wallet ${index % 6}`);
    const results = await Promise.allSettled(names.map((name) => createWallet(rig, name, [ethereum])));
    const made = results.filter(({ status }) => status === "fulfilled");
    assert.equal(made.length, 6);
    for (const result of results) {
      if (result.status === "rejected") refused(3, "wallet label must be unique")(result.reason);
    }
    const { wallets } = await ask<{ wallets: { walletId: string }[] }>(rig, "list_wallets", {});
    assert.equal(wallets.length, 6);
    // Deleting and renaming at the same time as creating under the names that become free.
    const moves = wallets.flatMap(({ walletId }, index) => [
      index % 2 === 0
        ? rig.submit(rig.root, "delete_wallets", { walletIds: [walletId], deleteWithoutExport: true })
        : rig.submit(rig.root, "update_wallet", { walletId, walletName: `renamed ${index}` }),
      createWallet(rig, `wallet ${index}`, [ethereum]),
    ]);
    const outcomes = await Promise.allSettled(moves);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") refused(3, "wallet label must be unique")(outcome.reason);
    }
    assert.ok(outcomes.filter((_, index) => index % 2 === 0).every(({ status }) => status === "fulfilled"));
  });
}
