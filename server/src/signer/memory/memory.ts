/**
 * What the signer remembers outside the database: the newest state it released of each organization, the numbers of the
 * leaves it released, the last time it saw, and which deployment it serves. An append-only file in a folder that only the
 * signer may write; layout and crash rules: SPEC.md of the signer.
 */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "@keystead/core/fault.ts";
import { deriveKey } from "../../state/digest.ts";
import { slotOf } from "../../state/journal.ts";
import { type CodeMemory, createCodeMemory } from "./code_memory.ts";
import { createContents, type MemoryContents } from "./contents.ts";
import type { WriteBytes } from "./file_bytes.ts";
import type { LoggedLeaf } from "./log_tail.ts";
import { MemoryFile } from "./memory_file.ts";
import { type Pin, type Pins, pinDigestLength } from "./pins.ts";
import { applyRecord, compactedRecords, isWaitedFor, type MemoryRecord } from "./record_kinds.ts";
import type { ReleasedRange } from "./released_numbers.ts";
import type { NewLog, SignerLog } from "./signer_log.ts";
import { readStored } from "./stored_memory.ts";
import { isTakenBy, type TakenBody, takenDigestLength } from "./taken_bodies.ts";

/**
 * Clocks differ by so much everywhere: an acceptance reaches this far ahead, and bodies within it need no note. Those further ahead are
 * noted in steps, one record for each.
 */
const aheadToleranceMs = 1_000;
const aheadStepMs = 10_000;

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
  /** The log; undefined before the first is opened. Only records change it. */
  readonly log: Readonly<Omit<SignerLog, "append" | "setCheckpoint" | "endTakingAll">> | undefined;
  /** Ends the log and begins the next. */
  openLog(log: NewLog): void;
  /**
   * One append for a whole group: pins move, and each leaf has its place in the log. It returns after the bytes are with the kernel, so any
   * kill leaves them there.
   */
  rememberAppended(timeMs: number, pins: readonly MovedPin[], leaves: readonly LoggedLeaf[]): void;
  /** False for a moment after the file was opened or compacted: a power cut could bring back the one before. */
  readonly isNamed: boolean;
  /** The log is signed up to this size, and stored elsewhere. Returns once that is on the disk, with the root. */
  rememberCheckpoint(size: number): Uint8Array;
  /** Leaves from before the log are taken in, all that came. */
  rememberTakenIn(timeMs: number): void;
  /** Whether a leaf was released and is in no log yet. */
  owes(boot: Uint8Array, number: number): boolean;
  /** All of those; or the first so many ranges. */
  owed(count?: number): ReleasedRange[];
  /** Pins that are set, and leaves that count as released before they are in the log: the log owes them. */
  rememberRelease(timeMs: number, pins: readonly MovedPin[], leaves: readonly ReleasedRange[]): void;
  resetClock(timeMs: number): void;
  /** The operator took a database as it is. Bodies that name a later time and were taken before count as older, too. */
  rememberAcceptance(timeMs: number): void;
  /** A body was taken whose own time may lie ahead of the clock: an acceptance must not make it new. */
  noteBodyTime(bodyMs: number, nowMs: number): void;
  /**
   * A body that names a parent is about to run in this organization. Told before anything is made of it, so that no other takes it, also
   * after a restart; refused where another has, where that is not known any more, or where the organization has taken too many.
   */
  takeBody(body: TakenBody, isRootMember: () => boolean, nowMs: number): void;
  /** One-time codes: when they began, who tried to answer them, and how many there are. */
  readonly codes: CodeMemory;
  /** Every released leaf number, by boot; or so many ranges of them from this one on. Callers can make them too many to list at once. */
  released(from?: number, count?: number): ReleasedRange[];
  /** How many ranges that are. */
  readonly releasedCount: number;
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
  write?: WriteBytes;
  /** Words for the operator: what keeps it from being written, and that nothing does any more. */
  note?: (message: string) => void;
  /** The file has a new name, which is not on the disk before somebody syncs the folder, and says so; Node lets the signer not. */
  renamed?: (synced: () => void) => void;
};

export function openMemory(folder: string, rootKey: Uint8Array, options: MemoryOptions = {}): Memory {
  const path = join(folder, "memory");
  const { write = writeSync, note = () => undefined, renamed = (synced) => synced(), retiring } = options;
  const { compactBytes = 16 * 1024 * 1024 } = options;
  const keys = {
    current: deriveKey(rootKey, "memory"),
    retiring: retiring === undefined ? undefined : deriveKey(retiring, "memory"),
  };
  const contents = createContents();
  const stored = readStored(path, keys, (record) => applyRecord(contents, record));
  const file = new MemoryFile(path, keys.current, stored, { write, note, renamed, compactBytes });
  if (stored?.isOfRetiringKey === true) file.replace(compactedRecords(contents));

  /** A record counts as remembered after it is written, and waited for if it has to be: a caller that is refused asks once more. */
  function remember(record: MemoryRecord): void {
    const isWaited = isWaitedFor(record);
    file.append(record, isWaited);
    applyRecord(contents, record);
    if (!isWaited && file.isLong) file.tryReplace(compactedRecords(contents));
  }

  return memoryOf(contents, remember, file, stored?.torn ?? 0);
}

/** The questions are answered from the contents; everything that changes them is a record first. */
function memoryOf(
  contents: MemoryContents,
  remember: (record: MemoryRecord) => void,
  file: MemoryFile,
  torn: number,
): Memory {
  const codes = createCodeMemory(contents, remember);
  return {
    pins: contents.pins,
    codes,
    get deploymentId() {
      return contents.deploymentId;
    },
    get lastTimeMs() {
      return contents.lastTimeMs;
    },
    get acceptedAtMs() {
      return contents.acceptedAtMs;
    },
    wasBornHere: (deploymentId) => contents.born.has(deploymentId),
    knowsBoot: (boot) => contents.ownBoots.has(boot),
    released: (from, count) => firstOf(contents.released.ranges(from), count),
    get releasedCount() {
      return contents.released.rangeCount;
    },
    wasReleased: (boot, number) => contents.released.has(boot, number),
    get log() {
      return contents.log;
    },
    get isNamed() {
      return file.isNamed;
    },
    owes: (boot, number) => !contents.owed.isEmpty && contents.owed.has(boot, number),
    owed: (count) => firstOf(contents.owed.ranges(), count),
    openLog: (log) => remember({ kind: "logOpened", value: log }),
    rememberAppended(timeMs, moved, leaves) {
      remember({ kind: "appended", value: { timeMs, pins: moved.map(pinValue), leaves } });
    },
    rememberCheckpoint(size) {
      if (contents.log === undefined) throw new Fault("internal", "the memory has no log");
      const edge = contents.log.edgeAt(size);
      remember({ kind: "checkpoint", value: { edge: edge.toBytes() } });
      return edge.root();
    },
    rememberTakenIn: (timeMs) => remember({ kind: "takenIn", value: { timeMs } }),
    rememberDeployment: (deploymentId) => remember({ kind: "deployment", value: { deploymentId } }),
    rememberBirth: (deploymentId) => remember({ kind: "born", value: { deploymentId } }),
    rememberBoot: (boot) => remember({ kind: "boot", value: { boot } }),
    resetClock(timeMs) {
      codes.beginAnew(timeMs);
      remember({ kind: "clock", value: { timeMs } });
    },
    rememberRelease(timeMs, moved, leaves) {
      remember({ kind: "release", value: { timeMs, pins: moved.map(pinValue), leaves } });
    },
    rememberAcceptance(timeMs) {
      const lineMs = Math.max(timeMs + aheadToleranceMs, contents.aheadMs);
      remember({ kind: "accepted", value: { timeMs: lineMs } });
    },
    noteBodyTime(bodyMs, nowMs) {
      if (bodyMs <= nowMs + aheadToleranceMs || bodyMs <= contents.aheadMs) return;
      remember({ kind: "ahead", value: { timeMs: Math.ceil(bodyMs / aheadStepMs) * aheadStepMs } });
    },
    takeBody(body, isRootMember, nowMs) {
      const { taken } = contents;
      taken.forgetOld(nowMs);
      if (isTakenBy(taken, body)) return;
      taken.makeSpace(body, isRootMember, nowMs);
      // Making space may have cost the minute that it is of itself.
      if (isTakenBy(taken, body)) return;
      const { namedId, organizationId, bodyMs } = body;
      const fingerprint = body.fingerprint.subarray(0, takenDigestLength);
      const notes = [{ slot: slotOf(bodyMs), fingerprint, organizationId }];
      remember({ kind: "taken", value: { namedId, floor: taken.floorOf(namedId), notes } });
    },
    torn,
    sync: () => file.waitForDisk(),
    close: () => file.close(),
  };
}

function firstOf<T>(items: Generator<T>, count = Number.POSITIVE_INFINITY): T[] {
  return items.take(count).toArray();
}

function pinValue({ organizationId, pin: { version, digest } }: MovedPin): Pin & { organizationId: Uint8Array } {
  return { organizationId, version, digest: digest.subarray(0, pinDigestLength) };
}
