/** Work that pauses, in the gateway's one thread: others are let in between its pieces. */
import { setImmediate as breath } from "node:timers/promises";
import type { Work } from "@keystead/core/work.ts";

/** What of it is done before others are let in. */
const breathMs = 2;

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
