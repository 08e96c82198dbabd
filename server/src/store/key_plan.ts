/** What one group does to an organization's keys, before anything is written. */
import type { PrivateKeyTag } from "../state/entities.ts";
import type { KeyRecordKind } from "../state/records.ts";
import type { Tables } from "./tables.ts";

/** A row that comes into the world, and where it belongs. */
export type NewKeyRow =
  | { kind: "wallet"; id: string; row: Tables["wallets"] }
  | { kind: "walletAccount"; id: string; row: Tables["wallet_accounts"] }
  | { kind: "privateKey"; id: string; row: Tables["private_keys"] };

/** What becomes of a row that is there: deleted, or some of its columns changed. */
export type KeyRowChange = {
  readonly id: string;
  readonly kind: KeyRecordKind;
  readonly deleted: boolean;
  readonly columns: Readonly<Record<string, string | number>>;
};

export type KeyClaims = {
  /** Names, places and secrets that the group gives, and to whom. */
  readonly taken: Map<string, string>;
  /** Whose name, place or secret may be free from now on. What it was is not known here, so it may be anything. */
  readonly freed: Map<KeyRecordKind, Set<string>>;
  /** Something is taken after something was freed. If it is the same, a statement that does both may not see it as free. */
  isMixed: boolean;
};

/** What one group does to an organization's keys: new rows in their last form, and changes of rows that are there. */
export type KeyPlan = {
  readonly wallets: Map<string, Tables["wallets"]>;
  readonly accounts: Map<string, Tables["wallet_accounts"]>;
  readonly privateKeys: Map<string, Tables["private_keys"]>;
  readonly changed: Map<string, KeyRowChange>;
  /** Undefined: to be deleted. */
  readonly tags: Map<string, PrivateKeyTag | undefined>;
  readonly claims: KeyClaims;
};

export function newKeyPlan(): KeyPlan {
  return {
    wallets: new Map(),
    accounts: new Map(),
    privateKeys: new Map(),
    changed: new Map(),
    tags: new Map(),
    claims: { taken: new Map(), freed: new Map(), isMixed: false },
  };
}

export function isEmptyKeyPlan({ wallets, accounts, privateKeys, changed, tags }: KeyPlan): boolean {
  return wallets.size + accounts.size + privateKeys.size + changed.size + tags.size === 0;
}
