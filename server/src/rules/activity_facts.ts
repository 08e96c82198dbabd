/** What policies are told about an activity: its type and parameters, the keys it uses, and the interfaces of contracts. */
import type { ActivityFacts, KeyView, WalletView } from "@keystead/core/policy/facts/condition_views.ts";
import type { ParsedInterface } from "@keystead/core/policy/interfaces/contract_interface.ts";
import type { ActivityForm, PolicySubject } from "../endpoints/define_activity.ts";
import type { Pages } from "../state/pages.ts";
import type { PrivateKeyRecord, WalletAccountRecord } from "../state/records.ts";
import { findInterfaceAt, interfacesAt } from "./contract_interfaces.ts";
import {
  findAccountByAddress,
  findPrivateKey,
  findSigningResource,
  findWallet,
  type KnownKeys,
  nameOf,
} from "./keys.ts";
import { tagsOf } from "./private_key_tags.ts";

/** Where the facts come from. */
export type FactSources = {
  pages: Pick<Pages, "privateKeyTags" | "contractInterfaces">;
  /** Asked for only when policies are. */
  keys(): KnownKeys;
  /** An interface that the state lists, read. */
  openInterface(interfaceId: string): ParsedInterface;
  /** Told of all interfaces that will be opened, before the first one is. */
  expectInterfaces?(interfaceIds: readonly string[]): void;
};

export function activityFacts(sources: FactSources, form: ActivityForm, params: unknown): ActivityFacts {
  const page = sources.pages.contractInterfaces;
  const subject = form.activity.policySubject?.(params as never);
  return {
    type: form.type,
    params: params as Readonly<Record<string, unknown>>,
    ...(subject !== undefined && keysOf(sources, subject)),
    findInterface(type, address) {
      const listed = findInterfaceAt(page, type, address);
      return listed && sources.openInterface(listed.interfaceId);
    },
    expectInterfaces(contracts) {
      sources.expectInterfaces?.(interfacesAt(page, contracts).map(({ interfaceId }) => interfaceId));
    },
  };
}

type KeyFactsOfActivity = Pick<ActivityFacts, "key" | "wallet" | "wallets">;

/** What is not there is not shown: policies that ask about it do not apply, and the activity itself will say what is missing. */
function keysOf(sources: FactSources, subject: PolicySubject): KeyFactsOfActivity {
  const keys = sources.keys();
  switch (subject.by) {
    case "signWith": {
      const found = findSigningResource(keys, subject.signWith);
      if (found === undefined) return {};
      const { record, addressFormat } = found;
      if (record.kind === "walletAccount") return { key: accountView(keys, record) };
      return { key: privateKeyView(sources, record, addressFormat) };
    }
    case "account": {
      const account = findAccountByAddress(keys, subject.address);
      return account === undefined ? {} : { key: accountView(keys, account) };
    }
    case "privateKey": {
      const privateKey = findPrivateKey(keys, subject.privateKeyId);
      return privateKey === undefined ? {} : { key: privateKeyView(sources, privateKey, undefined) };
    }
    case "wallet": {
      const [wallet] = walletViews(keys, [subject.walletId]);
      return wallet === undefined ? {} : { wallet };
    }
    case "wallets":
      return { wallets: walletViews(keys, subject.walletIds) };
  }
}

function walletViews(keys: KnownKeys, walletIds: readonly string[]): WalletView[] {
  return walletIds.flatMap((walletId) => {
    const wallet = findWallet(keys, walletId);
    return wallet === undefined ? [] : [walletView(keys, walletId, wallet)];
  });
}

function walletView(keys: KnownKeys, walletId: string, born: { walletName: string; imported: boolean }): WalletView {
  const facts = keys.factsOf(walletId);
  return {
    walletId,
    walletName: facts?.name ?? born.walletName,
    imported: born.imported,
    exported: facts?.exported === true,
  };
}

function accountView(keys: KnownKeys, record: WalletAccountRecord): KeyView {
  const { address, addressFormat, path, curve, publicKey } = record;
  const wallet = walletView(keys, record.walletId, record.wallet);
  return { kind: "walletAccount", wallet, address, addressFormat, path, curve, publicKey };
}

function privateKeyView(
  { pages, keys }: FactSources,
  record: PrivateKeyRecord,
  addressFormat: WalletAccountRecord["addressFormat"] | undefined,
): KeyView {
  const { privateKeyId, imported, curve, publicKey, addresses } = record;
  const address = addresses.find(({ format }) => format === addressFormat)?.address;
  return {
    kind: "privateKey",
    privateKeyId,
    privateKeyName: nameOf(keys(), record) ?? "",
    tags: tagsOf(pages.privateKeyTags, privateKeyId),
    imported,
    exported: keys().factsOf(privateKeyId)?.exported === true,
    ...(addressFormat !== undefined && { addressFormat }),
    ...(address !== undefined && { address }),
    curve,
    publicKey,
  };
}
