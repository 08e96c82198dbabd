import type { Wish } from "../../frames/messages.ts";
import { type RecordWish, wishKey } from "../../state/record_wish.ts";

/** Thrown in the middle of a decision that lacks something: the gateway is asked for it, and the decision begins anew. */
export class NeedsMore extends Error {
  readonly wishes: readonly Wish[];

  constructor(wishes: readonly Wish[]) {
    super("the decision needs more than it was given");
    this.wishes = wishes;
  }
}

export function needsPages(names: readonly string[]): NeedsMore {
  return new NeedsMore(names.map((name) => ({ kind: "page", value: { name } })));
}

export function needsRecords(wishes: readonly RecordWish[]): NeedsMore {
  return new NeedsMore(wishes.map((wish) => ({ kind: "record", value: { wish: wishKey(wish) } })));
}

export function needsLeaves(leaves: readonly { boot: string; number: number }[]): NeedsMore {
  return new NeedsMore(leaves.map(({ boot, number }) => ({ kind: "leaf", value: { boot, number } })));
}

export function needsIssuer(issuer: string, newerThanMs: number): NeedsMore {
  return new NeedsMore([{ kind: "issuer", value: { issuer, newerThanMs } }]);
}

export function needsOrder(order: Uint8Array): NeedsMore {
  return new NeedsMore([{ kind: "oauth2", value: { order } }]);
}

export function needsAttempt(otpId: string): NeedsMore {
  return new NeedsMore([{ kind: "attempt", value: { otpId } }]);
}
