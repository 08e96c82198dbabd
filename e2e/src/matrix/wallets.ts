/** create_wallet, update_wallet, delete_wallets, and what reads wallets. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { exhausted, invalid, notFound } from "../refusals.ts";
import { assertRefused } from "../wire.ts";
import { activityEntry, type BadInput, queryEntry } from "./entry.ts";
import { badName, noSuchWallet } from "./faults.ts";
import type { Json } from "./fixture.ts";
import { type AccountParams, added, ethereum, newWallet, solana } from "./keys.ts";
import { limits } from "./limits.ts";
import { byId } from "./people.ts";
import { badAccounts, checkAccount, repeatedAccounts, requiredOfAccounts } from "./wallet_accounts.ts";

export const badWalletNames: BadInput<Json>[] = [
  {
    name: "an empty name",
    bend: (good) => ({ ...good, walletName: "" }),
    refusal: invalid("invalid request body: field `parameters.walletName` must not have fewer than 1 characters"),
  },
  {
    name: "a name with a line break",
    bend: (good) => ({ ...good, walletName: "a\nb" }),
    refusal: invalid(`invalid request body: field \`parameters.walletName\` ${badName}`),
  },
  {
    name: "a name that exists, in other letters",
    bend: async (good, fixture) => {
      const walletName = `taken ${randomUUID()}`;
      await fixture.done("create_wallet", { walletName, accounts: [] });
      return { ...good, walletName: walletName.toUpperCase() };
    },
    refusal: ({ walletName }) => invalid(`wallet label must be unique: \`${walletName}\` exists`),
    kept: "FAILED",
  },
];

/** What of a new wallet everybody sees. */
export function checkNewWallet(
  { walletName, accounts }: { walletName: string; accounts: AccountParams[] },
  { before, after, result }: { before: Json; after: Json; result: Json },
  organizationId: string,
  imported: boolean,
): void {
  const [wallet, ...others] = added(before.wallets, after.wallets, "walletId");
  assert.deepEqual(others, []);
  const { createdAt, updatedAt, ...rest } = wallet;
  const { walletId, addresses } = result;
  assert.deepEqual(rest, { walletId, walletName, exported: false, imported });
  assert.deepEqual(createdAt, updatedAt);
  const shown = added(before.accounts, after.accounts, "walletAccountId");
  assert.equal(shown.length, accounts.length);
  for (const [index, asked] of accounts.entries()) {
    const address = addresses[index];
    checkAccount(byId(shown, "address", address), asked, { organizationId, walletId, address });
  }
}

type WalletParams = { walletName: string; accounts: AccountParams[]; mnemonicLength?: number };

export const createWallet = activityEntry<WalletParams>({
  good: () => ({
    walletName: `Wallet ${randomUUID()}`,
    accounts: [{ ...ethereum, name: `Account ${randomUUID()}` }, solana],
    mnemonicLength: 24,
  }),
  required: ["walletName", "accounts", ...requiredOfAccounts],
  result: (_, { before, after, result }) => {
    assert.match(result.addresses[0], /^0x[0-9a-fA-F]{40}$/);
    assert.match(result.addresses[1], /^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
    const [{ walletId }] = added(before.wallets, after.wallets, "walletId") as [Json];
    return { walletId, addresses: result.addresses };
  },
  shows: (sent, seen, { place }) => checkNewWallet(sent, seen, place.organizationId, false),
  bad: [
    ...badWalletNames,
    ...badAccounts,
    ...repeatedAccounts,
    ...[0, 11, 13, 25].map((mnemonicLength) => ({
      name: `${mnemonicLength} words`,
      bend: (good: WalletParams) => ({ ...good, mnemonicLength }),
      refusal: invalid("invalid request body: field `parameters.mnemonicLength` must be one of 12, 15, 18, 21, 24"),
    })),
    {
      name: "more accounts than one request may ask for",
      bend: (good) => ({
        ...good,
        accounts: Array.from({ length: 101 }, (_, i) => ({ ...ethereum, path: `m/${i}` })),
      }),
      refusal: invalid("invalid request body: field `parameters.accounts` must not have more than 100 items"),
    },
  ],
  foreign: [],
  also: {
    "without accounts, and of every length": async (fixture) => {
      for (const mnemonicLength of [12, 15, 18, 21, 24]) {
        const walletName = `Wallet ${randomUUID()}`;
        const { addresses } = await fixture.done("create_wallet", { walletName, accounts: [], mnemonicLength });
        assert.deepEqual(addresses, []);
      }
    },
    "the last that fits, and one more": async (fixture) => {
      const limit = limits.walletsPerOrganization;
      const { wallets } = await fixture.ask("list_wallets");
      for (let count = wallets.length; count < limit; count++) await newWallet(fixture, fixture.place, []);
      const answer = await fixture.submit("create_wallet", { walletName: randomUUID(), accounts: [] });
      assertRefused(answer, exhausted(new RegExp(`^organization has reached its limit of ${limit} wallets; `)));
    },
  },
});

export const updateWallet = activityEntry<{ walletId: string; walletName?: string }>({
  good: async (fixture) => ({ walletId: (await newWallet(fixture)).walletId, walletName: `Renamed ${randomUUID()}` }),
  required: ["walletId"],
  result: ({ walletId }) => ({ walletId }),
  shows({ walletId, walletName }, { before, after }) {
    const renamed = { ...byId(before.wallets, "walletId", walletId), walletName };
    const { updatedAt } = byId(after.wallets, "walletId", walletId);
    assert.deepEqual(
      after.wallets,
      before.wallets.map((wallet) => (wallet.walletId === walletId ? { ...renamed, updatedAt } : wallet)),
    );
    assert.deepEqual(after.accounts, before.accounts);
  },
  bad: badWalletNames,
  foreign: [{ name: "a wallet", bend: (good, { walletId }) => ({ ...good, walletId }), refusal: noSuchWallet }],
  also: {
    "without a new name it keeps its own; its own in other letters is no other wallet's": async (fixture) => {
      const { walletId } = await newWallet(fixture);
      const nameOf = async () => (await fixture.ask("get_wallet", { walletId })).wallet.walletName;
      const before = await nameOf();
      await fixture.done("update_wallet", { walletId });
      assert.equal(await nameOf(), before);
      await fixture.done("update_wallet", { walletId, walletName: before.toUpperCase() });
      assert.equal(await nameOf(), before.toUpperCase());
    },
    "the name it had is free": async (fixture) => {
      const walletName = `Once ${randomUUID()}`;
      const { walletId } = await fixture.done("create_wallet", { walletName, accounts: [] });
      await fixture.done("update_wallet", { walletId, walletName: `Now ${randomUUID()}` });
      await fixture.done("create_wallet", { walletName, accounts: [] });
    },
  },
});

export const deleteWallets = activityEntry<{ walletIds: string[]; deleteWithoutExport?: boolean }>({
  good: async (fixture) => ({
    walletIds: [(await newWallet(fixture)).walletId, (await newWallet(fixture, fixture.place, [])).walletId],
    deleteWithoutExport: true,
  }),
  required: ["walletIds"],
  result: ({ walletIds }) => ({ walletIds }),
  shows({ walletIds }, { before, after }) {
    const stays = ({ walletId }: Json) => !walletIds.includes(walletId);
    assert.deepEqual(after.wallets, before.wallets.filter(stays));
    assert.deepEqual(after.accounts, before.accounts.filter(stays));
  },
  bad: [
    {
      name: "none",
      bend: () => ({ walletIds: [] }),
      refusal: invalid("invalid request body: field `parameters.walletIds` must not have fewer than 1 items"),
    },
    ...[undefined, false].map((deleteWithoutExport) => ({
      name: "what nobody has exported",
      bend: ({ walletIds }: { walletIds: string[] }) => ({
        walletIds,
        ...(deleteWithoutExport !== undefined && { deleteWithoutExport }),
      }),
      refusal: ({ walletIds }: Json) =>
        invalid(`wallet has not been exported: \`${walletIds[0]}\`; export it first, or set deleteWithoutExport`),
      kept: "FAILED" as const,
    })),
  ],
  foreign: [
    {
      name: "a wallet",
      bend: ({ walletIds: [one] }, { walletId }) => ({ walletIds: [one, walletId], deleteWithoutExport: true }),
      refusal: noSuchWallet,
    },
  ],
  also: {
    "what is deleted is nowhere, and its name is free": async (fixture) => {
      const walletName = `Once ${randomUUID()}`;
      const { walletId, addresses } = await fixture.done("create_wallet", { walletName, accounts: [ethereum] });
      const walletIds = [walletId];
      await fixture.done("delete_wallets", { walletIds, deleteWithoutExport: true });
      const again = await fixture.submit("delete_wallets", { walletIds, deleteWithoutExport: true });
      assertRefused(again, noSuchWallet({ walletId }, fixture.place));
      const signed = await fixture.submit("sign_raw_payload", {
        signWith: addresses[0],
        payload: "00".repeat(32),
        encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
        hashFunction: "HASH_FUNCTION_NO_OP",
      });
      assertRefused(signed, notFound("Could not find any resource to sign with."));
      await fixture.done("create_wallet", { walletName, accounts: [] });
    },
  },
});

export const getWallet = queryEntry<{ walletId: string }>({
  good: async (fixture, place) => ({ walletId: (await newWallet(fixture, place)).walletId }),
  required: ["walletId"],
  answer: async ({ walletId }, { wallet, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    const { wallets } = await fixture.ask("list_wallets");
    assert.deepEqual(wallet, byId(wallets, "walletId", walletId));
    assert.deepEqual([wallet.exported, wallet.imported], [false, false]);
  },
  bad: [],
  foreign: [{ name: "a wallet", bend: (_, { walletId }) => ({ walletId }), refusal: noSuchWallet }],
});

export const listWallets = queryEntry<object>({
  good: async (fixture, place) => {
    for (const walletName of ["First", "Second"]) {
      await fixture.done("create_wallet", { walletName, accounts: [] }, place.root, place);
    }
    return {};
  },
  required: [],
  answer: (_, { wallets, ...nothing }) => {
    assert.deepEqual(nothing, {});
    assert.deepEqual(wallets.map(({ walletName }: Json) => walletName).sort(), ["First", "Second"]);
  },
  bad: [],
  foreign: [],
});
