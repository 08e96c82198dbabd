/**
 * Refusals because an organization has as much of something as it may have. Each is decided like any other request, so whoever asks again
 * at once would cost everybody else as much as somebody who is served: of one organization they leave one after the other.
 */
import { setTimeout as pause } from "node:timers/promises";

export type ReachedLimits = {
  /** Until the next refusal of this organization may leave. */
  leave(organizationId: string): Promise<void>;
};

const betweenMs = 10;

/** Nobody waits longer, however many do. */
const mostMs = 500;

/** Organizations whose next refusal may leave at once are forgotten beyond so many. */
const kept = 1_024;

export function createReachedLimits(
  now: () => number = () => performance.now(),
  wait: (ms: number) => Promise<void> = pause,
): ReachedLimits {
  const free = new Map<string, number>();

  function forgetFree(nowMs: number): void {
    for (const [organizationId, at] of free) if (at <= nowMs) free.delete(organizationId);
  }

  return {
    async leave(organizationId) {
      const nowMs = now();
      const at = Math.min(Math.max(free.get(organizationId) ?? nowMs, nowMs), nowMs + mostMs);
      if (free.size >= kept) forgetFree(nowMs);
      free.set(organizationId, at + betweenMs);
      if (at > nowMs) await wait(at - nowMs);
    },
  };
}
