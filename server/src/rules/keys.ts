/**
 * Records as activities look at them: with the key facts over them. The gateway found them by its tables; whether one is what
 * the parameters mean is decided here, by its own content. A deleted one is as good as none, whoever still has its row.
 */
import { isUuid } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { isSameAddress } from "@keystead/core/keys/address_formats.ts";
import type { KeyAccess } from "../endpoints/key_access.ts";
import { foldName } from "../fields/names.ts";
import { createAside } from "../state/aside.ts";
import type { KeyFacts } from "../state/entities.ts";
import {
  type KeyRecord,
  type PrivateKeyRecord,
  recordIdOf,
  type WalletAccountRecord,
  type WalletRecord,
} from "../state/records.ts";

/** What a decision knows of keys: the records at hand and what became of them. Queries have it too. */
export type KnownKeys = Pick<KeyAccess, "records" | "factsOf">;

/** Whether it is there: neither deleted itself nor, for an account, with its wallet. */
export function isLive({ factsOf }: Pick<KnownKeys, "factsOf">, record: KeyRecord): boolean {
  if (factsOf(recordIdOf(record))?.deleted === true) return false;
  return record.kind !== "walletAccount" || factsOf(record.walletId)?.deleted !== true;
}

/** Of the records at hand, by kind and id, the first of each: a thousand may be looked for among a thousand. */
const byId = createAside<readonly KeyRecord[], ReadonlyMap<string, KeyRecord>>();

function findLiveById<K extends KeyRecord["kind"]>(
  keys: KnownKeys,
  kind: K,
  id: string,
): Extract<KeyRecord, { kind: K }> | undefined {
  const { records } = keys;
  let known = byId.get(records);
  if (known === undefined) {
    known = new Map(records.toReversed().map((record) => [`${record.kind} ${recordIdOf(record)}`, record]));
    byId.set(records, known);
  }
  const record = known.get(`${kind} ${id}`);
  return record !== undefined && isLive(keys, record) ? (record as Extract<KeyRecord, { kind: K }>) : undefined;
}

function findLive<K extends KeyRecord["kind"]>(
  keys: KnownKeys,
  kind: K,
  fits: (record: Extract<KeyRecord, { kind: K }>) => boolean,
): Extract<KeyRecord, { kind: K }> | undefined {
  for (const record of keys.records) {
    if (record.kind !== kind) continue;
    const own = record as Extract<KeyRecord, { kind: K }>;
    if (fits(own) && isLive(keys, record)) return own;
  }
  return undefined;
}

export function findWallet(keys: KnownKeys, walletId: string): WalletRecord | undefined {
  return findLiveById(keys, "wallet", walletId);
}

export function getWallet(keys: KnownKeys, organizationId: string, walletId: string): WalletRecord {
  const wallet = findWallet(keys, walletId);
  if (wallet === undefined) {
    throw new Fault("not_found", `unable to find wallet ${walletId} in organization ${organizationId}`);
  }
  return wallet;
}

export function findAccount(keys: KnownKeys, walletAccountId: string): WalletAccountRecord | undefined {
  return findLiveById(keys, "walletAccount", walletAccountId);
}

export function findPrivateKey(keys: KnownKeys, privateKeyId: string): PrivateKeyRecord | undefined {
  return findLiveById(keys, "privateKey", privateKeyId);
}

export function findAccountByAddress(keys: KnownKeys, address: string): WalletAccountRecord | undefined {
  return findLive(keys, "walletAccount", (account) => isSameAddress(account.addressFormat, address, account.address));
}

/** What signs, and as which address format; none when a private key was named by its id. */
export type SigningResource =
  | { record: WalletAccountRecord; addressFormat: WalletAccountRecord["addressFormat"] }
  | { record: PrivateKeyRecord; addressFormat: WalletAccountRecord["addressFormat"] | undefined };

/** The account or private key behind `signWith`: an address, or the id of a private key. */
export function findSigningResource(keys: KnownKeys, signWith: string): SigningResource | undefined {
  const account = findAccountByAddress(keys, signWith);
  if (account !== undefined) return { record: account, addressFormat: account.addressFormat };
  for (const record of keys.records) {
    if (record.kind !== "privateKey" || !isLive(keys, record)) continue;
    if (isUuid(signWith) && record.privateKeyId === signWith.toLowerCase()) return { record, addressFormat: undefined };
    const own = record.addresses.find(({ format, address }) => isSameAddress(format, signWith, address));
    if (own !== undefined) return { record, addressFormat: own.format };
  }
  return undefined;
}

export function getSigningResource(keys: KnownKeys, signWith: string): SigningResource {
  const found = findSigningResource(keys, signWith);
  if (found === undefined) throw new Fault("not_found", "Could not find any resource to sign with.");
  return found;
}

/** The name it bears now. */
export function nameOf(keys: KnownKeys, record: KeyRecord): string | undefined {
  const renamed = keys.factsOf(recordIdOf(record))?.name;
  if (renamed !== undefined) return renamed;
  if (record.kind === "wallet") return record.walletName;
  return record.kind === "privateKey" ? record.privateKeyName : record.name;
}

const labels = { wallet: "wallet", walletAccount: "wallet account", privateKey: "private key" } as const;

/** Names are unique per kind. `taken` are those the activity itself gives; `except` may keep its own. */
export function refuseTakenName(
  keys: KnownKeys,
  kind: KeyRecord["kind"],
  name: string,
  { taken = [], except }: { taken?: readonly string[]; except?: string } = {},
): void {
  const wanted = foldName(name);
  const holder = findLive(keys, kind, (record) => {
    const own = nameOf(keys, record);
    return own !== undefined && foldName(own) === wanted && recordIdOf(record) !== except;
  });
  if (holder !== undefined || taken.some((other) => foldName(other) === wanted)) {
    throw takenName(kind, name);
  }
}

export function takenName(kind: KeyRecord["kind"], name: string): Fault {
  return new Fault("invalid_argument", `${labels[kind]} label must be unique: \`${name}\` exists`);
}

/** Its facts with something changed. */
export function changedFacts(
  keys: KnownKeys,
  record: KeyRecord,
  change: Partial<Omit<KeyFacts, "id" | "kind">>,
  nowMs: number,
): KeyFacts {
  const id = recordIdOf(record);
  return { ...keys.factsOf(id), ...change, id, kind: record.kind, updatedAtMs: nowMs };
}

/** All that is kept of a key that is deleted: that it was there, so that no old row brings it back. */
export function deletedFacts(record: KeyRecord, nowMs: number): KeyFacts {
  return { id: recordIdOf(record), kind: record.kind, deleted: true, updatedAtMs: nowMs };
}
