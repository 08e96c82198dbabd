/**
 * Counts large bodies from their first bytes to their answers. When they would be too much together, one that has stopped arriving is
 * refused for the newcomer; without such a one, the newcomer is.
 */
import type { ServerResponse } from "node:http";

/** A body on its way in. */
export type ArrivingBody = {
  /** Memory that is counted for it. */
  held: number;
  received: number;
  begunAt: number;
  movedAt: number;
  /** While it is still arriving. */
  refuse: (() => void) | undefined;
};

export type LargeBodies = {
  /** Counts so many bytes for the body; false when there is no room for them. */
  hold(arrival: ArrivingBody, response: ServerResponse, bytes: number): boolean;
  /** What this answers is not kept any more, though the answer is still to come. */
  letGo(response: ServerResponse): void;
};

/** A sender that has sent nothing for so long, or so little per second since then, has stalled. */
const stalledMs = 1_000;
const slowBytesPerMs = 32;

export function createLargeBodies(maxBytes: number): LargeBodies {
  const large = new Set<ArrivingBody>();
  const answeredBy = new WeakMap<ServerResponse, ArrivingBody>();
  let allBytes = 0;

  function findStalled(): ArrivingBody | undefined {
    const now = performance.now();
    for (const each of large) {
      const ageMs = now - each.begunAt;
      const isSlow = ageMs > stalledMs && each.received < slowBytesPerMs * ageMs;
      if (each.refuse !== undefined && (isSlow || now - each.movedAt > stalledMs)) return each;
    }
    return undefined;
  }

  function release(arrival: ArrivingBody): void {
    large.delete(arrival);
    allBytes -= arrival.held;
    arrival.held = 0;
  }

  return {
    hold(arrival, response, bytes) {
      while (allBytes + bytes - arrival.held > maxBytes) {
        const stalled = findStalled();
        if (stalled === undefined) return false;
        release(stalled);
        stalled.refuse?.();
      }
      if (arrival.held === 0) {
        large.add(arrival);
        answeredBy.set(response, arrival);
        // When the answer is written, or will never be. What the client does with it costs nothing here.
        response.on("prefinish", () => release(arrival)).on("close", () => release(arrival));
      }
      allBytes += bytes - arrival.held;
      arrival.held = bytes;
      return true;
    },
    letGo(response) {
      const arrival = answeredBy.get(response);
      if (arrival !== undefined) release(arrival);
    },
  };
}
