/**
 * The transactions that clients give to be signed, by their types on the wire. Each request is read once: what policies judged is
 * then the very value that is signed, and a large transaction is not read twice.
 */
import { fromHexAt } from "../encoding/hex.ts";
import { finish, type Known, keeping, recall, type Work } from "../work.ts";
import { parsingBitcoin } from "./bitcoin.ts";
import { parsingEthereum } from "./ethereum.ts";
import { parseSolana } from "./solana.ts";
import { unparsable } from "./strict_parsing.ts";
import { parsingTempo } from "./tempo.ts";
import { parseTron } from "./tron.ts";

const parsers = {
  TRANSACTION_TYPE_ETHEREUM: parsingEthereum,
  TRANSACTION_TYPE_SOLANA: atOnce(parseSolana),
  TRANSACTION_TYPE_TRON: atOnce(parseTron),
  TRANSACTION_TYPE_BITCOIN: parsingBitcoin,
  TRANSACTION_TYPE_TEMPO: parsingTempo,
} as const;

/** A parser that needs no pauses of its own: a megabyte of hex takes it some milliseconds. */
function atOnce<T>(parse: (bytes: Uint8Array) => T): (bytes: Uint8Array) => Work<T> {
  return function* parsing(bytes) {
    yield;
    return parse(bytes);
  };
}

export type TransactionType = keyof typeof parsers;

/** What a transaction of this type says. */
export type Transaction<T extends TransactionType> =
  ReturnType<(typeof parsers)[T]> extends Work<infer Value> ? Value : never;

/** The part of an activity's parameters that holds the transaction. */
export type TransactionRequest = { type: TransactionType; unsignedTransaction: string };

export function isTransactionType(name: string): name is TransactionType {
  return Object.hasOwn(parsers, name);
}

const read = new WeakMap<TransactionRequest, { text: string; type: TransactionType; known: Known<unknown> }>();

/**
 * Reads the transaction of a request of this type. A request that was read before gives the same value, which nobody changes, or the
 * same refusal.
 */
export function readTransaction<T extends TransactionType>(type: T, request: TransactionRequest): Transaction<T> {
  return finish(readingTransaction(type, request));
}

/** The same with pauses. */
export function* readingTransaction<T extends TransactionType>(
  type: T,
  request: TransactionRequest,
): Work<Transaction<T>> {
  const { unsignedTransaction: text } = request;
  const before = read.get(request);
  if (before !== undefined && before.text === text && before.type === type) {
    return recall(before.known) as Transaction<T>;
  }
  const keep = (known: Known<unknown>) => void read.set(request, { text, type, known });
  return (yield* keeping(parsing(type, text), keep)) as Transaction<T>;
}

function* parsing(type: TransactionType, text: string): Work<unknown> {
  return yield* parsers[type](fromTransactionHex(text));
}

/** The bytes of a transaction in hex, with or without `0x`: clients of half the chains write it. */
export function fromTransactionHex(text: string): Uint8Array {
  try {
    return fromHexAt(text, text.startsWith("0x") ? 2 : 0);
  } catch (cause) {
    throw unparsable("it is not hexadecimal", cause);
  }
}
