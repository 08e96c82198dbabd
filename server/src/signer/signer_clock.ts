/** The signer's own time. One that is far behind what the memory has seen would take expired bodies for live ones. */
import { Fault } from "@keystead/core/fault.ts";
import { clockToleranceMs } from "../state/journal.ts";
import type { Memory } from "./memory/memory.ts";

/** The operator hears once that the clock is behind, and once that it no longer is. */
export function createSignerClock(memory: Memory, clock: () => number, note: (message: string) => void): () => number {
  let isBehind = false;
  return () => {
    const nowMs = clock();
    const behindMs = memory.lastTimeMs - nowMs;
    if (behindMs > clockToleranceMs) {
      const behind =
        `clock is ${Math.round(behindMs / 1000)} s behind the last time it has seen; ` +
        "nothing is signed until it is right, or until the operator runs `npx keystead accept-clock`";
      if (!isBehind) note(`its ${behind}`);
      isBehind = true;
      throw new Fault("unavailable", `the signer's ${behind}`);
    }
    if (isBehind) note("its clock is no longer behind");
    isBehind = false;
    return nowMs;
  };
}
