/** Records in the memory's file: how one is framed, and how much of a file is believed. Layout: SPEC.md of the signer. */
import { decode, encode } from "@keystead/core/encoding/layout.ts";
import { Fault } from "@keystead/core/fault.ts";
import { createMac, equalBytes, hmacSha256 } from "../../state/digest.ts";
import { type MemoryRecord, recordLayout } from "./record_kinds.ts";

export const macLength = 32;
const headLength = 8;
export const magic = new TextEncoder().encode("keystead memory 1\n");

/** The MAC that the first record's goes on from. */
export function firstMac(key: Uint8Array): Uint8Array {
  return hmacSha256(key, magic);
}

const macs = new WeakMap<Uint8Array, (content: Uint8Array) => Uint8Array>();

/** Over the MAC before and the content. Nearly every release writes one. */
function nextMac(key: Uint8Array, previousMac: Uint8Array, content: Uint8Array): Uint8Array {
  const mac = macs.get(key) ?? createMac(key);
  macs.set(key, mac);
  const chained = new Uint8Array(previousMac.length + content.length);
  chained.set(previousMac);
  chained.set(content, previousMac.length);
  return mac(chained);
}

/**
 * How far from the end a power cut may have torn the file. What lies before it was waited for; bytes on their way and the
 * longest record that an honest gateway asks for are together less.
 */
export const tornBytes = 1024 * 1024;

/** What a disk writes whole or not at all. Larger ones are several of these. */
const sectorLength = 512;

/**
 * A record on disk: length (4) ‖ its complement (4) ‖ content ‖ MAC over the MAC before it and the content, so that none can
 * be cut out. The complement tells a length that was torn off from one that was altered.
 */
export function frameRecord(key: Uint8Array, previousMac: Uint8Array, record: MemoryRecord): Uint8Array {
  const content = encode(recordLayout, record);
  const framed = new Uint8Array(headLength + content.length + macLength);
  const view = new DataView(framed.buffer);
  view.setUint32(0, content.length);
  view.setUint32(4, ~content.length);
  framed.set(content, headLength);
  framed.set(nextMac(key, previousMac, content), headLength + content.length);
  return framed;
}

/**
 * Hands over each whole record and returns the length they take. Where a power cut tore one, that and all behind it is left
 * out; the chain of MACs keeps what was written later from being believed without what was before it. Everything else that
 * does not verify is damage, or another root key's, and nothing is believed of a damaged memory.
 */
export function readRecords(
  stored: Uint8Array,
  key: Uint8Array,
  onRecord: (record: MemoryRecord, mac: Uint8Array) => void,
): number {
  const begins = stored.subarray(0, magic.length);
  if (stored.length < magic.length && equalBytes(begins, magic.subarray(0, stored.length))) return 0;
  if (!equalBytes(begins, magic)) {
    if (isTorn(stored, 0, magic.length)) return 0;
    throw damaged("it does not begin like one");
  }
  let mac = firstMac(key);
  let at = magic.length;
  while (at + headLength <= stored.length) {
    const contentLength = lengthAt(stored, at);
    if (contentLength === undefined) {
      if (isTorn(stored, at, at + headLength)) return at;
      throw damaged(`the length of the record at byte ${at} was altered`);
    }
    const end = at + headLength + contentLength + macLength;
    if (end > stored.length) return at;
    const content = stored.subarray(at + headLength, end - macLength);
    const stated = stored.subarray(end - macLength, end);
    if (!equalBytes(nextMac(key, mac, content), stated)) {
      const isLastOfSeveral = end === stored.length && at > magic.length;
      if (isLastOfSeveral || isTorn(stored, at, end)) return at;
      if (at === magic.length) throw damagedOrForeign();
      throw damaged(`the record at byte ${at} was altered`);
    }
    mac = Uint8Array.from(stated);
    onRecord(decode(recordLayout, content), mac);
    at = end;
  }
  return at;
}

/** Undefined when what stands there is no length and its complement. */
function lengthAt(stored: Uint8Array, at: number): number | undefined {
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength);
  const length = view.getUint32(at);
  return length === ~view.getUint32(at + 4) >>> 0 ? length : undefined;
}

/**
 * Whether a power cut explains that these bytes are not what was written: they end near enough to the end of the file, and a
 * sector of them never reached the disk, so that from their beginning, or from its own, it is zero. Sectors behind it may
 * have reached it.
 */
function isTorn(stored: Uint8Array, from: number, to: number): boolean {
  if (stored.length - from > tornBytes) return false;
  for (let at = from; at < Math.min(to, stored.length); ) {
    const next = at - (at % sectorLength) + sectorLength;
    if (stored.subarray(at, next).every((byte) => byte === 0)) return true;
    at = next;
  }
  return false;
}

/** Whether this key has written it: a memory of no whole record is anyone's. */
export function isReadable(stored: Uint8Array, key: Uint8Array): boolean {
  try {
    readRecords(stored, key, () => undefined);
    return true;
  } catch {
    return false;
  }
}

const movedAway =
  "move signer/memory out of the data folder, make sure of the database, and run `npx keystead accept-database`";

function damaged(why: string): Fault {
  return new Fault("failed_precondition", `the signer's memory is damaged: ${why}; ${movedAway}`);
}

/** With a wrong root key, a memory that is moved away would be missed for nothing. */
function damagedOrForeign(): Fault {
  return new Fault(
    "failed_precondition",
    "the root key does not belong to this database, or else the signer's memory is damaged: put the right root key back; " +
      `if it is the right one, ${movedAway}`,
  );
}
