/**
 * What is made once and never changes: wallets, their accounts, private keys, texts of contract interfaces, one-time codes. A record is JSON
 * text with a MAC of its own; beside that of a key lies a sealed secret that opens for this very record only. What can change
 * about it, or must not come back, is state. Layout: SPEC.md in this folder.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { AddressFormat } from "@keystead/core/keys/address_formats.ts";
import type { Curve } from "@keystead/core/keys/key_curves.ts";
import type { MnemonicLanguage } from "@keystead/core/keys/word_lists.ts";
import type { OtpCodeRecord } from "./otp_code_record.ts";

/** What binds a key's record to its secret. Records from before there were tags have none. */
type KeyBinding = {
  /** Hex of a MAC over organization, kind and secret. It is part of the id, and is checked whenever the secret is opened. */
  tag?: string;
  /** The leaf of the activity that made it: a record counts once that leaf is released. */
  madeIn?: { boot: string; number: number };
};

/** Its secret: entropy, and the passphrase if it was imported with one. */
export type WalletRecord = KeyBinding & {
  kind: "wallet";
  organizationId: string;
  walletId: string;
  walletName: string;
  language: MnemonicLanguage;
  imported: boolean;
  createdAtMs: number;
};

/** Its secret: the scalar or seed of its own path, so that signing need not derive. */
export type WalletAccountRecord = KeyBinding & {
  kind: "walletAccount";
  organizationId: string;
  walletAccountId: string;
  walletId: string;
  /** What is asked about its wallet: every signature would otherwise fetch a second record. What changed since is in the facts. */
  wallet: Pick<WalletRecord, "walletName" | "imported">;
  curve: Curve;
  /** As the caller wrote it. */
  path: string;
  addressFormat: AddressFormat;
  address: string;
  /** Hex, compressed. */
  publicKey: string;
  name?: string;
  createdAtMs: number;
};

/** Its secret: the scalar or seed. */
export type PrivateKeyRecord = KeyBinding & {
  kind: "privateKey";
  organizationId: string;
  privateKeyId: string;
  privateKeyName: string;
  curve: Curve;
  /** Hex, uncompressed where the curve has that. */
  publicKey: string;
  addresses: readonly { format: AddressFormat; address: string }[];
  imported: boolean;
  createdAtMs: number;
};

export type KeyRecord = WalletRecord | WalletAccountRecord | PrivateKeyRecord;
export type KeyRecordKind = KeyRecord["kind"];

/** No secret, only too long for a page. Whether it counts, and for which contract, is in the page of the interfaces. */
export type ContractInterfaceRecord = {
  kind: "contractInterface";
  organizationId: string;
  interfaceId: string;
  /** The ABI or IDL, byte for byte as it came. */
  text: string;
};

/** Records without a secret. */
export type TextRecord = ContractInterfaceRecord;

export type AnyRecord = KeyRecord | TextRecord | OtpCodeRecord;
export type RecordKind = AnyRecord["kind"];

/** By kind, the field that holds the id of the entity that a text belongs to. */
export const textRecordKinds = {
  contractInterface: "interfaceId",
} as const satisfies { [K in TextRecord["kind"]]: keyof Extract<TextRecord, { kind: K }> };

const keyRecordKinds = { wallet: true, walletAccount: true, privateKey: true } as const satisfies Record<
  KeyRecordKind,
  true
>;

/** Whether a secret belongs to it. */
export function isKeyRecord(record: AnyRecord): record is KeyRecord {
  return Object.hasOwn(keyRecordKinds, record.kind);
}

/** Before keys had tags; texts of interfaces have none. */
const plainFormat = 1;
/** A version that does not know tags would not check them: it must not read these. */
const boundFormat = 2;

export function recordIdOf(record: KeyRecord): string {
  if (record.kind === "wallet") return record.walletId;
  return record.kind === "walletAccount" ? record.walletAccountId : record.privateKeyId;
}

/** The record with the leaf that it comes with. */
export function withLeaf<R extends KeyRecord>(record: R, boot: Uint8Array, number: number): R {
  return { ...record, madeIn: { boot: toHex(boot), number } };
}

export function encodeRecord(record: AnyRecord): Uint8Array<ArrayBuffer> {
  const format = isBound(record) ? boundFormat : plainFormat;
  return Buffer.from(JSON.stringify({ format, record })) as Buffer<ArrayBuffer>;
}

/** Reads a record whose MAC has been checked, or one a reader takes as it is. */
export function decodeRecord(bytes: Uint8Array): AnyRecord {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  const json = JSON.parse(text) as { format: number; record: AnyRecord };
  const { format, record } = json;
  if (format !== plainFormat && format !== boundFormat) {
    throw new Fault("failed_precondition", `unknown format ${format} of a record`);
  }
  if (isBound(record) !== (format === boundFormat)) {
    throw new Fault("failed_precondition", `a record of format ${format} has the fields of another`);
  }
  return record;
}

function isBound(record: AnyRecord): boolean {
  return isKeyRecord(record) && record.tag !== undefined && record.madeIn !== undefined;
}
