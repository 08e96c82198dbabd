/**
 * Answers that are the same for everybody. All who ask before one is begun get that one, and there is a rest before the next: whoever
 * asks as fast as the answers come has them seldom, and nobody gets an answer that is older than the question.
 */
import { setTimeout as pause } from "node:timers/promises";

/** One that does not come to its end keeps nobody from the next for longer. */
const mostMs = 5_000;

export function createSharedAnswer<T>(
  work: () => Promise<T> | T,
  restMs: number,
  waitsMs: number = mostMs,
): () => Promise<T> {
  let next: Promise<T> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let restsUntilMs = 0;

  async function answer(): Promise<T> {
    await Promise.race([last, pause(waitsMs, undefined, { ref: false })]);
    const waitMs = restsUntilMs - performance.now();
    if (waitMs > 0) await pause(waitMs);
    // Who comes from now on gets one that is begun after this one.
    next = undefined;
    const working = Promise.try(work);
    last = working.catch(() => undefined);
    try {
      return await working;
    } finally {
      restsUntilMs = performance.now() + restMs;
    }
  }

  return () => {
    next ??= answer();
    return next;
  };
}
