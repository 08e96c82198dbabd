/** What every transaction parser in this folder shares: one refusal, and the proof that what was read is all there was. */
import { sameBytes } from "../encoding/bytes.ts";
import { Fault } from "../fault.ts";
import type { Work } from "../work.ts";

/** The published refusal of a transaction that we do not read, with the reason. */
export function unparsable(why: string, cause?: unknown): Fault {
  return new Fault("invalid_argument", `failed to parse transaction: ${why}`, {
    errorCode: "INVALID_TRANSACTION",
    ...(cause === undefined ? {} : { cause }),
  });
}

/** How one chain's transactions are read and written. */
export type TransactionFormat<T> = {
  maxLength: number;
  read(bytes: Uint8Array): T;
  serialise(value: T): Uint8Array;
};

/**
 * Reads a transaction and writes it again from what was read. Only if both are the same bytes do the facts that policies
 * see determine the bytes that are signed. The value has its own copy: callers may use their buffer for something else.
 */
export function parseStrictly<T>(bytes: Uint8Array, { maxLength, read, serialise }: TransactionFormat<T>): T {
  const own = ownCopy(bytes, maxLength);
  const value = refusing(() => read(own));
  checkSame(serialise(value), own);
  return value;
}

/** The same of a format that can hold many thousands of parts. */
export type LongTransactionFormat<T> = {
  maxLength: number;
  reading(bytes: Uint8Array): Work<T>;
  serialising(value: T): Work<Uint8Array>;
};

/** A format that needs a pause only between reading and writing. */
export function pausing<T>({ maxLength, read, serialise }: TransactionFormat<T>): LongTransactionFormat<T> {
  return {
    maxLength,
    *reading(bytes) {
      yield;
      return read(bytes);
    },
    *serialising(value) {
      yield;
      return serialise(value);
    },
  };
}

/** Like `parseStrictly`, with pauses. */
export function* parsingStrictly<T>(
  bytes: Uint8Array,
  { maxLength, reading, serialising }: LongTransactionFormat<T>,
): Work<T> {
  const own = ownCopy(bytes, maxLength);
  let value: T;
  try {
    value = yield* reading(own);
  } catch (error) {
    throw asRefusal(error);
  }
  checkSame(yield* serialising(value), own);
  return value;
}

function ownCopy(bytes: Uint8Array, maxLength: number): Uint8Array {
  if (bytes.length > maxLength) throw unparsable(`over ${maxLength} bytes`);
  return Uint8Array.from(bytes);
}

function checkSame(written: Uint8Array, own: Uint8Array): void {
  if (!sameBytes(written, own)) throw unparsable("its fields do not give the same bytes again");
}

/** Runs a reader and turns the refusals of codecs into the transaction's own. */
export function refusing<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw asRefusal(error);
  }
}

function asRefusal(error: unknown): unknown {
  const isOfCodec = error instanceof Fault && error.code === "invalid_argument" && error.errorCode === "";
  return isOfCodec ? unparsable(error.message, error) : error;
}
