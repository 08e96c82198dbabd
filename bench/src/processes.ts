/** What the kernel counts for a process: CPU time with all its threads, and memory. Linux only. */
import { readdirSync, readFileSync } from "node:fs";

/** CPU time of a process so far, in milliseconds. Threads that have ended are missing; Node and PostgreSQL keep theirs. */
export function cpuMs(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ", 1)[0]);
  }
  return nanoseconds / 1e6;
}

export type Memory = {
  rssMb: number;
  /** Pages shared between processes count in part: what the process really adds. */
  pssMb: number;
};

export function memoryOf(pid: number): Memory {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return { rssMb: kilobytes(rollup, "Rss") / 1024, pssMb: kilobytes(rollup, "Pss") / 1024 };
}

/** What belongs to the process alone, in megabytes. The kernel has it at hand; for those above it walks all pages of the process. */
export function ownMb(pid: number): number {
  return kilobytes(readFileSync(`/proc/${pid}/status`, "utf8"), "RssAnon") / 1024;
}

function kilobytes(text: string, name: string): number {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text);
  if (match === null) throw new Error(`the kernel tells no ${name}`);
  return Number(match[1]);
}
