/**
 * The transactions that clients give to be signed, by their types on the wire. Each request is read once: what policies judged is
 * then the very value that is signed, and a large transaction is not read twice.
 */
import { fromHexAt } from "../encoding/hex.ts";
import { parseBitcoin } from "./bitcoin.ts";
import { parseEthereum } from "./ethereum.ts";
import { parseSolana } from "./solana.ts";
import { unparsable } from "./strict_parsing.ts";
import { parseTempo } from "./tempo.ts";
import { parseTron } from "./tron.ts";

const parsers = {
  TRANSACTION_TYPE_ETHEREUM: parseEthereum,
  TRANSACTION_TYPE_SOLANA: parseSolana,
  TRANSACTION_TYPE_TRON: parseTron,
  TRANSACTION_TYPE_BITCOIN: parseBitcoin,
  TRANSACTION_TYPE_TEMPO: parseTempo,
} as const;

export type TransactionType = keyof typeof parsers;

/** What a transaction of this type says. */
export type Transaction<T extends TransactionType> = ReturnType<(typeof parsers)[T]>;

/** The part of an activity's parameters that holds the transaction. */
export type TransactionRequest = { type: TransactionType; unsignedTransaction: string };

export function isTransactionType(name: string): name is TransactionType {
  return Object.hasOwn(parsers, name);
}

const known = new WeakMap<TransactionRequest, { text: string; type: TransactionType; value: unknown }>();

/** Reads the transaction of a request of this type. A request that was read before gives the same value, which nobody changes. */
export function readTransaction<T extends TransactionType>(type: T, request: TransactionRequest): Transaction<T> {
  const { unsignedTransaction: text } = request;
  const before = known.get(request);
  if (before !== undefined && before.text === text && before.type === type) return before.value as Transaction<T>;
  const value = parsers[type](fromTransactionHex(text));
  known.set(request, { text, type, value });
  return value as Transaction<T>;
}

/** The bytes of a transaction in hex, with or without `0x`: clients of half the chains write it. */
export function fromTransactionHex(text: string): Uint8Array {
  try {
    return fromHexAt(text, text.startsWith("0x") ? 2 : 0);
  } catch (cause) {
    throw unparsable("it is not hexadecimal", cause);
  }
}
