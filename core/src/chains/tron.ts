/**
 * Unsigned Tron transactions: the protobuf message `Transaction.raw`, which nodes hand out as `raw_data_hex`. Its
 * SHA-256 is both the id and what is signed.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { toBase58check } from "../encoding/base58.ts";
import {
  bytes,
  inner,
  int32,
  int64,
  message,
  type ProtobufMessage,
  repeated,
  singular,
  text,
  writeOccurrence,
} from "../encoding/protobuf.ts";
import { checkSignature, type RecoverableSignature, toRsv } from "./signature.ts";
import { parseStrictly, type TransactionFormat, unparsable } from "./strict_parsing.ts";
import { type TronContractType, type TronContractValue, tronContracts } from "./tron_contracts.ts";

/** One contract, told apart by `type`. */
export type TronContract = {
  [T in TronContractType]: {
    type: T;
    value: TronContractValue<T>;
    /** Which of the account's permissions signs: 0 the owner's. */
    permissionId: number;
  };
}[TronContractType];

export type TronTransaction = {
  refBlockBytes: Uint8Array;
  refBlockNum: bigint;
  refBlockHash: Uint8Array;
  /** Milliseconds since 1970. */
  expiration: bigint;
  /** The memo. */
  data: Uint8Array;
  /** The chain takes exactly one; policies see a list. */
  contract: readonly [TronContract];
  timestamp: bigint;
  feeLimit: bigint;
};

const typePrefix = "type.googleapis.com/protocol.";

const envelope = message({
  type: singular(1, int32),
  parameter: inner(2, message({ typeUrl: singular(1, text), value: singular(2, bytes) })),
  permissionId: singular(5, int32),
});

const types = new Map<number, TronContractType>(
  Object.entries(tronContracts).map(([type, { number }]) => [number, type as TronContractType]),
);

/** The row of a type without the type: whoever looks it up brings the value that fits. */
function messageOf(type: TronContractType): ProtobufMessage<TronContract["value"]> {
  return tronContracts[type].message as ProtobufMessage<TronContract["value"]>;
}

const contract: ProtobufMessage<TronContract> = {
  read(content) {
    const { type: number, parameter, permissionId } = envelope.read(content);
    const type = types.get(number);
    if (type === undefined) throw unparsable(`contract type ${number} is not supported`);
    // The type is said twice; nodes go by the number and refuse a difference.
    if (parameter?.typeUrl !== `${typePrefix}${type}`) throw unparsable(`a ${type} that carries another message`);
    return { type, value: messageOf(type).read(parameter.value), permissionId } as TronContract;
  },
  write({ type, value, permissionId }) {
    const parameter = { typeUrl: `${typePrefix}${type}`, value: messageOf(type).write(value) };
    return envelope.write({ type: tronContracts[type].number, parameter, permissionId });
  },
};

const raw = message({
  refBlockBytes: singular(1, bytes),
  refBlockNum: singular(3, int64),
  refBlockHash: singular(4, bytes),
  expiration: singular(8, int64),
  data: singular(10, bytes),
  contract: repeated(11, contract),
  timestamp: singular(14, int64),
  feeLimit: singular(18, int64),
});

/** The chain's own bound on a transaction. */
const format: TransactionFormat<TronTransaction> = { maxLength: 500 * 1024, read, serialise: serialiseTron };

/** Reads the message of an unsigned transaction, or refuses it with the reason. */
export function parseTron(content: Uint8Array): TronTransaction {
  return parseStrictly(content, format);
}

function read(content: Uint8Array): TronTransaction {
  const { contract: contracts, ...rest } = raw.read(content);
  const [only, ...others] = contracts;
  if (only === undefined || others.length > 0) throw unparsable(`${contracts.length} contracts where one belongs`);
  return { ...rest, contract: [only] };
}

/** The bytes of the message. */
export function serialiseTron(transaction: TronTransaction): Uint8Array<ArrayBuffer> {
  return raw.write(transaction);
}

/** The transaction's id, which is what its key signs. */
export function tronDigest(transaction: TronTransaction): Uint8Array {
  return sha256(serialiseTron(transaction));
}

/** The message `Transaction` as it is broadcast: the raw one and the signature. */
export function withTronSignature(
  transaction: TronTransaction,
  signature: RecoverableSignature,
): Uint8Array<ArrayBuffer> {
  checkSignature(signature);
  return concatBytes(...writeOccurrence(1, serialiseTron(transaction)), ...writeOccurrence(2, toRsv(signature)));
}

/** An address of 21 bytes as people and policies write it; empty for one that was left out. */
export function toTronAddress(address: Uint8Array): string {
  return address.length === 0 ? "" : toBase58check(address);
}
