/** Parameters of wallets and private keys, and how the matrix makes those that an endpoint then works on. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { Fixture, Json } from "./fixture.ts";
import type { Place } from "./stage.ts";

export const ethereum = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
} as const;

export const solana = {
  curve: "CURVE_ED25519",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/501'/0'/0'",
  addressFormat: "ADDRESS_FORMAT_SOLANA",
} as const;

export type AccountParams = {
  curve: string;
  pathFormat: string;
  path: string;
  addressFormat: string;
  name?: string;
};

export type NewWallet = { walletId: string; addresses: string[] };

export function newWallet(
  fixture: Fixture,
  place: Place = fixture.place,
  accounts: readonly AccountParams[] = [ethereum, solana],
): Promise<NewWallet> {
  const parameters = { walletName: `Wallet ${randomUUID()}`, accounts };
  return fixture.done("create_wallet", parameters, place.root, place) as Promise<NewWallet>;
}

export type NewAccount = { walletId: string; walletAccountId: string; address: string; publicKey: string };

/** The account of a new wallet. */
export async function newAccount(
  fixture: Fixture,
  place: Place = fixture.place,
  account: AccountParams = ethereum,
): Promise<NewAccount> {
  const { walletId } = await newWallet(fixture, place, [account]);
  const { accounts } = await fixture.ask("list_wallet_accounts", { walletId }, place.root, place);
  assert.equal(accounts.length, 1);
  return accounts[0];
}

export type KeyParams = {
  privateKeyName: string;
  curve: string;
  privateKeyTags: string[];
  addressFormats: string[];
};

export function privateKeyParams(more: Partial<KeyParams> = {}): KeyParams {
  return {
    privateKeyName: `Private key ${randomUUID()}`,
    curve: "CURVE_SECP256K1",
    privateKeyTags: [],
    addressFormats: ["ADDRESS_FORMAT_ETHEREUM"],
    ...more,
  };
}

export async function newPrivateKey(
  fixture: Fixture,
  place: Place = fixture.place,
  more: Partial<KeyParams> = {},
): Promise<string> {
  const parameters = { privateKeys: [privateKeyParams(more)] };
  const { privateKeys } = await fixture.done("create_private_keys", parameters, place.root, place);
  return privateKeys[0].privateKeyId;
}

export async function newPrivateKeyTag(
  fixture: Fixture,
  privateKeyIds: string[] = [],
  place: Place = fixture.place,
): Promise<string> {
  const parameters = { privateKeyTagName: `Tag ${randomUUID()}`, privateKeyIds };
  return (await fixture.done("create_private_key_tag", parameters, place.root, place)).privateKeyTagId;
}

/** Those of a list that are in another one, by what `key` names. */
export function added(before: readonly Json[], after: readonly Json[], key: string): Json[] {
  const known = new Set(before.map((each) => each[key]));
  return after.filter((each) => !known.has(each[key]));
}
