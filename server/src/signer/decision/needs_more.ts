import type { RecordWish } from "../../state/record_wish.ts";

/** Thrown in the middle of a decision that lacks something: the gateway is asked for it, and the decision begins anew. */
export class NeedsMore extends Error {
  readonly pages: readonly string[];
  readonly wishes: readonly RecordWish[];

  constructor(pages: readonly string[], wishes: readonly RecordWish[]) {
    super("the decision needs more than it was given");
    this.pages = pages;
    this.wishes = wishes;
  }
}
