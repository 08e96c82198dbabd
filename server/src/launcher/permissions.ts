import { pathToFileURL } from "node:url";
import type { Program } from "./code.ts";
import type { ProcessRow } from "./processes.ts";

/**
 * The command line of a process after `node`: it reads its code and its own folder, and writes only that folder. `files` are single files elsewhere
 * that it reads and writes.
 */
export function nodeArguments(
  { network, startsThread, flags }: ProcessRow,
  program: Program,
  folder: string,
  files: readonly string[] = [],
): string[] {
  return [
    ...commonFlags,
    ...(network ? ["--allow-net"] : []),
    // The gateway alone: it starts its one thread and drops this before it loads any package (docs/decisions/0030). The warning says that a
    // thread can have permissions that its process was not given.
    ...(startsThread === true ? ["--allow-worker", "--disable-warning=PERM0006"] : []),
    ...flags,
    ...[...program.readable, folder, ...files].map((path) => `--allow-fs-read=${path}`),
    ...[folder, ...files].map(writeFlag),
    ...(program.preload === undefined ? [] : [`--import=${pathToFileURL(program.preload)}`]),
    program.entry,
  ];
}

/** On the command line of every process; it also tells our processes from others (`previous_processes.ts`). */
export function writeFlag(folder: string): string {
  return `--allow-fs-write=${folder}`;
}

// V8 would let the young generation of each process grow to 100 MB under load. Eight take some twenty, and are collected so seldom
// that next to nothing of a request is still there then: what is, gets old, and collecting the old costs most.
const young = "--max-semi-space-size=8";

// Collecting so small a young generation with helper threads costs more in waking them than it saves. Marking what is old takes
// fifty milliseconds of whoever does it, so that is left to another thread.
const collector = [
  "--no-parallel-scavenge",
  "--no-parallel-marking",
  "--no-parallel-compaction",
  "--no-parallel-pointer-update",
  "--no-concurrent-array-buffer-sweeping",
];

// What is old is collected when there is twice as much of it as the last time. Left to itself, V8 counts the buffers of arriving bodies
// as growth of a small heap, and a stranger with twenty of the largest bodies per second has it collect two or three times per second.
const growth = "--heap-growing-percent=100";

// SIGUSR1 would open the inspector, and with it the whole heap, to anyone who may send a signal and connect to loopback.
const commonFlags = ["--permission", "--disable-sigusr1", young, growth, ...collector];
