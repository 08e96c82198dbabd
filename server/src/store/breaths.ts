/** Work that pauses, in the gateway's one thread: others are let in between its pieces. */
import type { Work } from "@keystead/core/work.ts";
import { resumes } from "./thread_meter.ts";

/** What of it is done before others are let in. */
const breathMs = 1;

/**
 * So many turns of the loop are for one piece. A request of somebody else takes some eight of them, and would meet a piece in each. Where
 * nothing else is to be done, a turn takes a hundredth of a millisecond.
 */
const turnsForOne = 3;

const paused: (() => void)[] = [];

/**
 * Resolves after other events had their turns. Of all that has paused, one piece goes on at a time: thirty answers that are being made would
 * otherwise be one long piece together.
 */
export function breath(): Promise<void> {
  return new Promise<void>((resolve) => {
    paused.push(resolve);
    if (paused.length === 1) setImmediate(goOnAfter, turnsForOne - 1);
  }).then(resumes);
}

/** What is asked for within an immediate comes in the next turn. */
function goOnAfter(turns: number): void {
  if (turns > 0) {
    setImmediate(goOnAfter, turns - 1);
    return;
  }
  const next = paused.shift();
  if (paused.length > 0) setImmediate(goOnAfter, turnsForOne - 1);
  next?.();
}

/** For work in steps: to be asked after each, and awaited where it says so. */
export function createBreathing(): () => Promise<void> | undefined {
  let beganAt = performance.now();
  return () => {
    if (performance.now() - beganAt < breathMs) return undefined;
    return breath().then(() => {
      beganAt = performance.now();
    });
  };
}

/** `items.map(map)` with pauses. */
export async function mapWithBreaths<T, U>(items: readonly T[], map: (item: T) => U): Promise<U[]> {
  const breathing = createBreathing();
  const mapped: U[] = [];
  for (const item of items) {
    mapped.push(map(item));
    const pause = breathing();
    if (pause !== undefined) await pause;
  }
  return mapped;
}

/** `worked` is told how long each piece has held the thread. */
export async function finishWithBreaths<T>(work: Work<T>, worked: (ms: number) => void = () => undefined): Promise<T> {
  let beganAt = performance.now();
  for (;;) {
    const { done, value } = work.next();
    const tookMs = performance.now() - beganAt;
    if (done !== true && tookMs < breathMs) continue;
    worked(tookMs);
    if (done === true) return value as T;
    await breath();
    beganAt = performance.now();
  }
}
