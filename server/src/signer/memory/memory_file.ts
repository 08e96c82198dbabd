/**
 * The memory's open file: records are appended whole or taken back, the end is waited for on the disk, and a shorter file takes its place.
 * It knows how many bytes are on their way to the disk; what records mean it does not know.
 */
import { closeSync, constants, ftruncateSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { Fault } from "@keystead/core/fault.ts";
import { appending, removeIfPossible, type WriteBytes, waiting, writeAll } from "./file_bytes.ts";
import { firstMac, frameRecord, macLength, magic, tornBytes } from "./memory_records.ts";
import type { MemoryRecord } from "./record_kinds.ts";
import type { StoredMemory } from "./stored_memory.ts";

/** Records are not waited for one by one, but never are more bytes than this on their way to the disk once one is remembered. */
const unsyncedBytes = 256 * 1024;

export type FileOptions = {
  write: WriteBytes;
  note: (message: string) => void;
  renamed: (synced: () => void) => void;
  compactBytes: number;
};

export class MemoryFile {
  readonly #path: string;
  readonly #key: Uint8Array;
  readonly #options: FileOptions;
  #file: number;
  /** The MAC of the last record. */
  #mac: Uint8Array;
  #length = 0;
  /** Up to here it is on the disk. */
  #synced = 0;
  /** What the last compaction left, or the start found. */
  #compactedLength = 0;
  /** Behind its last record the file may hold a part of one that was not taken back yet. */
  #hasRest = false;
  #isFailing = false;
  /** How often the file got its name without a word yet that the folder is synced. */
  #unsyncedNames = 0;

  /** Goes on with what `stored` tells of the file, or makes a new one when there is none. */
  constructor(path: string, key: Uint8Array, stored: StoredMemory | undefined, options: FileOptions) {
    this.#path = path;
    this.#key = key;
    this.#options = options;
    this.#mac = stored?.mac ?? firstMac(key);
    if (stored === undefined) {
      this.#file = openSync(path, appending | constants.O_CREAT | constants.O_EXCL, 0o600);
    } else {
      this.#length = stored.length;
      this.#compactedLength = stored.length;
      this.#file = openSync(path, appending);
      // The process before this one did not wait for its last records.
      this.#synced = Math.max(0, stored.length - tornBytes);
      this.#trySync();
    }
    if (this.#length === 0) {
      writeAll(this.#file, magic);
      this.#length = magic.length;
    }
    // It may be new, or the process before this one may have renamed it.
    this.#named();
  }

  /** Whether a power cut would leave this file under its name, and not the one before. */
  get isNamed(): boolean {
    return this.#unsyncedNames === 0;
  }

  #named(): void {
    this.#unsyncedNames += 1;
    this.#options.renamed(() => {
      this.#unsyncedNames -= 1;
    });
  }

  /** Returns after the record is with the kernel, so any kill leaves it there; with `isWaitedFor`, after it is on the disk. */
  append(record: MemoryRecord, isWaitedFor: boolean): void {
    const framed = frameRecord(this.#key, this.#mac, record);
    try {
      if (this.#hasRest) this.#cutRest();
      if (this.#length - this.#synced + framed.length > unsyncedBytes) this.#sync();
      this.#writeOrUndo(framed);
    } catch (cause) {
      throw this.#unwritable(cause);
    }
    if (this.#isFailing) this.#options.note("its memory can be written again");
    this.#isFailing = false;
    this.#mac = framed.subarray(framed.length - macLength);
    this.#length += framed.length;
    // A record that is longer than all that may be on its way is waited for itself.
    if (isWaitedFor || this.#length - this.#synced > unsyncedBytes) this.waitForDisk();
  }

  /** Returns once everything is on the disk. */
  waitForDisk(): void {
    try {
      this.#sync();
    } catch (cause) {
      throw this.#unwritable(cause);
    }
  }

  get isLong(): boolean {
    return this.#length > this.#compactedLength * 2 + this.#options.compactBytes;
  }

  /** Writes the records into a second file and renames it over the first; a kill leaves one or the other whole. */
  replace(records: Iterable<MemoryRecord>): void {
    rmSync(this.#next, { force: true });
    const { mac, length } = writeNewFile(this.#next, this.#key, records, this.#options.write);
    const file = openSync(this.#next, appending);
    // A power cut may undo the renaming: then it is the long file that counts, and it shall lack nothing either.
    this.#sync();
    renameSync(this.#next, this.#path);
    closeSync(this.#file);
    this.#file = file;
    this.#mac = mac;
    this.#length = length;
    this.#synced = length;
    this.#compactedLength = length;
    this.#named();
  }

  /** The long file is as good as the short one; after a failure the next chance comes with the next doubling. */
  tryReplace(records: Iterable<MemoryRecord>): void {
    try {
      this.replace(records);
    } catch {
      this.#compactedLength = this.#length;
      removeIfPossible(this.#next);
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  get #next(): string {
    return `${this.#path}.next`;
  }

  /** Writes the end of the file once more, the same bytes in the same place, and waits for them. */
  #sync(): void {
    const again = openSync(this.#path, waiting);
    try {
      const end = new Uint8Array(this.#length - this.#synced);
      const size = readSync(again, end, 0, end.length, this.#synced);
      for (let at = 0; at < size; ) at += writeSync(again, end, at, size - at, this.#synced + at);
    } finally {
      closeSync(again);
    }
    this.#synced = this.#length;
  }

  #trySync(): void {
    try {
      this.#sync();
    } catch {
      // The file is as it was; a caller that has to wait for it is told.
    }
  }

  /** Half a record would hide every record behind it, so a write that fails is taken back before anything else is written. */
  #writeOrUndo(framed: Uint8Array): void {
    try {
      writeAll(this.#file, framed, this.#options.write);
    } catch (error) {
      this.#hasRest = true;
      try {
        this.#cutRest();
      } catch {
        // A file system that takes nothing any more. The next record cuts it, or is not written either.
      }
      throw error;
    }
  }

  /** After a power cut, too, the rest must not come back in the place of what is written next. */
  #cutRest(): void {
    ftruncateSync(this.#file, this.#length);
    this.#hasRest = false;
    this.#synced = Math.max(0, Math.min(this.#synced, this.#length - 1));
    this.#trySync();
  }

  #unwritable(cause: unknown): Fault {
    const why = cause instanceof Error ? cause.message : String(cause);
    if (!this.#isFailing) {
      this.#options.note(`its memory ${this.#path} cannot be written (${why}); nothing is released until it can`);
    }
    this.#isFailing = true;
    const { code } = cause as { code?: string };
    const reason = code === undefined ? "" : ` (${code})`;
    const message = `the signer's memory cannot be written${reason}; nothing is released until it can`;
    return new Fault("unavailable", message, { cause });
  }
}

/** Every write to it is on the disk when it comes back. */
function writeNewFile(
  path: string,
  key: Uint8Array,
  records: Iterable<MemoryRecord>,
  write: WriteBytes,
): { mac: Uint8Array; length: number } {
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC, 0o600);
  try {
    let mac = firstMac(key);
    let length = magic.length;
    writeAll(file, magic);
    for (const record of records) {
      const framed = frameRecord(key, mac, record);
      writeAll(file, framed, write);
      mac = framed.subarray(framed.length - macLength);
      length += framed.length;
    }
    return { mac, length };
  } finally {
    closeSync(file);
  }
}
