const firstPauseMs = 100;
const healthyAfterMs = 10_000;

/** The pause before a process is started again: none the first time, then doubling; forgotten once it has lived for a while. */
export function backoff(longestPauseMs: number): (livedMs: number) => number {
  let failures = 0;
  return (livedMs) => {
    if (livedMs >= healthyAfterMs) failures = 0;
    const pauseMs = failures === 0 ? 0 : Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
    failures++;
    return pauseMs;
  };
}
