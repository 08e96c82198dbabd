/** Wallets and their accounts, by the published server client's methods and its own default accounts. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type AddressFormat, addressFormatNames } from "@keystead/core/keys/address_formats.ts";
import {
  addressFormatConfig,
  createWalletAccountFromAddressFormat,
  DEFAULT_ETHEREUM_ACCOUNTS,
  DEFAULT_SOLANA_ACCOUNTS,
  defaultEthereumAccountAtIndex,
} from "@turnkey/sdk-server";
import { createKey } from "../key_pairs.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import {
  apiKeyOf,
  asPerson,
  assertTimestamp,
  at,
  foundOrganization,
  type Person,
  refusalOf,
  wording,
} from "../published/clients.ts";

/** Formats for which the helper knows no path. */
const withoutDefault = ["ADDRESS_FORMAT_UNCOMPRESSED", "ADDRESS_FORMAT_COMPRESSED", "ADDRESS_FORMAT_TON_V5R1"];

const nobody = "00000000-0000-4000-8000-000000000000";

export async function wallets(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { sdk, http, organizationId } = owner;

  await t.test("createWallet derives the helper's default account of every format", async () => {
    const formats = Object.keys(addressFormatConfig) as (keyof typeof addressFormatConfig)[];
    const accounts = formats
      .filter((format) => !withoutDefault.includes(format))
      .map((format) => createWalletAccountFromAddressFormat(format));
    assert.ok(accounts.length >= 35, `only ${accounts.length} formats have a default`);
    const known: readonly AddressFormat[] = addressFormatNames;
    for (const { addressFormat } of accounts) assert.ok(known.includes(addressFormat), addressFormat);

    const { walletId, addresses, activity } = await sdk.createWallet({ walletName: "All", accounts });
    assert.equal(activity.type, "ACTIVITY_TYPE_CREATE_WALLET");
    assert.equal(addresses.length, accounts.length);
    const { wallet } = await sdk.getWallet({ walletId });
    const { createdAt, updatedAt, ...rest } = wallet;
    assert.deepEqual(rest, { walletId, walletName: "All", exported: false, imported: false });
    for (const time of [createdAt, updatedAt]) assertTimestamp(time);

    const { accounts: listed } = await sdk.getWalletAccounts({ walletId, includeWalletDetails: true });
    assert.equal(listed.length, accounts.length);
    for (const [index, account] of accounts.entries()) {
      const { createdAt, updatedAt, walletAccountId, publicKey = "", caip2Prefix, ...own } = at(listed, index);
      for (const time of [createdAt, updatedAt]) assertTimestamp(time);
      assert.deepEqual(own, { ...account, organizationId, walletId, address: addresses[index], walletDetails: wallet });
      assert.match(publicKey, account.curve === "CURVE_ED25519" ? /^[0-9a-f]{64}$/ : /^0[23][0-9a-f]{64}$/);
      assert.match(walletAccountId, /^[0-9a-f-]{36}$/);
      if (account.addressFormat === "ADDRESS_FORMAT_ETHEREUM") assert.equal(caip2Prefix, "eip155");
    }
  });

  await t.test("a wallet has the words that were asked for, and a wallet of none is for later", async () => {
    for (const mnemonicLength of [12, 15, 18, 21, 24]) {
      const { addresses } = await sdk.createWallet({ walletName: `${mnemonicLength}`, accounts: [], mnemonicLength });
      assert.deepEqual(addresses, []);
    }
    const { wallets } = await sdk.getWallets();
    assert.deepEqual(
      new Set(wallets.map(({ walletName }) => walletName)),
      new Set(["All", "12", "15", "18", "21", "24"]),
    );
  });

  await t.test("getWalletAccounts gives pages that meet and do not overlap", async () => {
    const accounts = Array.from({ length: 7 }, (_, index) => defaultEthereumAccountAtIndex(index));
    const { walletId, addresses } = await sdk.createWallet({ walletName: "Paged", accounts });
    const page = async (paginationOptions: { limit: string; after?: string; before?: string }) =>
      (await sdk.getWalletAccounts({ walletId, paginationOptions })).accounts;
    const seen: string[] = [];
    let after: string | undefined;
    // As the published kits do: until a page is short.
    for (let size = 3; size === 3; ) {
      const rows = await page({ limit: "3", ...(after !== undefined && { after }) });
      seen.push(...rows.map(({ address }) => address));
      after = rows.at(-1)?.walletAccountId;
      size = rows.length;
    }
    assert.deepEqual(seen, addresses);
    const all = await page({ limit: "100" });
    assert.deepEqual(
      (await page({ limit: "2", before: at(all, 4).walletAccountId })).map(({ address }) => address).length,
      2,
    );
    assert.equal((await refusalOf(page({ limit: "101" }))).code, 3);
    assert.equal((await refusalOf(page({ limit: "3", after: nobody }))).code, 3);
    const everywhere = await sdk.getWalletAccounts({ paginationOptions: { limit: "100" } });
    assert.ok(everywhere.accounts.length > all.length);
  });

  await t.test("createWalletAccounts adds to a wallet, or only tells", async () => {
    const { walletId } = await sdk.createWallet({ walletName: "Grows", accounts: DEFAULT_ETHEREUM_ACCOUNTS });
    const accounts = [{ ...defaultEthereumAccountAtIndex(1), name: "Second" }, ...DEFAULT_SOLANA_ACCOUNTS];
    const told = await sdk.createWalletAccounts({ walletId, accounts, persist: false });
    const count = async () => (await sdk.getWalletAccounts({ walletId })).accounts.length;
    assert.equal(await count(), 1);
    const { addresses } = await sdk.createWalletAccounts({ walletId, accounts });
    assert.deepEqual(addresses, told.addresses);
    assert.equal(await count(), 3);

    const address = at(addresses, 0);
    const byAddress = await sdk.getWalletAccount({ walletId, address });
    const byPath = await sdk.getWalletAccount({ walletId, path: "m/44'/60'/1'/0/0" });
    assert.deepEqual(byAddress, byPath);
    assert.deepEqual(byAddress, await http.getWalletAccount({ organizationId, walletId, address }));
    assert.equal(byAddress.account.name, "Second");
    assert.equal((await refusalOf(sdk.getWalletAccount({ walletId, path: "m/44'/60'/2'/0/0" }))).code, 5);

    const again = await refusalOf(sdk.createWalletAccounts({ walletId, accounts: [defaultEthereumAccountAtIndex(1)] }));
    assert.equal(again.code, 6);
    const { walletAccountId } = byAddress.account;
    assert.equal(again.message, wording(6, `path already exists in wallet account ${walletAccountId}`));
    assert.equal(await count(), 3);
  });

  await t.test("updateWallet renames, and a name belongs to one wallet", async () => {
    const { walletId } = await sdk.createWallet({ walletName: "Before", accounts: [] });
    assert.equal((await sdk.updateWallet({ walletId, walletName: "After" })).walletId, walletId);
    const { wallet } = await sdk.getWallet({ walletId });
    assert.equal(wallet.walletName, "After");
    const taken = await refusalOf(sdk.createWallet({ walletName: "After", accounts: [] }));
    assert.equal(taken.code, 3);
    assert.match(taken.message, /^Turnkey error 3: wallet label must be unique/);
    await sdk.createWallet({ walletName: "Before", accounts: [] });
  });

  await t.test("deleteWallets takes what was exported, or what it is told to take", async () => {
    const { walletId, addresses } = await sdk.createWallet({
      walletName: "Goes",
      accounts: [...DEFAULT_ETHEREUM_ACCOUNTS, ...DEFAULT_SOLANA_ACCOUNTS],
    });
    const { account } = await sdk.getWalletAccount({ walletId, address: at(addresses, 0) });
    const walletAccountIds = [account.walletAccountId];
    assert.match((await refusalOf(sdk.deleteWalletAccounts({ walletAccountIds }))).message, /has not been exported/);
    await sdk.deleteWalletAccounts({ walletAccountIds, deleteWithoutExport: true });
    assert.equal((await sdk.getWalletAccounts({ walletId })).accounts.length, 1);

    const kept = await refusalOf(sdk.deleteWallets({ walletIds: [walletId] }));
    assert.equal(kept.code, 3);
    assert.match(kept.message, /wallet has not been exported/);
    const deleted = await sdk.deleteWallets({ walletIds: [walletId], deleteWithoutExport: true });
    assert.deepEqual(deleted.walletIds, [walletId]);
    assert.equal((await refusalOf(sdk.getWallet({ walletId }))).code, 5);
    const signing = sdk.signRawPayload({
      signWith: at(addresses, 1),
      payload: "00",
      encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
      hashFunction: "HASH_FUNCTION_NOT_APPLICABLE",
    });
    assert.equal((await refusalOf(signing)).message, wording(5, "Could not find any resource to sign with."));
  });

  await t.test("createSubOrganization makes a wallet of the new organization's own", async () => {
    const key = createKey();
    const { subOrganizationId, wallet, rootUserIds } = await root.sdk.createSubOrganization({
      subOrganizationName: "With a wallet",
      rootQuorumThreshold: 1,
      rootUsers: [{ userName: "Root", apiKeys: [apiKeyOf(key)], authenticators: [], oauthProviders: [] }],
      wallet: { walletName: "Born with", accounts: [...DEFAULT_ETHEREUM_ACCOUNTS, ...DEFAULT_SOLANA_ACCOUNTS] },
    });
    assert.ok(wallet !== undefined);
    const child = asPerson(server, {
      organizationId: subOrganizationId,
      userId: at(rootUserIds ?? [], 0),
      userName: "Root",
      key,
    });
    const { accounts } = await child.sdk.getWalletAccounts({ walletId: wallet.walletId });
    assert.deepEqual(
      accounts.map(({ address }) => address),
      wallet.addresses,
    );
    const ask = {
      signWith: at(wallet.addresses, 0),
      payload: "hello",
      encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
    } as const;
    await child.sdk.signRawPayload({ ...ask, hashFunction: "HASH_FUNCTION_KECCAK256" });
    // Its parent reads there, and signs nothing.
    assert.equal((await root.sdk.getWallets({ organizationId: subOrganizationId })).wallets.length, 1);
    const signing = root.sdk.signRawPayload({
      ...ask,
      organizationId: subOrganizationId,
      hashFunction: "HASH_FUNCTION_KECCAK256",
    });
    assert.match((await refusalOf(signing)).message, /^Turnkey error 3: organization mismatch/);
  });
}
