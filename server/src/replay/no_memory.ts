/** A signer's memory for the replay, which has none: it knows no state and no body, and whatever was asked of it stands in the leaves. */
import type { Memory } from "../signer/memory/memory.ts";

function unasked(): never {
  throw new Error("the replay has no memory to ask");
}

/** `acceptedAtMs`: of the leaf that is being executed. */
export function noMemory(acceptedAtMs: () => number): Memory {
  return {
    pins: { size: 0, get: () => undefined, set: unasked, entries: unasked },
    codes: { sinceMs: 1, begin: unasked, beginAnew: unasked, start: unasked, attempt: unasked, spend: unasked },
    deploymentId: undefined,
    lastTimeMs: 0,
    get acceptedAtMs() {
      return acceptedAtMs();
    },
    rememberDeployment: unasked,
    rememberBirth: unasked,
    wasBornHere: () => false,
    log: undefined,
    isNamed: true,
    openLog: unasked,
    rememberAppended: unasked,
    rememberCheckpoint: unasked,
    rememberTakenIn: unasked,
    owes: unasked,
    owed: unasked,
    rememberRelease: unasked,
    resetClock: unasked,
    rememberAcceptance: unasked,
    noteBodyTime: () => undefined,
    takeBody: unasked,
    released: () => [],
    releasedCount: 0,
    wasReleased: unasked,
    rememberBoot: () => undefined,
    // No record waits for a release: all that is in a log was released.
    knowsBoot: () => false,
    torn: 0,
    sync: () => undefined,
    close: () => undefined,
  };
}
