/** create_wallet_accounts, delete_wallet_accounts, and what reads accounts. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { invalid, notFound } from "../refusals.ts";
import { assertRefused } from "../wire.ts";
import { activityEntry, type BadInput, queryEntry } from "./entry.ts";
import { exists, noSuchWallet } from "./faults.ts";
import type { Json } from "./fixture.ts";
import { type AccountParams, added, ethereum, newAccount, newWallet, solana } from "./keys.ts";
import { badPages, foreignCursors } from "./lists.ts";
import { byId } from "./people.ts";

export const badPath =
  "invalid path: write it like m/44'/60'/0'/0/0, each number below 2147483648, with ' or h after a hardened one";

function badAccount(name: string, account: Partial<AccountParams>, message: string): BadInput<Json> {
  return {
    name,
    bend: (good) => ({ ...good, accounts: [{ ...ethereum, ...account }] }),
    refusal: invalid(message),
    kept: "FAILED",
  };
}

export const badAccounts: BadInput<Json>[] = [
  ...["", "44'/60'", "m/", "m/-1", "m/01", "m/44'/2147483648", "m/x"].map((path) =>
    badAccount(`the path ${JSON.stringify(path)}`, { path }, badPath),
  ),
  badAccount(
    "an address format of another curve",
    { curve: "CURVE_ED25519" },
    "invalid curve: ADDRESS_FORMAT_ETHEREUM needs CURVE_SECP256K1",
  ),
  badAccount(
    "no uncompressed Ed25519 key",
    { curve: "CURVE_ED25519", addressFormat: "ADDRESS_FORMAT_UNCOMPRESSED" },
    "invalid curve: ADDRESS_FORMAT_UNCOMPRESSED needs CURVE_SECP256K1 or CURVE_P256",
  ),
  {
    name: "an address format that is none",
    bend: (good) => ({ ...good, accounts: [{ ...ethereum, addressFormat: "ADDRESS_FORMAT_NONE" }] }),
    refusal: invalid(/^invalid address format: field `parameters\.accounts\.0\.addressFormat` must be one of /),
  },
  {
    name: "an account's name that exists",
    bend: async (good, fixture) => {
      const name = `taken ${randomUUID()}`;
      await newWallet(fixture, fixture.place, [{ ...ethereum, name }]);
      return { ...good, accounts: [{ ...solana, name: name.toUpperCase() }] };
    },
    refusal: ({ accounts }) => invalid(`wallet account label must be unique: \`${accounts[0].name}\` exists`),
    kept: "FAILED",
  },
];

export const repeatedAccounts: BadInput<Json>[] = [
  {
    name: "one account twice, in two spellings",
    bend: (good) => ({ ...good, accounts: [solana, { ...solana, path: "m/44'/501'/0h/0" }] }),
    refusal: invalid("invalid path: accounts 0 and 1 of the request are the same"),
    kept: "FAILED",
  },
  {
    name: "one name twice",
    bend: (good) => ({
      ...good,
      accounts: [
        { ...ethereum, path: "m/1", name: "Twice" },
        { ...ethereum, path: "m/2", name: "TWICE" },
      ],
    }),
    refusal: invalid("wallet account label must be unique: `TWICE` exists"),
    kept: "FAILED",
  },
];

const caip2Prefixes: Readonly<Record<string, string>> = {
  ADDRESS_FORMAT_ETHEREUM: "eip155",
  ADDRESS_FORMAT_SOLANA: "solana",
};

const publicKeys: Readonly<Record<string, RegExp>> = {
  CURVE_SECP256K1: /^0[23][0-9a-f]{64}$/,
  CURVE_ED25519: /^[0-9a-f]{64}$/,
};

/** An account as it is shown, against what was asked for. */
export function checkAccount(account: Json, asked: AccountParams, more: object): void {
  const { walletAccountId: _, publicKey, createdAt, updatedAt, caip2Prefix, ...rest } = account;
  assert.deepEqual(rest, { ...asked, ...more });
  assert.equal(caip2Prefix, caip2Prefixes[asked.addressFormat]);
  assert.match(publicKey, publicKeys[asked.curve] ?? /^$/);
  assert.deepEqual(createdAt, updatedAt);
}

export const requiredOfAccounts = ["curve", "pathFormat", "path", "addressFormat"].map(
  (field) => `accounts.0.${field}`,
);

type AccountsParams = { walletId: string; accounts: AccountParams[]; persist?: boolean };

export const createWalletAccounts = activityEntry<AccountsParams>({
  good: async (fixture) => ({
    walletId: (await newWallet(fixture, fixture.place, [ethereum])).walletId,
    accounts: [{ ...ethereum, path: "m/44'/60'/1'/0/0", name: `Account ${randomUUID()}` }, solana],
    persist: true,
  }),
  required: ["walletId", "accounts", ...requiredOfAccounts],
  result: ({ accounts }, { before, after, result }) => {
    const shown = added(before.accounts, after.accounts, "walletAccountId");
    const address = ({ path }: AccountParams) => byId(shown, "path", path)?.address;
    assert.equal(result.addresses.length, accounts.length);
    return { addresses: accounts.map(address) };
  },
  shows({ walletId, accounts }, { before, after, result }, { place: { organizationId } }) {
    const shown = added(before.accounts, after.accounts, "walletAccountId");
    assert.equal(shown.length, accounts.length);
    for (const [index, asked] of accounts.entries()) {
      const address = result.addresses[index];
      checkAccount(byId(shown, "address", address), asked, { organizationId, walletId, address });
    }
    assert.deepEqual(after.wallets, before.wallets);
  },
  bad: [
    ...badAccounts,
    ...repeatedAccounts,
    {
      name: "an account that is there",
      bend: (good) => ({ ...good, accounts: [solana, ethereum] }),
      refusal: exists(/^path already exists in wallet account [0-9a-f-]{36}$/),
      kept: "FAILED",
    },
  ],
  foreign: [{ name: "a wallet", bend: (good, { walletId }) => ({ ...good, walletId }), refusal: noSuchWallet }],
  also: {
    "what is not to be kept is told alone, and the same when it is": async (fixture) => {
      const { walletId } = await newWallet(fixture, fixture.place, []);
      const told = await fixture.done("create_wallet_accounts", { walletId, accounts: [ethereum], persist: false });
      assert.deepEqual((await fixture.ask("list_wallet_accounts", { walletId })).accounts, []);
      const kept = await fixture.done("create_wallet_accounts", { walletId, accounts: [ethereum] });
      assert.deepEqual(kept, told);
    },
    "the account that is there is named": async (fixture) => {
      const { walletId, walletAccountId } = await newAccount(fixture);
      const answer = await fixture.submit("create_wallet_accounts", { walletId, accounts: [ethereum] });
      assertRefused(answer, exists(`path already exists in wallet account ${walletAccountId}`));
    },
  },
});

type AccountDeletion = { walletAccountIds: string[]; deleteWithoutExport?: boolean };

export const deleteWalletAccounts = activityEntry<AccountDeletion>({
  good: async (fixture) => ({
    walletAccountIds: [
      (await newAccount(fixture)).walletAccountId,
      (await newAccount(fixture, fixture.place, solana)).walletAccountId,
    ],
    deleteWithoutExport: true,
  }),
  required: ["walletAccountIds"],
  result: ({ walletAccountIds }) => ({ walletAccountIds }),
  shows({ walletAccountIds }, { before, after }) {
    assert.deepEqual(
      after.accounts,
      before.accounts.filter(({ walletAccountId }) => !walletAccountIds.includes(walletAccountId)),
    );
    assert.deepEqual(after.wallets, before.wallets);
  },
  bad: [
    {
      name: "none",
      bend: () => ({ walletAccountIds: [] }),
      refusal: invalid("invalid request body: field `parameters.walletAccountIds` must not have fewer than 1 items"),
    },
    {
      name: "no UUID",
      bend: (good) => ({ ...good, walletAccountIds: ["x"] }),
      refusal: invalid("invalid wallet account UUID: `x`"),
      kept: "FAILED",
    },
    {
      name: "what nobody has exported",
      bend: ({ walletAccountIds }) => ({ walletAccountIds }),
      refusal: ({ walletAccountIds }) =>
        invalid(
          `wallet account has not been exported: \`${walletAccountIds[0]}\`; export it first, or set deleteWithoutExport`,
          "WALLET_ACCOUNT_NOT_EXPORTED",
        ),
      kept: "FAILED",
    },
  ],
  foreign: [
    {
      name: "an account",
      bend: ({ walletAccountIds: [one] }, { walletAccountId }) => ({
        walletAccountIds: [one, walletAccountId],
        deleteWithoutExport: true,
      }),
      refusal: ({ walletAccountId }) => invalid(`wallet account not part of your organization: \`${walletAccountId}\``),
    },
  ],
  also: {
    "it can be derived anew, with the same address": async (fixture) => {
      const { walletId, walletAccountId, address } = await newAccount(fixture);
      const walletAccountIds = [walletAccountId];
      await fixture.done("delete_wallet_accounts", { walletAccountIds, deleteWithoutExport: true });
      const { addresses } = await fixture.done("create_wallet_accounts", { walletId, accounts: [ethereum] });
      assert.deepEqual(addresses, [address]);
    },
  },
});

type AccountQuestion = { walletId: string; address: string; path: string };

export const getWalletAccount = queryEntry<AccountQuestion>({
  good: async (fixture, place) => {
    const { walletId, addresses } = await newWallet(fixture, place);
    return { walletId, address: addresses[0] ?? "", path: ethereum.path };
  },
  required: ["walletId"],
  answer: async ({ walletId, address }, { account, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    checkAccount(account, ethereum, { organizationId: fixture.place.organizationId, walletId, address });
    const { accounts } = await fixture.ask("list_wallet_accounts", { walletId });
    assert.deepEqual(account, byId(accounts, "address", address));
  },
  bad: [
    {
      name: "neither address nor path",
      bend: ({ walletId }) => ({ walletId }),
      refusal: invalid("invalid request body: missing field `address`"),
    },
    {
      name: "a path where there is nothing",
      bend: ({ walletId }) => ({ walletId, path: "m/1" }),
      refusal: notFound("Could not find wallet account with path: m/1"),
    },
    {
      name: "no path at all",
      bend: ({ walletId }) => ({ walletId, path: "x" }),
      refusal: invalid(badPath),
    },
    {
      name: "the address of one account and the path of another",
      bend: (good) => ({ ...good, path: solana.path }),
      refusal: ({ address }) => notFound(`Could not find wallet account with address: ${address}`),
    },
  ],
  foreign: [
    {
      name: "a wallet",
      bend: (_, { walletId }) => ({ walletId, path: ethereum.path }),
      refusal: () => notFound(`Could not find wallet account with path: ${ethereum.path}`),
    },
    {
      name: "an address",
      bend: ({ walletId }, { address }) => ({ walletId, address }),
      refusal: ({ address }) => notFound(`Could not find wallet account with address: ${address}`),
    },
  ],
  also: {
    "by address or path alone, in any spelling": async (fixture) => {
      const { walletId, addresses } = await newWallet(fixture);
      const [address = ""] = addresses;
      const asked = [
        { address },
        { address: address.toLowerCase() },
        { path: ethereum.path },
        { path: ethereum.path.replaceAll("'", "h") },
      ];
      for (const parameters of asked) {
        const { account } = await fixture.ask("get_wallet_account", { walletId, ...parameters });
        assert.equal(account.address, address);
      }
    },
  },
});

export const listWalletAccounts = queryEntry<Json>({
  good: async (fixture, place) => ({
    walletId: (await newWallet(fixture, place)).walletId,
    includeWalletDetails: true,
    paginationOptions: { limit: "10" },
  }),
  required: [],
  answer: async ({ walletId }, { accounts, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    const { wallet } = await fixture.ask("get_wallet", { walletId });
    const { organizationId } = fixture.place;
    assert.equal(accounts.length, 2);
    for (const asked of [ethereum, solana]) {
      const account = byId(accounts, "path", asked.path);
      checkAccount(account, asked, { organizationId, walletId, address: account.address, walletDetails: wallet });
    }
  },
  bad: [...badPages, ...foreignCursors(async (place, fixture) => (await newAccount(fixture, place)).walletAccountId)],
  foreign: [{ name: "a wallet", bend: (_, { walletId }) => ({ walletId }), refusal: noSuchWallet }],
  also: {
    "the oldest first, by pages, of one wallet or of all": async (fixture) => {
      const accounts = Array.from({ length: 12 }, (_, i) => ({ ...ethereum, path: `m/44'/60'/${i}'/0/0` }));
      const { walletId, addresses } = await newWallet(fixture, fixture.place, accounts);
      const list = async (parameters: object): Promise<Json[]> =>
        (await fixture.ask("list_wallet_accounts", parameters)).accounts;
      const all = await list({ walletId });
      const ids = (list: Json[]) => list.map(({ walletAccountId }) => walletAccountId);
      const page = (paginationOptions: object) => list({ walletId, paginationOptions }).then(ids);
      assert.deepEqual(
        all.map(({ address }) => address),
        addresses,
      );
      assert.ok(all.every(({ walletDetails }) => walletDetails === undefined));
      assert.deepEqual(await page({}), ids(all).slice(0, 10));
      assert.deepEqual(await page({ limit: "5" }), ids(all).slice(0, 5));
      assert.deepEqual(await page({ limit: "5", after: all[4]?.walletAccountId }), ids(all).slice(5, 10));
      assert.deepEqual(await page({ limit: "5", after: all[11]?.walletAccountId }), []);
      assert.deepEqual(ids(await list({})).slice(-12), ids(all));
      // Of another wallet, it is in no page of this one.
      const after = (await newAccount(fixture)).walletAccountId;
      const { place } = fixture;
      const answer = await fixture.send({
        kind: "query",
        path: "list_wallet_accounts",
        key: place.root.p256,
        body: { organizationId: place.organizationId, walletId, paginationOptions: { after } },
      });
      assertRefused(answer, invalid(`invalid pagination cursor: there is no \`${after}\` in this list`));
    },
  },
});
