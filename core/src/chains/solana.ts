/**
 * Solana transactions on the wire: signature slots and a message, in its legacy form or as version 0 with address
 * lookup tables. The rules are the runtime's own (`sanitize`), so that what we sign means what a policy read in it.
 */

import { sameBytes } from "../encoding/bytes.ts";
import { countedBytes, countedList } from "../encoding/compact_size.ts";
import { compactU16 } from "../encoding/compact_u16.ts";
import { toHex } from "../encoding/hex.ts";
import { decode, encode, fixed, type Layout, struct, u8 } from "../encoding/layout.ts";
import { Fault } from "../fault.ts";
import { parseStrictly, type TransactionFormat, unparsable } from "./strict_parsing.ts";

/** A call of a program. Accounts are indexes: first into the keys, then into what the tables give. */
export type SolanaInstruction = { programIndex: number; accounts: Uint8Array; data: Uint8Array };

/** Accounts that stand in a table on the chain; only the network knows which they are. */
export type SolanaTableLookup = { tableKey: Uint8Array; writableIndexes: Uint8Array; readonlyIndexes: Uint8Array };

export type SolanaMessage = {
  version: "legacy" | 0;
  /** The first so many keys sign. */
  requiredSignatures: number;
  /** The last so many of those, and of the others, are only read. */
  readonlySigned: number;
  readonlyUnsigned: number;
  accountKeys: readonly Uint8Array[];
  recentBlockhash: Uint8Array;
  instructions: readonly SolanaInstruction[];
  addressTableLookups: readonly SolanaTableLookup[];
};

export type SolanaTransaction = {
  /** One slot of 64 bytes per signing key, zero until it is filled. */
  signatures: readonly Uint8Array[];
  message: SolanaMessage;
};

const key = fixed(32);
const signature = fixed(64);
const shortBytes = countedBytes(compactU16);

const legacyMessage = struct({
  requiredSignatures: u8,
  readonlySigned: u8,
  readonlyUnsigned: u8,
  accountKeys: countedList(compactU16, key),
  recentBlockhash: key,
  instructions: countedList(compactU16, struct({ programIndex: u8, accounts: shortBytes, data: shortBytes })),
});

const lookups = countedList(
  compactU16,
  struct({ tableKey: key, writableIndexes: shortBytes, readonlyIndexes: shortBytes }),
);

/** No legacy message begins with this bit, as it would ask for more than 127 signatures. */
const versionMark = 0x80;

const message: Layout<SolanaMessage> = {
  write(out, value) {
    if (value.version === 0) u8.write(out, versionMark);
    legacyMessage.write(out, value);
    if (value.version === 0) lookups.write(out, value.addressTableLookups);
  },
  read(from) {
    const first = from.bytes[from.at] ?? 0;
    if (first < versionMark) return { version: "legacy", ...legacyMessage.read(from), addressTableLookups: [] };
    if (first !== versionMark) throw unparsable(`message version ${first - versionMark} is not supported`);
    from.at++;
    return { version: 0, ...legacyMessage.read(from), addressTableLookups: lookups.read(from) };
  },
};

const transaction: Layout<SolanaTransaction> = struct({ signatures: countedList(compactU16, signature), message });

/** Three times what fits into a packet today. */
const format: TransactionFormat<SolanaTransaction> = { maxLength: 4096, read, serialise: serialiseSolana };

/** Reads a transaction with its signature slots, or refuses it with the reason. */
export function parseSolana(bytes: Uint8Array): SolanaTransaction {
  return parseStrictly(bytes, format);
}

function read(bytes: Uint8Array): SolanaTransaction {
  const value = decode(transaction, bytes);
  check(value);
  return value;
}

function check({
  signatures,
  message: { accountKeys, instructions, addressTableLookups, ...header },
}: SolanaTransaction): void {
  const { requiredSignatures, readonlySigned, readonlyUnsigned } = header;
  const keys = accountKeys.length;
  if (signatures.length !== requiredSignatures) {
    throw unparsable(`${signatures.length} signature slots where ${requiredSignatures} keys sign`);
  }
  // The first key pays the fee, so it is written to.
  if (readonlySigned >= requiredSignatures) throw unparsable("nobody pays the fee");
  if (requiredSignatures + readonlyUnsigned > keys) throw unparsable("fewer accounts than its header says");
  if (new Set(accountKeys.map(toHex)).size !== keys) throw unparsable("an account twice");
  if (addressTableLookups.some((table) => table.writableIndexes.length + table.readonlyIndexes.length === 0)) {
    throw unparsable("an address table that is not used");
  }
  const accounts = keys + addressTableLookups.reduce((sum, table) => sum + lookedUp(table), 0);
  if (accounts > 256) throw unparsable("over 256 accounts");
  for (const instruction of instructions) {
    // A program from a table would be one that no policy can name.
    if (instruction.programIndex === 0 || instruction.programIndex >= keys)
      throw unparsable("a program that is not among its keys");
    if (instruction.accounts.some((index) => index >= accounts))
      throw unparsable("an instruction with an unknown account");
  }
}

function lookedUp({ writableIndexes, readonlyIndexes }: SolanaTableLookup): number {
  return writableIndexes.length + readonlyIndexes.length;
}

/** The bytes of a transaction. */
export function serialiseSolana(value: SolanaTransaction): Uint8Array<ArrayBuffer> {
  return encode(transaction, value);
}

/** What every signing key signs, as it is and not a hash of it. */
export function solanaMessage(value: SolanaTransaction): Uint8Array<ArrayBuffer> {
  return encode(message, value.message);
}

/** Which slot belongs to this key; refuses a key that the transaction does not ask for. */
export function getSolanaSlot(
  { message: { accountKeys, requiredSignatures } }: SolanaTransaction,
  publicKey: Uint8Array,
): number {
  const slot = accountKeys.slice(0, requiredSignatures).findIndex((account) => sameBytes(account, publicKey));
  if (slot < 0) throw unparsable("the signing key is not among its signers");
  return slot;
}

/** The transaction with the key's slot filled; other slots stay as they came. */
export function withSolanaSignature(
  value: SolanaTransaction,
  publicKey: Uint8Array,
  bytes: Uint8Array,
): Uint8Array<ArrayBuffer> {
  if (bytes.length !== 64) throw new Fault("internal", "unusable signature: an Ed25519 signature has 64 bytes");
  return serialiseSolana({ ...value, signatures: value.signatures.with(getSolanaSlot(value, publicKey), bytes) });
}
