import type { KeysteadError } from "@keystead/sdk";

/** A refusal of the server with lines that explain it, printed below it. The refusal itself is the cause. */
export class ExplainedRefusal extends Error {
  override readonly name = "ExplainedRefusal";
  readonly lines: readonly string[];

  constructor(cause: KeysteadError, lines: readonly string[]) {
    super(cause.message, { cause });
    this.lines = lines;
  }
}
