import assert from "node:assert/strict";

/** A measurement may be disturbed by a busy machine; that all of them are is a matter of the code. */
const attempts = 5;

/**
 * `work` takes at most so many times the CPU time of `measure`. For faults that would make it thousands of times dearer: `times` lies
 * far from what is right and from what is wrong, so that no machine is too slow or too busy for it.
 */
export function assertCost(work: () => void, measure: () => void, times: number): void {
  measure();
  const ratios: number[] = [];
  for (let attempt = 0; attempt < attempts; attempt++) {
    const plain = cpuTimeOf(measure);
    ratios.push(cpuTimeOf(work) / Math.max(plain, 100));
    if (ratios.some((ratio) => ratio <= times)) return;
  }
  assert.fail(`it takes ${ratios.map((ratio) => ratio.toFixed(0)).join(", ")} times as long, not ${times}`);
}

/** In microseconds. */
function cpuTimeOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
