/** What expressions are evaluated over. Errors are values too: nothing in an evaluation throws. */

/** Hexadecimal text of the EVM (addresses, calldata), which is the same in either letter case. */
export class EvmText {
  /** In lower case. */
  readonly text: string;

  /** What was made by `toHex`, or taken out of such text, is in lower case already: to fold it again is work that nobody counts. */
  constructor(text: string, isLower = false) {
    this.text = isLower ? text : text.toLowerCase();
  }
}

/** A moment. */
export class Instant {
  readonly ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }
}

/** Why an expression has no value, and which part of it. */
export class EvaluationError {
  readonly message: string;
  readonly start: number;
  readonly end: number;

  constructor(message: string, { start, end }: { start: number; end: number }) {
    this.message = message;
    this.start = start;
    this.end = end;
  }
}

/** Fields by name. Absent and undefined are alike: the name is known, but there is no value. Fields may be computed when asked. */
export type Struct = { readonly [field: string]: Value | undefined };

/** By keys that only the request knows (arguments, typed data). A `Map`, so that no key is special. */
export type PolicyMap = ReadonlyMap<string, Value>;

export type Value = boolean | bigint | string | EvmText | Instant | readonly Value[] | PolicyMap | Struct;

export type Result = Value | EvaluationError;
