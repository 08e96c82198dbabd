/**
 * Unsigned transactions of the Tempo chain (type 0x76): several calls at once, fees in a token, optionally paid by
 * somebody else, optionally granting an access key. A sender leaves the choice of fee token to whoever pays the fee, so
 * with a fee payer the digest has a zero byte in place of their signature and no token.
 */
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Curves } from "../crypto/curves.ts";
import { fromRlp, type RlpItem } from "../encoding/rlp.ts";
import {
  asList,
  fixedString,
  integer,
  listOf,
  optionalString,
  type RlpLayout,
  string,
  tuple,
} from "../encoding/rlp_layout.ts";
import type { Work } from "../work.ts";
import { type AccessListEntry, accessList, address, enveloped, u64, u256 } from "./evm_items.ts";
import { checkSignature, type RecoverableSignature, toRsv } from "./signature.ts";
import { parseStrictly, parsingStrictly, pausing, type TransactionFormat, unparsable } from "./strict_parsing.ts";

/** One call; without `to` it creates a contract. */
export type TempoCall = { to: Uint8Array | undefined; value: bigint; data: Uint8Array };

/** Who pays the fee: the sender, somebody who will sign after us, or somebody who has signed. */
export type TempoFeePayer =
  | { kind: "sender" }
  | { kind: "awaited" }
  | { kind: "signed"; yParity: bigint; r: bigint; s: bigint };

/** Like EIP-7702's, but signed with any of the chain's signature types. */
export type TempoAuthorization = { chainId: bigint; address: Uint8Array; nonce: bigint; signature: Uint8Array };

/** Grants another key the use of the account. */
export type TempoKeyAuthorization = {
  chainId: bigint;
  /** 0 secp256k1, 1 P-256, 2 WebAuthn; the chain adds to them. */
  keyType: bigint;
  keyId: Uint8Array;
  /** Expiry, spending limits, permitted calls and what later versions add, in the chain's order. */
  terms: readonly RlpItem[];
  signature: Uint8Array | undefined;
};

export type TempoTransaction = {
  chainId: bigint;
  maxPriorityFeePerGas: bigint;
  maxFeePerGas: bigint;
  gas: bigint;
  calls: readonly TempoCall[];
  accessList: readonly AccessListEntry[];
  /** Which of the account's independent sequences `nonce` counts in. */
  nonceKey: bigint;
  nonce: bigint;
  /** Seconds since 1970; 0 when unset. */
  validBefore: bigint;
  validAfter: bigint;
  feeToken: Uint8Array | undefined;
  feePayer: TempoFeePayer;
  authorizationList: readonly TempoAuthorization[];
  keyAuthorization: TempoKeyAuthorization | undefined;
};

const prefix = 0x76;
const awaitedMark = Uint8Array.of(0);
const u128 = integer(16);

const feePayerSignature = tuple({ yParity: integer(1), r: u256, s: u256 });

const feePayer: RlpLayout<TempoFeePayer> = {
  read(item) {
    if (!(item instanceof Uint8Array)) return { kind: "signed", ...feePayerSignature.read(item) };
    if (item.length === 0) return { kind: "sender" };
    if (item.length === 1 && item[0] === 0) return { kind: "awaited" };
    throw unparsable("the fee payer is neither a signature nor a placeholder");
  },
  write(value) {
    if (value.kind === "signed") return feePayerSignature.write(value);
    return value.kind === "awaited" ? awaitedMark : new Uint8Array();
  },
};

const fields = tuple({
  chainId: u64,
  maxPriorityFeePerGas: u128,
  maxFeePerGas: u128,
  gas: u64,
  calls: listOf(tuple({ to: optionalString(20), value: u256, data: string })),
  accessList,
  nonceKey: u256,
  nonce: u64,
  validBefore: u64,
  validAfter: u64,
  feeToken: optionalString(20),
  feePayer,
  authorizationList: listOf(tuple({ chainId: u256, address, nonce: u64, signature: string })),
});

const grantHead = tuple({ chainId: u64, keyType: integer(1), keyId: fixedString(20) });

/** The grant and, once it has one, its signature. */
const keyAuthorization: RlpLayout<TempoKeyAuthorization> = {
  read(item) {
    const [authorization, signature, ...rest] = asList(item);
    if (authorization === undefined || rest.length > 0) throw unparsable("a key authorization has one or two items");
    const items = asList(authorization);
    return {
      ...grantHead.read(items.slice(0, grantHead.length)),
      terms: items.slice(grantHead.length),
      signature: signature === undefined ? undefined : string.read(signature),
    };
  },
  write(value) {
    const authorization = [...grantHead.write(value), ...value.terms];
    return value.signature === undefined ? [authorization] : [authorization, value.signature];
  },
};

const format: TransactionFormat<TempoTransaction> = { maxLength: 1024 * 1024, read, serialise: serialiseTempo };

/** Reads an unsigned transaction, or refuses it with the reason. */
export function parseTempo(bytes: Uint8Array): TempoTransaction {
  return parseStrictly(bytes, format);
}

/** The same with pauses: an access list may have twenty thousand addresses. */
export function parsingTempo(bytes: Uint8Array): Work<TempoTransaction> {
  return parsingStrictly(bytes, pausing(format));
}

function read(bytes: Uint8Array): TempoTransaction {
  if (bytes[0] !== prefix) throw unparsable("not of type 0x76");
  const items = asList(fromRlp(bytes.subarray(1)));
  const [grant, ...rest] = items.slice(fields.length);
  if (grant instanceof Uint8Array || rest.length > 0) throw unparsable("it is already signed, or of a later version");
  const transaction = {
    ...fields.read(items.slice(0, fields.length)),
    keyAuthorization: grant === undefined ? undefined : keyAuthorization.read(grant),
  };
  if (transaction.calls.length === 0) throw unparsable("it calls nothing");
  if (transaction.feePayer.kind === "awaited" && transaction.feeToken !== undefined) {
    throw unparsable("a fee token that its sender would not sign for: leave it to the fee payer");
  }
  return transaction;
}

function itemsOf(transaction: TempoTransaction): readonly RlpItem[] {
  const { keyAuthorization: grant } = transaction;
  return [...fields.write(transaction), ...(grant === undefined ? [] : [keyAuthorization.write(grant)])];
}

/** The bytes of an unsigned transaction. */
export function serialiseTempo(transaction: TempoTransaction): Uint8Array<ArrayBuffer> {
  return enveloped(prefix, itemsOf(transaction));
}

/** What the sender's key signs. */
export function tempoDigest(
  transaction: TempoTransaction,
  { keccak256 }: Pick<Curves, "keccak256"> = { keccak256: keccak_256 },
): Uint8Array {
  const paidByOther = transaction.feePayer.kind !== "sender";
  const signed: TempoTransaction = paidByOther
    ? { ...transaction, feePayer: { kind: "awaited" }, feeToken: undefined }
    : transaction;
  return keccak256(serialiseTempo(signed));
}

/** The transaction as it is broadcast, or as the fee payer receives it. */
export function withTempoSignature(
  transaction: TempoTransaction,
  signature: RecoverableSignature,
): Uint8Array<ArrayBuffer> {
  checkSignature(signature);
  return enveloped(prefix, [...itemsOf(transaction), toRsv(signature)]);
}
