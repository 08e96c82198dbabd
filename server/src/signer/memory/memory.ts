/**
 * What the signer remembers outside the database: the newest state it released of each organization, the numbers of the
 * leaves it released, the last time it saw, and which deployment it serves. An append-only file in a folder that only the
 * signer may write; layout and crash rules: SPEC.md in this folder.
 */
import {
  closeSync,
  constants,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { Fault } from "@keystead/core/fault.ts";
import { deriveKey, digestKey, hmacSha256 } from "../../state/digest.ts";
import {
  frameRecord,
  isReadable,
  type MemoryRecord,
  macLength,
  magic,
  type PinRecord,
  readRecords,
  tornBytes,
} from "./memory_records.ts";
import { createNumberRanges, type NumberRanges } from "./number_ranges.ts";
import { createPins, type Pin, type Pins, pinDigestLength } from "./pins.ts";

// Node's permissions follow links: one planted in the folder would lead appends, or a truncation, elsewhere.
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;
/** Bytes written so are on the disk when the call comes back. Node's permissions leave the signer no other way to wait for it. */
const waiting = constants.O_RDWR | constants.O_DSYNC | constants.O_NOFOLLOW;

/** Records are not waited for one by one, but never are more bytes than this on their way to the disk once one is remembered. */
const unsyncedBytes = 256 * 1024;

/**
 * Clocks differ by so much everywhere: an acceptance reaches this far ahead, and bodies within it need no note. Those further ahead are
 * noted in steps, one record for each.
 */
const aheadToleranceMs = 1_000;
const aheadStepMs = 10_000;

export type ReleasedRange = { boot: Uint8Array; first: number; last: number };
export type MovedPin = { organizationId: Uint8Array; pin: Pin };

export type Memory = {
  readonly pins: Pins;
  /** Undefined until the first birth, adoption or acceptance. */
  readonly deploymentId: Uint8Array | undefined;
  /** The newest time of any record. */
  readonly lastTimeMs: number;
  /** Nothing that was stamped or approved up to this time is taken: the database it may have been executed in is lost. 0 for none. */
  readonly acceptedAtMs: number;
  rememberDeployment(deploymentId: Uint8Array): void;
  rememberBirth(deploymentId: Uint8Array): void;
  /** Whether this very memory has seen the deployment being made. */
  wasBornHere(deploymentId: Uint8Array): boolean;
  /** One append for a whole group; it returns after the bytes are with the kernel, so any kill leaves them there. */
  rememberRelease(timeMs: number, pins: readonly MovedPin[], leaves: readonly ReleasedRange[]): void;
  resetClock(timeMs: number): void;
  /** The operator took a database as it is. Bodies that name a later time and were taken before count as older, too. */
  rememberAcceptance(timeMs: number): void;
  /** A body was taken whose own time may lie ahead of the clock: an acceptance must not make it new. */
  noteBodyTime(bodyMs: number, nowMs: number): void;
  /** Every released leaf number, by boot. */
  released(): ReleasedRange[];
  wasReleased(boot: Uint8Array, number: number): boolean;
  /** A process of this signer begins. */
  rememberBoot(boot: Uint8Array): void;
  /** Whether it was a process of this signer, whose releases are all remembered here. */
  knowsBoot(boot: Uint8Array): boolean;
  /** What a power cut had torn off the end of the file, in bytes. */
  readonly torn: number;
  /** Waits until everything is on the disk. */
  sync(): void;
  close(): void;
};

export type MemoryOptions = {
  compactBytes?: number;
  /** The root key before this one. A memory that it wrote is written anew. */
  retiring?: Uint8Array;
  /** How bytes reach the file; tests make it fail. */
  write?: (file: number, content: Uint8Array, at: number) => number;
  /** Words for the operator: what keeps it from being written, and that nothing does any more. */
  note?: (message: string) => void;
  /** The file has its name from another one now, which is not on the disk before somebody syncs the folder; Node lets the signer not. */
  renamed?: () => void;
};

export function openMemory(folder: string, rootKey: Uint8Array, options: MemoryOptions = {}): Memory {
  const path = join(folder, "memory");
  const key = deriveKey(rootKey, "memory");
  const compactBytes = options.compactBytes ?? 16 * 1024 * 1024;
  const { write = writeSync, note = () => undefined, renamed = () => undefined } = options;

  const pins = createPins();
  const released = new Map<string, { boot: Uint8Array; numbers: NumberRanges }>();
  /** Processes of this signer. Leaves of others are released here too, but not all of them. */
  const ownBoots = new Map<string, Uint8Array>();
  let deploymentId: Uint8Array | undefined;
  const born = new Map<string, Uint8Array>();
  let lastTimeMs = 0;
  let acceptedAtMs = 0;
  let aheadMs = 0;
  /** Behind its last record the file may hold a part of one that was not taken back yet. */
  let hasRest = false;
  let isFailing = false;
  let mac: Uint8Array = hmacSha256(key, magic);
  let length = 0;
  /** Up to here it is on the disk. */
  let synced = 0;
  let torn = 0;
  let compactedLength = 0;
  let file: number;

  function numbersOf(boot: Uint8Array): NumberRanges {
    const found = released.get(digestKey(boot));
    if (found !== undefined) return found.numbers;
    const numbers = createNumberRanges();
    released.set(digestKey(boot), { boot: Uint8Array.from(boot), numbers });
    return numbers;
  }

  function learn(record: MemoryRecord): void {
    if (record.kind === "deployment") deploymentId = Uint8Array.from(record.value.deploymentId);
    else if (record.kind === "clock") lastTimeMs = record.value.timeMs;
    else if (record.kind === "accepted") acceptedAtMs = Math.max(acceptedAtMs, record.value.timeMs);
    else if (record.kind === "ahead") aheadMs = Math.max(aheadMs, record.value.timeMs);
    else if (record.kind === "boot") ownBoots.set(digestKey(record.value.boot), Uint8Array.from(record.value.boot));
    else if (record.kind === "born") {
      born.set(digestKey(record.value.deploymentId), Uint8Array.from(record.value.deploymentId));
    } else {
      lastTimeMs = Math.max(lastTimeMs, record.value.timeMs);
      for (const { organizationId, version, digest } of record.value.pins)
        pins.set(organizationId, { version, digest });
      for (const { boot, first, last } of record.value.leaves) numbersOf(boot).addRange(first, last);
    }
  }

  function append(record: MemoryRecord): void {
    writeRecord(record);
    // A record that is longer than all that may be on its way is waited for itself.
    if (length - synced > unsyncedBytes) syncOrRefuse();
    learn(record);
    if (length > compactedLength * 2 + compactBytes) tryCompact();
  }

  function writeRecord(record: MemoryRecord): void {
    const framed = frameRecord(key, mac, record);
    try {
      if (hasRest) cutRest();
      if (length - synced + framed.length > unsyncedBytes) sync();
      writeOrUndo(framed);
    } catch (cause) {
      throw unwritable(cause);
    }
    if (isFailing) note("its memory can be written again");
    isFailing = false;
    mac = framed.subarray(framed.length - macLength);
    length += framed.length;
  }

  /**
   * For what comes once and must not be lost: a deployment without it would need the operator's word again. It is not known before
   * it is on the disk, so that whoever could not wait for it asks, and waits, once more.
   */
  function appendAndWait(record: MemoryRecord): void {
    writeRecord(record);
    syncOrRefuse();
    learn(record);
  }

  function syncOrRefuse(): void {
    try {
      sync();
    } catch (cause) {
      throw unwritable(cause);
    }
  }

  /** Writes the end of the file once more, the same bytes in the same place, and waits for them. */
  function sync(): void {
    const again = openSync(path, waiting);
    try {
      const end = new Uint8Array(length - synced);
      const size = readSync(again, end, 0, end.length, synced);
      for (let at = 0; at < size; ) at += writeSync(again, end, at, size - at, synced + at);
    } finally {
      closeSync(again);
    }
    synced = length;
  }

  function trySync(): void {
    try {
      sync();
    } catch {
      // The file is as it was; whoever has to wait for it is told.
    }
  }

  /** Half a record would hide every record behind it, so a write that fails is taken back before anything else is written. */
  function writeOrUndo(framed: Uint8Array): void {
    try {
      writeAll(file, framed, write);
    } catch (error) {
      hasRest = true;
      try {
        cutRest();
      } catch {
        // A file system that takes nothing any more. The next record cuts it, or is not written either.
      }
      throw error;
    }
  }

  /** After a power cut, too, the rest must not come back in the place of what is written next. */
  function cutRest(): void {
    ftruncateSync(file, length);
    hasRest = false;
    synced = Math.max(0, Math.min(synced, length - 1));
    trySync();
  }

  function unwritable(cause: unknown): Fault {
    const why = cause instanceof Error ? cause.message : String(cause);
    if (!isFailing) note(`its memory ${path} cannot be written (${why}); nothing is released until it can`);
    isFailing = true;
    const { code } = cause as { code?: string };
    const reason = code === undefined ? "" : ` (${code})`;
    const message = `the signer's memory cannot be written${reason}; nothing is released until it can`;
    return new Fault("unavailable", message, { cause });
  }

  /** Writes what is remembered into a second file and renames it over the first; a kill leaves one or the other whole. */
  function tryCompact(): void {
    const next = `${path}.next`;
    try {
      rmSync(next, { force: true });
      compact(next);
    } catch {
      // The long file is as good as the short one; the next chance comes with the next doubling.
      compactedLength = length;
      removeIfPossible(next);
    }
  }

  function compact(next: string): void {
    const out = openSync(next, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC, 0o600);
    let made: { chain: Uint8Array; written: number };
    try {
      made = writeCompacted(out);
    } finally {
      closeSync(out);
    }
    const fresh = openSync(next, appending);
    // A power cut may undo the renaming: then it is the long file that counts, and it shall lack nothing either.
    sync();
    renameSync(next, path);
    closeSync(file);
    file = fresh;
    mac = made.chain;
    length = made.written;
    synced = length;
    compactedLength = length;
    renamed();
  }

  function writeCompacted(out: number): { chain: Uint8Array; written: number } {
    let chain: Uint8Array = hmacSha256(key, magic);
    let written = magic.length;
    writeAll(out, magic);
    const put = (record: MemoryRecord) => {
      const framed = frameRecord(key, chain, record);
      writeAll(out, framed, write);
      chain = framed.subarray(framed.length - macLength);
      written += framed.length;
    };
    for (const id of born.values()) put({ kind: "born", value: { deploymentId: id } });
    if (deploymentId !== undefined) put({ kind: "deployment", value: { deploymentId } });
    for (const boot of ownBoots.values()) put({ kind: "boot", value: { boot } });
    const leaves = [...releasedRanges()];
    for (let at = 0; at < leaves.length; at += 4096) {
      put({ kind: "release", value: { timeMs: lastTimeMs, pins: [], leaves: leaves.slice(at, at + 4096) } });
    }
    let batch: PinRecord[] = [];
    const flush = () => {
      if (batch.length > 0) put({ kind: "release", value: { timeMs: lastTimeMs, pins: batch, leaves: [] } });
      batch = [];
    };
    for (const { organizationId, pin } of pins.entries()) {
      batch.push({ organizationId, version: pin.version, digest: pin.digest });
      if (batch.length === 4096) flush();
    }
    flush();
    if (acceptedAtMs > 0) put({ kind: "accepted", value: { timeMs: acceptedAtMs } });
    if (aheadMs > 0) put({ kind: "ahead", value: { timeMs: aheadMs } });
    // The last record is the clock's, so that a time that was reset stays reset.
    put({ kind: "clock", value: { timeMs: lastTimeMs } });
    return { chain, written };
  }

  function* releasedRanges(): Generator<ReleasedRange> {
    for (const { boot, numbers } of released.values()) {
      for (const [first, last] of numbers.ranges()) yield { boot, first, last };
    }
  }

  if (existsSync(path)) {
    const stored = new Uint8Array(readFileSync(path));
    const { retiring } = options;
    const isOld =
      retiring !== undefined && !isReadable(stored, key) && isReadable(stored, deriveKey(retiring, "memory"));
    length = readRecords(stored, isOld ? deriveKey(retiring, "memory") : key, (record, chain) => {
      learn(record);
      mac = chain;
    });
    // What a power cut tore was never relied upon. It is cut, or the next record would follow rubbish, and kept aside.
    torn = stored.length - length;
    if (torn > 0) {
      setAside(`${path}.torn`, stored.subarray(length));
      truncate(path, length);
    }
    compactedLength = length;
    file = openSync(path, appending);
    // Nor did the process before this one wait for its last records.
    synced = Math.max(0, length - tornBytes);
    trySync();
    if (length === 0) {
      writeAll(file, magic);
      length = magic.length;
    }
    if (isOld) {
      rmSync(`${path}.next`, { force: true });
      compact(`${path}.next`);
    }
  } else {
    file = openSync(path, appending | constants.O_CREAT | constants.O_EXCL, 0o600);
    writeAll(file, magic);
    length = magic.length;
  }

  return {
    pins,
    get deploymentId() {
      return deploymentId;
    },
    get lastTimeMs() {
      return lastTimeMs;
    },
    get acceptedAtMs() {
      return acceptedAtMs;
    },
    rememberDeployment: (id) => appendAndWait({ kind: "deployment", value: { deploymentId: id } }),
    rememberBirth: (id) => appendAndWait({ kind: "born", value: { deploymentId: id } }),
    wasBornHere: (id) => born.has(digestKey(id)),
    rememberRelease: (timeMs, moved, leaves) =>
      append({
        kind: "release",
        value: {
          timeMs,
          pins: moved.map(({ organizationId, pin }) => ({
            organizationId,
            version: pin.version,
            digest: pin.digest.subarray(0, pinDigestLength),
          })),
          leaves: [...leaves],
        },
      }),
    resetClock: (timeMs) => appendAndWait({ kind: "clock", value: { timeMs } }),
    rememberAcceptance(timeMs) {
      appendAndWait({ kind: "accepted", value: { timeMs: Math.max(timeMs + aheadToleranceMs, aheadMs) } });
    },
    noteBodyTime(bodyMs, nowMs) {
      if (bodyMs <= nowMs + aheadToleranceMs || bodyMs <= aheadMs) return;
      append({ kind: "ahead", value: { timeMs: Math.ceil(bodyMs / aheadStepMs) * aheadStepMs } });
    },
    released: () => [...releasedRanges()],
    rememberBoot: (boot) => appendAndWait({ kind: "boot", value: { boot } }),
    knowsBoot: (boot) => ownBoots.has(digestKey(boot)),
    wasReleased: (boot, number) => released.get(digestKey(boot))?.numbers.has(number) ?? false,
    torn,
    sync: syncOrRefuse,
    close: () => closeSync(file),
  };
}

/** Half of a second file takes room that the first may need; on a file system that takes nothing any more it has to stay. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The next compaction removes it.
  }
}

function setAside(path: string, torn: Uint8Array): void {
  rmSync(path, { force: true });
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  writeAll(file, torn);
  closeSync(file);
}

function truncate(path: string, length: number): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW);
  ftruncateSync(file, length);
  closeSync(file);
}

function writeAll(file: number, content: Uint8Array, write: MemoryOptions["write"] = writeSync): void {
  for (let at = 0; at < content.length; ) at += write(file, content, at);
}
