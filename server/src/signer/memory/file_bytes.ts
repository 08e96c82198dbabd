/** What the memory does to files besides appending records. Nothing here waits for the disk. */
import { closeSync, constants, ftruncateSync, openSync, rmSync, writeSync } from "node:fs";

/** How bytes reach a file, as `writeSync` does it: returns how many were written, from `at` on. */
export type WriteBytes = (file: number, content: Uint8Array, at: number) => number;

// Node's permissions follow links: one planted in the folder would lead appends, or a truncation, elsewhere.
export const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;
/** Bytes written so are on the disk when the call comes back. Node's permissions leave the signer no other way to wait for it. */
export const waiting = constants.O_RDWR | constants.O_DSYNC | constants.O_NOFOLLOW;

export function writeAll(file: number, content: Uint8Array, write: WriteBytes = writeSync): void {
  for (let at = 0; at < content.length; ) at += write(file, content, at);
}

/** Keeps bytes that are about to be cut off; those of an earlier time go. */
export function setAside(path: string, torn: Uint8Array): void {
  rmSync(path, { force: true });
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  writeAll(file, torn);
  closeSync(file);
}

export function truncate(path: string, length: number): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW);
  ftruncateSync(file, length);
  closeSync(file);
}

/** A half-written file takes space that another may need; on a file system that takes nothing any more it has to stay. */
export function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The next compaction removes it.
  }
}
