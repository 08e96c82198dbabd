/** A narrow way that requests of one kind take, so many at once: however many there are, everybody else's way stays free. */
import { Fault } from "@keystead/core/fault.ts";

export type LaneLimits = {
  /** So many go at once. */
  places: number;
  /** So many wait for a place; what they hold while they do is bounded by this. */
  waiting: number;
  /** What is said to who comes when so many wait already. */
  refusal: string;
};

export type Lane = {
  /** Undefined when there is a free place, which is then taken; otherwise when it is this one's turn. Throws when too many wait. */
  enter(isGone: () => boolean): Promise<void> | undefined;
  /** Gives a place back, after `restMs` during which nobody gets it. */
  leave(restMs: number): void;
};

export function createLane({ places, waiting: mostWaiting, refusal }: LaneLimits): Lane {
  let waiting: { isGone(): boolean; go(): void }[] = [];
  let taken = 0;

  function free(): void {
    let next = waiting.shift();
    while (next?.isGone()) next = waiting.shift();
    if (next === undefined) taken--;
    // Others come first: handed over at once, a row of them would be one long piece of work.
    else setImmediate(next.go);
  }

  return {
    enter(isGone) {
      if (taken >= places) {
        if (waiting.length >= mostWaiting) waiting = waiting.filter((each) => !each.isGone());
        if (waiting.length >= mostWaiting) throw new Fault("resource_exhausted", refusal);
        return new Promise((go) => waiting.push({ isGone, go }));
      }
      taken++;
      return undefined;
    },
    leave(restMs) {
      if (restMs > 0) setTimeout(free, restMs);
      else free();
    },
  };
}
