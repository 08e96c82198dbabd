/** A limit on how many requests of one kind are worked on at once. The others wait in order, and requests of other kinds are not slowed down. */
import { Fault } from "@keystead/core/fault.ts";

export type ConcurrencyLimits = {
  /** So many are worked on at once. */
  slots: number;
  /** So many wait for a slot; this bounds what they hold meanwhile. */
  waiting: number;
  /** The error message for callers beyond that. */
  refusal: string;
};

export type ConcurrencyLimit = {
  /** Undefined when a slot is free, which is then taken; otherwise resolves when one is. Throws when too many wait. */
  enter(isGone: () => boolean): Promise<void> | undefined;
  /** Gives a slot back, after `pauseMs` during which nobody gets it. */
  leave(pauseMs: number): void;
};

export function createConcurrencyLimit({ slots, waiting: maxWaiting, refusal }: ConcurrencyLimits): ConcurrencyLimit {
  let waiting: { isGone(): boolean; go(): void }[] = [];
  let taken = 0;

  function free(): void {
    let next = waiting.shift();
    while (next?.isGone()) next = waiting.shift();
    if (next === undefined) taken--;
    // Other events come first: handed over at once, a series of requests would block the process as one long piece of work.
    else setImmediate(next.go);
  }

  return {
    enter(isGone) {
      if (taken >= slots) {
        if (waiting.length >= maxWaiting) waiting = waiting.filter((each) => !each.isGone());
        if (waiting.length >= maxWaiting) throw new Fault("resource_exhausted", refusal);
        return new Promise((go) => waiting.push({ isGone, go }));
      }
      taken++;
      return undefined;
    },
    leave(pauseMs) {
      if (pauseMs > 0) setTimeout(free, pauseMs);
      else free();
    },
  };
}
