/**
 * Unsigned Ethereum transactions: legacy with and without a chain id (EIP-155), access lists (EIP-2930), dynamic fees
 * (EIP-1559), blobs (EIP-4844, without the blobs themselves) and code delegation (EIP-7702).
 * The bytes read are the bytes hashed and signed; everything in them is in the parsed value, and nothing else is taken.
 */
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Curves } from "../crypto/curves.ts";
import { fromRlp, type RlpItem, toRlpInteger } from "../encoding/rlp.ts";
import {
  asList,
  fixedString,
  integer,
  listOf,
  optionalString,
  type RlpLayout,
  type RlpTuple,
  string,
  tuple,
} from "../encoding/rlp_layout.ts";
import { finish, type Work } from "../work.ts";
import { type AccessListEntry, accessList, address, enveloped, u64, u256 } from "./evm_items.ts";
import { checkSignature, type RecoverableSignature } from "./signature.ts";
import { parseStrictly, parsingStrictly, pausing, type TransactionFormat, unparsable } from "./strict_parsing.ts";

/** The words that policies use. */
export type EthereumTransactionType = "LEGACY" | "TYPE_1" | "TYPE_2" | "TYPE_3" | "TYPE_4";

/** Somebody's signed wish that their account run the code of `address` (EIP-7702). */
export type SignedAuthorization = {
  chainId: bigint;
  address: Uint8Array;
  nonce: bigint;
  yParity: bigint;
  r: bigint;
  s: bigint;
};

/** What a transaction says. Fields that its type does not have are zero or empty. */
export type EthereumTransaction = {
  type: EthereumTransactionType;
  /** Undefined in a legacy transaction of six fields, which is valid on every chain. */
  chainId: bigint | undefined;
  nonce: bigint;
  gas: bigint;
  /** LEGACY and TYPE_1. */
  gasPrice: bigint;
  /** TYPE_2 and later. */
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  /** Undefined when it creates a contract. */
  to: Uint8Array | undefined;
  value: bigint;
  data: Uint8Array;
  accessList: readonly AccessListEntry[];
  maxFeePerBlobGas: bigint;
  blobVersionedHashes: readonly Uint8Array[];
  authorizationList: readonly SignedAuthorization[];
};

const authorizationList: RlpLayout<readonly SignedAuthorization[]> = listOf(
  tuple({ chainId: u256, address, nonce: u64, yParity: integer(1), r: u256, s: u256 }),
);

const payment = { nonce: u64, gasPrice: u256, gas: u64, to: optionalString(20), value: u256, data: string };
const dynamicFee = { chainId: u64, nonce: u64, maxPriorityFeePerGas: u256, maxFeePerGas: u256, gas: u64 };

type Form = {
  type: EthereumTransactionType;
  /** The EIP-2718 byte before the list; legacy transactions have none. */
  prefix: number | undefined;
  fields: RlpTuple<Partial<EthereumTransaction>>;
};

/** A table's tuple as one of all forms: it reads and writes its own fields of the whole. */
function form<T extends Partial<EthereumTransaction>>(
  type: EthereumTransactionType,
  prefix: number | undefined,
  fields: RlpTuple<T>,
): Form {
  return { type, prefix, fields: { ...fields, write: (value) => fields.write(value as T) } };
}

const forms: readonly Form[] = [
  form("LEGACY", undefined, tuple(payment)),
  form("LEGACY", undefined, boundToChain()),
  form("TYPE_1", 0x01, tuple({ chainId: u64, ...payment, accessList })),
  form("TYPE_2", 0x02, tuple({ ...dynamicFee, to: optionalString(20), value: u256, data: string, accessList })),
  form(
    "TYPE_3",
    0x03,
    // Neither blobs nor delegations can create a contract, so `to` is never empty in these two.
    tuple({
      ...dynamicFee,
      to: address,
      value: u256,
      data: string,
      accessList,
      maxFeePerBlobGas: u256,
      blobVersionedHashes: listOf(fixedString(32)),
    }),
  ),
  form("TYPE_4", 0x04, tuple({ ...dynamicFee, to: address, value: u256, data: string, accessList, authorizationList })),
];

/** EIP-155: the chain id stands where v will be, and zeros where r and s will. */
function boundToChain(): RlpTuple<Partial<EthereumTransaction>> {
  const fields = tuple({ ...payment, chainId: u64 });
  type Fields = Parameters<typeof fields.write>[0];
  const zero = new Uint8Array();
  return {
    length: fields.length + 2,
    read(item) {
      const items = asList(item);
      const isUnsigned = items.slice(fields.length).every((rest) => rest instanceof Uint8Array && rest.length === 0);
      if (!isUnsigned) throw unparsable("it is already signed");
      return fields.read(items.slice(0, fields.length));
    },
    write: (value) => [...fields.write(value as Fields), zero, zero],
  };
}

const format: TransactionFormat<EthereumTransaction> = { maxLength: 1024 * 1024, read, serialise: serialiseEthereum };

/** Reads an unsigned transaction, or refuses it with the reason. */
export function parseEthereum(bytes: Uint8Array): EthereumTransaction {
  return parseStrictly(bytes, format);
}

/** The same with pauses: an access list may have twenty thousand addresses. */
export function parsingEthereum(bytes: Uint8Array): Work<EthereumTransaction> {
  return parsingStrictly(bytes, { ...pausing(format), reading });
}

function read(bytes: Uint8Array): EthereumTransaction {
  return finish(reading(bytes));
}

function* reading(bytes: Uint8Array): Work<EthereumTransaction> {
  yield;
  const head = bytes[0] ?? 0;
  // RLP lists begin at 0xc0, and EIP-2718 keeps its type bytes below 0x80.
  const prefix = head < 0x80 ? head : undefined;
  const candidates = forms.filter((form) => form.prefix === prefix);
  if (candidates.length === 0) throw unparsable(`unknown transaction type ${head}`);
  const items = asList(fromRlp(prefix === undefined ? bytes : bytes.subarray(1)));
  const chosen = candidates.find(({ fields }) => fields.length === items.length);
  if (chosen === undefined) throw unparsable(whyNoForm(candidates, items));
  yield;
  const transaction: EthereumTransaction = { ...empty, ...chosen.fields.read(items), type: chosen.type };
  check(transaction);
  return transaction;
}

const empty = {
  chainId: undefined,
  nonce: 0n,
  gas: 0n,
  gasPrice: 0n,
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 0n,
  to: undefined,
  value: 0n,
  data: new Uint8Array(),
  accessList: [],
  maxFeePerBlobGas: 0n,
  blobVersionedHashes: [],
  authorizationList: [],
} as const satisfies Omit<EthereumTransaction, "type">;

function whyNoForm(candidates: readonly Form[], items: readonly RlpItem[]): string {
  const counts = candidates.map(({ fields }) => fields.length);
  if (candidates.some(({ prefix, fields }) => prefix !== undefined && items.length === fields.length + 3)) {
    return "it is already signed";
  }
  const isWrapped = candidates.some(({ type }) => type === "TYPE_3") && Array.isArray(items[0]);
  if (isWrapped) return "it carries its blobs: send the transaction without them";
  return `${items.length} fields where ${counts.join(" or ")} belong`;
}

/** What the chain's rules exclude whatever its state, so that no policy has to reckon with it. */
function check(transaction: EthereumTransaction): void {
  const { type, chainId, nonce, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  // EIP-2681: the last nonce is never used.
  if (nonce === 2n ** 64n - 1n) throw unparsable("the nonce is beyond 2^64 - 2");
  // Chain id 0 in nine fields would be signed as v = 35 or 36, which no node takes for anything.
  if (type === "LEGACY" && chainId === 0n) throw unparsable("chain id 0: leave the last three fields out instead");
  if (maxPriorityFeePerGas > maxFeePerGas) throw unparsable("the priority fee is beyond the whole fee");
  if (gas * (gasPrice + maxFeePerGas) >= 2n ** 256n) throw unparsable("the fee does not fit in 256 bits");
}

function formOf({ type, chainId }: EthereumTransaction): Form {
  const [plain, bound] = forms.filter((candidate) => candidate.type === type);
  // Only the legacy type has two forms.
  return (chainId === undefined ? plain : (bound ?? plain)) as Form;
}

/** The bytes of an unsigned transaction. */
export function serialiseEthereum(transaction: EthereumTransaction): Uint8Array<ArrayBuffer> {
  const { prefix, fields } = formOf(transaction);
  return enveloped(prefix, fields.write(transaction));
}

/** What the account's key signs. A long one takes a faster hash than runs everywhere. */
export function ethereumDigest(
  transaction: EthereumTransaction,
  { keccak256 }: Pick<Curves, "keccak256"> = { keccak256: keccak_256 },
): Uint8Array {
  return keccak256(serialiseEthereum(transaction));
}

/** The transaction as it is broadcast. */
export function withEthereumSignature(
  transaction: EthereumTransaction,
  signature: RecoverableSignature,
): Uint8Array<ArrayBuffer> {
  checkSignature(signature);
  const { prefix, fields } = formOf(transaction);
  const items = fields.write(transaction);
  const rs = [minimal(signature.r), minimal(signature.s)];
  if (prefix !== undefined) return enveloped(prefix, [...items, toRlpInteger(BigInt(signature.yParity)), ...rs]);
  const { chainId } = transaction;
  const v = BigInt(signature.yParity) + (chainId === undefined ? 27n : 35n + 2n * chainId);
  return enveloped(undefined, [...items.slice(0, 6), toRlpInteger(v), ...rs]);
}

/** Without leading zeros. */
function minimal(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(bytes.findIndex((byte) => byte !== 0));
}
