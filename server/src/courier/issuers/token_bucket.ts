/** So many in an hour, spread out: a burst may use all at once, and then they come back one by one. */
export function createTokenBucket(perHour: number, now: () => number): { take(): boolean } {
  const hourMs = 3_600_000;
  let left = perHour;
  let countedAtMs = now();
  return {
    take() {
      const nowMs = now();
      // A clock that was set back gives nothing.
      left = Math.min(perHour, left + (Math.max(0, nowMs - countedAtMs) * perHour) / hourMs);
      countedAtMs = nowMs;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
