/** The records that a replay has made so far on one line of states, found as a gateway finds them. */
import { isSameAddress } from "@keystead/core/keys/address_formats.ts";
import { foldName } from "../fields/names.ts";
import type { StoredRecord } from "../frames/messages.ts";
import { withoutMac } from "../state/authenticity.ts";
import type { RecordWish } from "../state/record_wish.ts";
import { type AnyRecord, decodeRecord, isKeyRecord, recordIdOf } from "../state/records.ts";

export type RecordShelf = {
  readonly size: number;
  add(record: StoredRecord): void;
  /** From now on it has this name, too. */
  rename(id: string, name: string): void;
  /** Takes back all that came after the first so many. */
  cut(size: number): void;
  /** Whatever may be meant, and a little more: the signer compares for itself. */
  find(wishes: readonly RecordWish[]): StoredRecord[];
  /** The keys among them, as they were made. */
  keys(): AnyRecord[];
};

type Shelved = { record: AnyRecord; stored: StoredRecord };

export function createRecordShelf(): RecordShelf {
  const all: Shelved[] = [];
  const byId = new Map<string, Shelved>();
  /** By every name that it ever had. */
  const byName = new Map<string, Set<string>>();

  function name(id: string, text: string | undefined): void {
    if (text === undefined) return;
    const key = foldName(text);
    byName.set(key, (byName.get(key) ?? new Set()).add(id));
  }

  function find(wish: RecordWish): readonly (Shelved | undefined)[] {
    if (wish.by === "id") return [byId.get(wish.id)];
    if (wish.by === "name") return [...(byName.get(foldName(wish.name)) ?? [])].map((id) => byId.get(id));
    if (wish.by === "place") return all.filter(({ record }) => isOfWallet(record, wish.walletId));
    if (wish.by === "blindIndex") return [];
    const named = wish.by === "address" ? wish.address : wish.signWith;
    return [byId.get(named.toLowerCase()), ...all.filter(({ record }) => hasAddress(record, named))];
  }

  return {
    get size() {
      return all.length;
    },
    add(stored) {
      const shelved = { record: decodeRecord(withoutMac(stored.content)), stored };
      all.push(shelved);
      const id = idOf(shelved.record);
      byId.set(id, shelved);
      name(id, nameOf(shelved.record));
    },
    rename: name,
    cut(size) {
      for (const { record } of all.splice(size)) byId.delete(idOf(record));
    },
    find(wishes) {
      const found = new Set(wishes.flatMap(find));
      return [...found].flatMap((each) => (each === undefined ? [] : each.stored));
    },
    keys: () => all.map(({ record }) => record).filter(isKeyRecord),
  };
}

function idOf(record: AnyRecord): string {
  if (isKeyRecord(record)) return recordIdOf(record);
  return record.kind === "otpCode" ? record.otpId : record.interfaceId;
}

function nameOf(record: AnyRecord): string | undefined {
  if (record.kind === "wallet") return record.walletName;
  if (record.kind === "privateKey") return record.privateKeyName;
  return record.kind === "walletAccount" ? record.name : undefined;
}

function isOfWallet(record: AnyRecord, walletId: string): boolean {
  return record.kind === "walletAccount" && record.walletId === walletId;
}

function hasAddress(record: AnyRecord, named: string): boolean {
  if (record.kind === "walletAccount") return isSameAddress(record.addressFormat, named, record.address);
  if (record.kind !== "privateKey") return false;
  return record.addresses.some(({ format, address }) => isSameAddress(format, named, address));
}
