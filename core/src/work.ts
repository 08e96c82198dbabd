/**
 * Work that can pause: a generator that yields between pieces of about a millisecond. Whoever drives it may do something else in
 * between, or drop it with `return()`, which runs the `finally` blocks that wipe its secrets. What it computes does not depend on
 * how it is driven: tests, the simulator and log replay run it to its end in one go.
 */
export type Work<T> = Generator<undefined, T, undefined>;

/** Runs it to its end. */
export function finish<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value as T;
  }
}

/** Like `Array.map`, with a pause after each item, or after every so many that take some microseconds each. */
export function* mapWithPauses<A, B>(items: readonly A[], each: (item: A, index: number) => B, atOnce = 1): Work<B[]> {
  const results: B[] = [];
  for (const [index, item] of items.entries()) {
    results.push(each(item, index));
    if (results.length % atOnce === 0) yield;
  }
  return results;
}

/** Adds up work of different sizes, in any unit. Says that a pause is due when there was so much since the last one. */
export type Pace = (amount: number) => boolean;

export function createPace(atOnce: number): Pace {
  let done = 0;
  return (amount) => {
    done += amount;
    if (done < atOnce) return false;
    done = 0;
    return true;
  };
}

/** What was asked for before, or why it was refused. */
export type Known<T> = { value: T } | { refusal: unknown };

/** Does the work and keeps what comes of it, a refusal too: whoever asks again has it at once. */
export function* keeping<T>(work: Work<T>, keep: (known: Known<T>) => void): Work<T> {
  let value: T;
  try {
    value = yield* work;
  } catch (refusal) {
    keep({ refusal });
    throw refusal;
  }
  keep({ value });
  return value;
}

/** What is known: the value, or the refusal once more. */
export function recall<T>(known: Known<T>): T {
  if ("refusal" in known) throw known.refusal;
  return known.value;
}
