/** What every transaction parser in this folder shares: one refusal, and the proof that what was read is all there was. */
import { sameBytes } from "../encoding/bytes.ts";
import { Fault } from "../fault.ts";

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
  if (bytes.length > maxLength) throw unparsable(`over ${maxLength} bytes`);
  const own = Uint8Array.from(bytes);
  const value = refusing(() => read(own));
  if (!sameBytes(serialise(value), own)) throw unparsable("its fields do not give the same bytes again");
  return value;
}

/** Runs a reader and turns the refusals of codecs into the transaction's own. */
export function refusing<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid_argument" && error.errorCode === "") {
      throw unparsable(error.message, error);
    }
    throw error;
  }
}
