/**
 * Which activities were executed lately. Fingerprints lie in one journal per minute of the body's own `timestampMs`.
 * A journal's digest runs on with each entry, so an entry costs one hash however full the journal is (see
 * docs/decisions/0003-running-journals.md). A journal is kept until no body of its slot can pass the liveness check.
 */
import { Fault } from "@keystead/core/fault.ts";
import { sha256 } from "./digest.ts";

export const slotMs = 60_000;

/** The accepted age of a body, and how far ahead of our clock its writer's may run. */
export const liveness = { pastMs: 3_600_000, futureMs: 300_000 } as const;

/** The signer tolerates its own clock stepping back this far, so journals outlive the window by as much. */
export const clockToleranceMs = 300_000;

/** A journal must fit into one frame when the signer asks for it. */
export const maxJournalEntries = 200_000;

export type Journal = { slot: number; count: number; digest: Uint8Array };

export function slotOf(timestampMs: number): number {
  return Math.floor(timestampMs / slotMs);
}

/** The oldest slot from which a body could still be accepted. */
export function oldestSlot(nowMs: number): number {
  return slotOf(Math.max(slotMs, nowMs - liveness.pastMs - clockToleranceMs)) - 1;
}

/** Written anew for each digest: an array of its own would cost as much as the hash. */
const input = new Uint8Array(64);

/** The digest after one more fingerprint. */
export function runningDigest(digest: Uint8Array, fingerprint: Uint8Array): Uint8Array<ArrayBuffer> {
  input.set(digest);
  input.set(fingerprint, 32);
  return sha256(input);
}

/**
 * The journals of one state, sorted by slot: slot (4 bytes) ‖ count (4) ‖ digest (32) each. Kept as bytes because under
 * load there are some 70 of them, and every state change copies and hashes the table once.
 */
export type JournalTable = Uint8Array;

const rowLength = 40;

export function checkJournalTable(table: JournalTable): void {
  if (table.length % rowLength !== 0) throw new Fault("failed_precondition", "a journal table has a broken row");
}

/** Where the row of `slot` is, or would be. */
function place(table: JournalTable, view: DataView, slot: number): { at: number; present: boolean } {
  let low = 0;
  let high = table.length / rowLength;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const found = view.getUint32(middle * rowLength);
    if (found === slot) return { at: middle * rowLength, present: true };
    if (found < slot) low = middle + 1;
    else high = middle;
  }
  return { at: low * rowLength, present: false };
}

function viewOf(table: JournalTable): DataView {
  return new DataView(table.buffer, table.byteOffset, table.byteLength);
}

/** The journal of `slot`, empty when the state has none. */
export function findJournal(table: JournalTable, slot: number): Journal {
  const view = viewOf(table);
  const { at, present } = place(table, view, slot);
  if (!present) return { slot, count: 0, digest: new Uint8Array(32) };
  return { slot, count: view.getUint32(at + 4), digest: table.subarray(at + 8, at + rowLength) };
}

/** The table with `journal` in its place and every journal older than `keepFrom` gone. */
export function putJournal(table: JournalTable, journal: Journal, keepFrom: number): JournalTable {
  const view = viewOf(table);
  const from = place(table, view, keepFrom).at;
  const { at, present } = place(table, view, journal.slot);
  const after = present ? at + rowLength : at;
  // Memory of its own: the newest states are kept, and a slice of a shared slab would keep all of it with each.
  const next = Buffer.allocUnsafeSlow(at - from + rowLength + table.length - after);
  next.set(table.subarray(from, at));
  const row = new DataView(next.buffer, next.byteOffset + at - from, rowLength);
  row.setUint32(0, journal.slot);
  row.setUint32(4, journal.count);
  next.set(journal.digest, at - from + 8);
  next.set(table.subarray(after), at - from + rowLength);
  return next;
}

/** The table without the journals older than `keepFrom`. */
export function dropJournals(table: JournalTable, keepFrom: number): JournalTable {
  return table.subarray(place(table, viewOf(table), keepFrom).at);
}
