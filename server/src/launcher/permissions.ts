import type { Program } from "./code.ts";

/**
 * The command line of the signer after `node`: no network, no children, no worker, no addon, no database, no inspector, no eval;
 * it reads its code and writes only its memory folder. What each flag refuses is held by signer_sandbox.test.ts.
 */
export function signerArguments(signer: Program, memoryFolder: string): string[] {
  return [
    ...fences,
    "--no-experimental-sqlite",
    "--no-experimental-ffi",
    "--no-addons",
    "--disallow-code-generation-from-strings",
    // Without it v8.setFlagsFromString("--trace-turbo-path=…") writes files anywhere; with it the process ends.
    "--freeze-flags-after-init",
    "--disable-proto=throw",
    ...folderAccess(signer, memoryFolder),
    signer.entry,
  ];
}

/** The command line of the gateway after `node`: network, its code to read, and the database folder to write. */
export function gatewayArguments(gateway: Program, databaseFolder: string): string[] {
  const quiet = "--disable-warning=ExperimentalWarning";
  return [...fences, "--allow-net", quiet, ...folderAccess(gateway, databaseFolder), gateway.entry];
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
const fences = ["--permission", "--disable-sigusr1", young, growth, ...collector];

function folderAccess({ readable }: Program, writable: string): string[] {
  return [...[...readable, writable].map((path) => `--allow-fs-read=${path}`), `--allow-fs-write=${writable}`];
}
