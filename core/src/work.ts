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

/** Like `Array.map`, with a pause after each item. */
export function* mapWithPauses<A, B>(items: readonly A[], each: (item: A, index: number) => B): Work<B[]> {
  const results: B[] = [];
  for (const [index, item] of items.entries()) {
    results.push(each(item, index));
    yield;
  }
  return results;
}
