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
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { decode, encode, fixed, list, struct, u64, type ValueOf, variant } from "@keystead/core/encoding/layout.ts";
import { Fault } from "@keystead/core/fault.ts";
import { deriveKey, digestKey, equalBytes, hmacSha256 } from "../state/digest.ts";
import { createNumberRanges, type NumberRanges } from "./number_ranges.ts";
import { createPins, type Pin, type Pins, pinDigestLength } from "./pins.ts";

const macLength = 32;
const headLength = 8;

// Node's permissions follow links: one planted in the folder would lead appends, or a truncation, elsewhere.
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;
const magic = new TextEncoder().encode("keystead memory 1\n");

const pinLayout = struct({ organizationId: fixed(16), version: u64, digest: fixed(pinDigestLength) });
const rangeLayout = struct({ boot: fixed(16), first: u64, last: u64 });

const recordLayout = variant({
  /** The deployment this memory belongs to; written once, at the first birth, adoption or acceptance. */
  deployment: struct({ deploymentId: fixed(16) }),
  release: struct({ timeMs: u64, pins: list(pinLayout), leaves: list(rangeLayout) }),
  /** The operator set the clock's memory back. */
  clock: struct({ timeMs: u64 }),
  /** A deployment this signer has made. Whether it was ever committed shows when its birth is released. */
  born: struct({ deploymentId: fixed(16) }),
});

type MemoryRecord = ValueOf<typeof recordLayout>;

export type ReleasedRange = { boot: Uint8Array; first: number; last: number };
export type MovedPin = { organizationId: Uint8Array; pin: Pin };

export type Memory = {
  readonly pins: Pins;
  /** Undefined until the first birth, adoption or acceptance. */
  readonly deploymentId: Uint8Array | undefined;
  /** The newest time of any record. */
  readonly lastTimeMs: number;
  rememberDeployment(deploymentId: Uint8Array): void;
  rememberBirth(deploymentId: Uint8Array): void;
  /** Whether this very memory has seen the deployment being made. */
  wasBornHere(deploymentId: Uint8Array): boolean;
  /** One append for a whole group; it returns after the bytes are with the kernel, so any kill leaves them there. */
  rememberRelease(timeMs: number, pins: readonly MovedPin[], leaves: readonly ReleasedRange[]): void;
  resetClock(timeMs: number): void;
  /** Every released leaf number, by boot. */
  released(): ReleasedRange[];
  wasReleased(boot: Uint8Array, number: number): boolean;
  close(): void;
};

/**
 * A record on disk: length (4) ‖ its complement (4) ‖ content ‖ MAC over the MAC before it and the content, so that none can
 * be cut out. The complement tells a length that was torn off from one that was altered.
 */
function frameRecord(key: Uint8Array, previousMac: Uint8Array, record: MemoryRecord): Uint8Array {
  const content = encode(recordLayout, record);
  const framed = new Uint8Array(headLength + content.length + macLength);
  const view = new DataView(framed.buffer);
  view.setUint32(0, content.length);
  view.setUint32(4, ~content.length);
  framed.set(content, headLength);
  framed.set(hmacSha256(key, previousMac, content), headLength + content.length);
  return framed;
}

export type MemoryOptions = {
  compactBytes?: number;
  /** The root key before this one. A memory that it wrote is written anew. */
  retiring?: Uint8Array;
  /** How bytes reach the file; tests make it fail. */
  write?: (file: number, content: Uint8Array, at: number) => number;
};

export function openMemory(folder: string, rootKey: Uint8Array, options: MemoryOptions = {}): Memory {
  const path = join(folder, "memory");
  const key = deriveKey(rootKey, "memory");
  const compactBytes = options.compactBytes ?? 16 * 1024 * 1024;
  const { write = writeSync } = options;

  const pins = createPins();
  const released = new Map<string, { boot: Uint8Array; numbers: NumberRanges }>();
  let deploymentId: Uint8Array | undefined;
  const born = new Map<string, Uint8Array>();
  let lastTimeMs = 0;
  let isBroken = false;
  let mac: Uint8Array = hmacSha256(key, magic);
  let length = 0;
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
    if (isBroken) throw unwritable();
    const framed = frameRecord(key, mac, record);
    writeOrUndo(framed);
    mac = framed.subarray(framed.length - macLength);
    length += framed.length;
    learn(record);
    if (length > compactedLength * 2 + compactBytes) tryCompact();
  }

  /** Half a record would hide every record behind it, so a write that fails is taken back, or nothing is written again. */
  function writeOrUndo(framed: Uint8Array): void {
    try {
      writeAll(file, framed, write);
    } catch (cause) {
      try {
        ftruncateSync(file, length);
      } catch {
        isBroken = true;
      }
      throw unwritable(cause);
    }
  }

  /** Writes what is remembered into a second file and renames it over the first; a kill leaves one or the other whole. */
  function tryCompact(): void {
    const next = `${path}.next`;
    try {
      rmSync(next, { force: true });
      compact(next);
    } catch {
      // The long file is as good as the short one; the next chance comes with the next doubling.
      rmSync(next, { force: true });
      compactedLength = length;
    }
  }

  function compact(next: string): void {
    const out = openSync(next, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC, 0o600);
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
    const leaves = [...releasedRanges()];
    for (let at = 0; at < leaves.length; at += 4096) {
      put({ kind: "release", value: { timeMs: lastTimeMs, pins: [], leaves: leaves.slice(at, at + 4096) } });
    }
    let batch: ValueOf<typeof pinLayout>[] = [];
    const flush = () => {
      if (batch.length > 0) put({ kind: "release", value: { timeMs: lastTimeMs, pins: batch, leaves: [] } });
      batch = [];
    };
    for (const { organizationId, pin } of pins.entries()) {
      batch.push({ organizationId, version: pin.version, digest: pin.digest });
      if (batch.length === 4096) flush();
    }
    flush();
    // The last record is the clock's, so that a time that was reset stays reset.
    put({ kind: "clock", value: { timeMs: lastTimeMs } });
    closeSync(out);
    const fresh = openSync(next, appending);
    renameSync(next, path);
    closeSync(file);
    file = fresh;
    mac = chain;
    length = written;
    compactedLength = written;
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
    if (length < stored.length) {
      setAside(`${path}.torn`, stored.subarray(length));
      truncate(path, length);
    }
    compactedLength = length;
    file = openSync(path, appending);
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
    rememberDeployment: (id) => append({ kind: "deployment", value: { deploymentId: id } }),
    rememberBirth: (id) => append({ kind: "born", value: { deploymentId: id } }),
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
    resetClock: (timeMs) => append({ kind: "clock", value: { timeMs } }),
    released: () => [...releasedRanges()],
    wasReleased: (boot, number) => released.get(digestKey(boot))?.numbers.has(number) ?? false,
    close: () => closeSync(file),
  };
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

/**
 * Hands over each whole record and returns the length they take. What a power cut tears off is the end of the file, or
 * leaves it zero; everything else that does not verify is damage, and nothing is believed of a damaged memory.
 */
function readRecords(
  stored: Uint8Array,
  key: Uint8Array,
  onRecord: (record: MemoryRecord, mac: Uint8Array) => void,
): number {
  if (stored.length < magic.length && equalBytes(stored, magic.subarray(0, stored.length))) return 0;
  if (!equalBytes(stored.subarray(0, magic.length), magic)) throw damaged("it does not begin like one");
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength);
  let mac: Uint8Array = hmacSha256(key, magic);
  let at = magic.length;
  while (at + headLength <= stored.length) {
    const contentLength = view.getUint32(at);
    if (contentLength !== ~view.getUint32(at + 4) >>> 0) {
      if (stored.subarray(at).every((byte) => byte === 0)) break;
      throw damaged(`the length of the record at byte ${at} was altered`);
    }
    const end = at + headLength + contentLength + macLength;
    if (end > stored.length) break;
    const content = stored.subarray(at + headLength, at + headLength + contentLength);
    const stated = stored.subarray(at + headLength + contentLength, end);
    if (!equalBytes(hmacSha256(key, mac, content), stated)) {
      // Of the last append, blocks may have reached the disk and others not.
      if (end === stored.length && at > magic.length) break;
      throw damaged(`the record at byte ${at} was altered, or the root key does not belong to this database`);
    }
    mac = Uint8Array.from(stated);
    onRecord(decode(recordLayout, content), mac);
    at = end;
  }
  return at;
}

/** Whether this key has written it: a memory of no whole record is anyone's. */
function isReadable(stored: Uint8Array, key: Uint8Array): boolean {
  try {
    readRecords(stored, key, () => undefined);
    return true;
  } catch {
    return false;
  }
}

function unwritable(cause?: unknown): Fault {
  return new Fault("unavailable", "the signer's memory cannot be written; nothing is released until it can", { cause });
}

function damaged(why: string): Fault {
  return new Fault(
    "failed_precondition",
    `the signer's memory is damaged: ${why}; move it away and run \`keystead accept-database\` once you have made sure of the database`,
  );
}
