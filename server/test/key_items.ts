/** Records and what changes them, as commit items, for tests of the store. */
import { randomBytes, randomUUID } from "node:crypto";
import { type KeyFacts, put } from "../src/state/entities.ts";
import {
  encodeRecord,
  type KeyRecord,
  type KeyRecordKind,
  type PrivateKeyRecord,
  type WalletAccountRecord,
  type WalletRecord,
} from "../src/state/records.ts";
import type { CommitItem, NewRecordRow } from "../src/store/commit_item.ts";
import { nowMs, stateChange } from "./store_items.ts";

/** Its content with 32 bytes in the place of the MAC. */
export function row(record: KeyRecord, blindIndex?: string): NewRecordRow {
  return { content: Buffer.concat([encodeRecord(record), randomBytes(32)]), sealed: randomBytes(60), blindIndex };
}

export function wallet(organizationId: string, walletName: string): WalletRecord {
  const language = "MNEMONIC_LANGUAGE_ENGLISH";
  const walletId = randomUUID();
  return { kind: "wallet", organizationId, walletId, walletName, language, imported: false, createdAtMs: nowMs };
}

export function account(
  { organizationId, walletId, walletName, imported }: WalletRecord,
  changes: Partial<WalletAccountRecord> = {},
): WalletAccountRecord {
  return {
    kind: "walletAccount",
    organizationId,
    walletAccountId: randomUUID(),
    walletId,
    wallet: { walletName, imported },
    curve: "CURVE_SECP256K1",
    path: "m/44'/60'/0'/0/0",
    addressFormat: "ADDRESS_FORMAT_ETHEREUM",
    address: `0x${randomBytes(20).toString("hex")}`,
    publicKey: `02${randomBytes(32).toString("hex")}`,
    createdAtMs: nowMs,
    ...changes,
  };
}

export function privateKey(organizationId: string, privateKeyName: string): PrivateKeyRecord {
  const address = `0x${randomBytes(20).toString("hex")}`;
  return {
    kind: "privateKey",
    organizationId,
    privateKeyId: randomUUID(),
    privateKeyName,
    curve: "CURVE_SECP256K1",
    publicKey: `04${randomBytes(64).toString("hex")}`,
    addresses: [
      { format: "ADDRESS_FORMAT_ETHEREUM", address },
      { format: "ADDRESS_FORMAT_COMPRESSED", address: `02${randomBytes(32).toString("hex")}` },
    ],
    imported: true,
    createdAtMs: nowMs,
  };
}

/** An item that brings records into the world. */
export function bringing(organizationId: string, version: number, ...records: NewRecordRow[]): CommitItem {
  return stateChange(organizationId, version, { changes: [], records });
}

/** An item that changes key facts. */
export function changing(organizationId: string, version: number, ...facts: KeyFacts[]): CommitItem {
  return stateChange(organizationId, version, { changes: facts.map((each) => put("keyFacts", each)) });
}

export const facts = (kind: KeyRecordKind, id: string, change: Partial<KeyFacts>): KeyFacts => ({
  id,
  kind,
  updatedAtMs: nowMs + 7,
  ...change,
});
export const renamed = (kind: KeyRecordKind, id: string, name: string) => facts(kind, id, { name });
export const deleted = (kind: KeyRecordKind, id: string) => facts(kind, id, { deleted: true });
