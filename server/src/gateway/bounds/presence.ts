/** Who is being served at the moment. What takes long rests in between while others are there, and not while nobody would gain by it. */
import { performance } from "node:perf_hooks";

export type Presence = {
  /** Somebody of this organization is being served. */
  seen(organizationId: string): void;
  /** Whether nobody else is there. */
  isAlone(organizationId: string): boolean;
};

/** An organization that was not seen for so long is not there. */
const presenceMs = 250;

export function createPresence(): Presence {
  /** The two that were seen last. */
  let [last, other] = ["", ""];
  let [lastAt, otherAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  return {
    seen(organizationId) {
      if (organizationId !== last) {
        other = last;
        otherAt = lastAt;
        last = organizationId;
      }
      lastAt = performance.now();
    },
    isAlone(organizationId) {
      const since = performance.now() - presenceMs;
      return !((last !== organizationId && lastAt > since) || (other !== organizationId && otherAt > since));
    },
  };
}

/** Three times as long as the work took, as large bodies do: then others have three quarters of the time. */
const restTimes = 3;
const mostRestMs = 200;

export function restAfter(tookMs: number): number {
  return Math.min(restTimes * tookMs, mostRestMs);
}
