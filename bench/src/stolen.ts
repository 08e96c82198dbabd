/**
 * What the host takes from this machine for others while something is measured: times of such a while tell of them. The kernel counts
 * it where the machine is a virtual one; elsewhere it is nothing.
 */
import { readFileSync } from "node:fs";

/** Of all processors' time. More than this, and it is measured again. */
export const mostStolen = 0.03;

const mostTries = 3;

/** From the line `cpu` of `/proc/stat`, in whatever unit. */
export function cpuTimes(stat: string): { all: number; stolen: number } {
  const [, times = ""] = /^cpu +(.*)$/m.exec(stat) ?? [];
  // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user and nice already.
  const counted = times.split(" ").slice(0, 8).map(Number);
  return { all: counted.reduce((sum, each) => sum + each, 0), stolen: counted[7] ?? 0 };
}

/** From now until it is asked: the share of the machine's time that others had. */
export function watchStolen(): () => number {
  const look = () => cpuTimes(readFileSync("/proc/stat", "utf8"));
  const before = look();
  return () => {
    const now = look();
    return (now.stolen - before.stolen) / Math.max(1, now.all - before.all);
  };
}

/**
 * The first measurement that was left in peace or, where there is none, that which was disturbed least. `dropped` are the others: their
 * times say nothing, but what failed in them did fail.
 */
export async function leastDisturbed<T extends { stolen: number }>(
  measure: () => Promise<T>,
): Promise<{ best: T; dropped: T[] }> {
  const all = [await measure()];
  while (all.length < mostTries && (all.at(-1)?.stolen ?? 0) > mostStolen) all.push(await measure());
  const [best, ...dropped] = all.toSorted((a, b) => a.stolen - b.stolen);
  if (best === undefined) throw new Error("nothing was measured");
  return { best, dropped };
}
