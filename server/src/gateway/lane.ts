/** A narrow way that requests of one kind take, so many at once: however many there are, everybody else's way stays free. */

export type Lane = {
  /** Undefined when there is a free place, which is then taken; otherwise when it is this one's turn. */
  enter(isGone: () => boolean): Promise<void> | undefined;
  /** Gives a place back, after `restMs` during which nobody gets it. */
  leave(restMs: number): void;
};

export function createLane(places: number): Lane {
  const waiting: { isGone(): boolean; go(): void }[] = [];
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
      if (taken >= places) return new Promise((go) => waiting.push({ isGone, go }));
      taken++;
      return undefined;
    },
    leave(restMs) {
      if (restMs > 0) setTimeout(free, restMs);
      else free();
    },
  };
}
