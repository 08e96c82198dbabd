import { closeSync, fchmodSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a file that is either absent or whole, on the disk, and never replaces one that exists (EEXIST).
 * O_EXCL on the final name alone would leave an empty file behind when the power goes, and the next start would have to refuse it;
 * so the bytes go to a second name first and the link is the exclusive step.
 */
export function createFile(path: string, bytes: Uint8Array): void {
  const written = writeBeside(path, bytes);
  try {
    linkSync(written, path);
  } finally {
    rmSync(written);
  }
  syncFolder(dirname(path));
}

/** Replaces a file so that every reader, also after a power cut, sees the old bytes or the new ones. */
export function replaceFile(path: string, bytes: Uint8Array): void {
  renameSync(writeBeside(path, bytes), path);
  syncFolder(dirname(path));
}

/** Puts one file in the place of another, in one step that a power cut leaves done or undone. */
export function moveFile(from: string, to: string): void {
  renameSync(from, to);
  syncFolder(dirname(to));
}

/** Both callers hold the lock of the data folder, so a left-over of this name belongs to a start that was cut short. */
function writeBeside(path: string, bytes: Uint8Array): string {
  const beside = `${path}.new`;
  rmSync(beside, { force: true });
  const file = openSync(beside, "wx", 0o600);
  try {
    fchmodSync(file, 0o600);
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return beside;
}

export function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
