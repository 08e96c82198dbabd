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

/** Those that only members of the root quorum may still use: who has filled a minute must not keep them from acting in it. */
const keptForQuorum = 10_000;

/** Refuses one more entry from a submission. */
export function checkJournalLimit({ count }: Journal, isRootMember: () => boolean): void {
  if (count < maxJournalEntries - keptForQuorum || (count < maxJournalEntries && isRootMember())) return;
  throw new Fault(
    "resource_exhausted",
    "too many activities of this organization have a timestampMs in this minute; send it with a later one",
  );
}

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

/** Journals sorted by slot: slot (4 bytes) ‖ count (4) ‖ digest (32) each. */
export type JournalTable = Uint8Array;

/**
 * The journals of one state. Under load there are some 70 of them, and every state change copies and hashes the directory. So the
 * directory has the few that change, and the others lie in a page, which is written anew when one more of them has had its minute.
 */
export type Journals = { recent: JournalTable; older: JournalTable };

const rowLength = 40;
/** Of clients whose clocks differ; when there is one more, the page takes all but the newest two. */
const maxRecent = 4;
const keptRecent = 2;

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

/** The journal of `slot`, empty when the table has none. */
function findJournal(table: JournalTable, slot: number): Journal {
  const view = viewOf(table);
  const { at, present } = place(table, view, slot);
  if (!present) return { slot, count: 0, digest: new Uint8Array(32) };
  return { slot, count: view.getUint32(at + 4), digest: table.subarray(at + 8, at + rowLength) };
}

/** The table with `journal` in its place and every journal older than `keepFrom` gone. */
function putJournal(table: JournalTable, journal: Journal, keepFrom: number): JournalTable {
  const view = viewOf(table);
  const from = place(table, view, keepFrom).at;
  const { at, present } = place(table, view, journal.slot);
  const after = present ? at + rowLength : at;
  const next = new Uint8Array(at - from + rowLength + table.length - after);
  next.set(table.subarray(from, at));
  const row = new DataView(next.buffer, next.byteOffset + at - from, rowLength);
  row.setUint32(0, journal.slot);
  row.setUint32(4, journal.count);
  next.set(journal.digest, at - from + 8);
  next.set(table.subarray(after), at - from + rowLength);
  return next;
}

/** The table without the journals older than `keepFrom`. */
function dropJournals(table: JournalTable, keepFrom: number): JournalTable {
  return table.subarray(place(table, viewOf(table), keepFrom).at);
}

/** The journal of `slot`, wherever it lies. */
export function findJournalIn({ recent, older }: Journals, slot: number): Journal {
  const journal = findJournal(recent, slot);
  return journal.count > 0 ? journal : findJournal(older, slot);
}

/** The journals with this one in its place. Those older than `keepFrom` are gone where a table is written anew. */
export function putJournalIn({ recent, older }: Journals, journal: Journal, keepFrom: number): Journals {
  if (findJournal(older, journal.slot).count > 0) {
    return { recent: dropJournals(recent, keepFrom), older: putJournal(older, journal, keepFrom) };
  }
  const next = putJournal(recent, journal, keepFrom);
  if (next.length <= maxRecent * rowLength) return { recent: next, older };
  const from = next.length - keptRecent * rowLength;
  return { recent: next.slice(from), older: merged(dropJournals(older, keepFrom), next.subarray(0, from)) };
}

/** Without the journals older than `keepFrom` among those that the directory has. */
export function dropJournalsIn({ recent, older }: Journals, keepFrom: number): Journals {
  return { recent: dropJournals(recent, keepFrom), older };
}

/** Two tables without a slot in common. */
function merged(a: JournalTable, b: JournalTable): JournalTable {
  const all = new Uint8Array(a.length + b.length);
  const [viewA, viewB] = [viewOf(a), viewOf(b)];
  let [atA, atB] = [0, 0];
  while (atA + atB < all.length) {
    const isA = atB === b.length || (atA < a.length && viewA.getUint32(atA) < viewB.getUint32(atB));
    const row = isA ? a.subarray(atA, atA + rowLength) : b.subarray(atB, atB + rowLength);
    all.set(row, atA + atB);
    if (isA) atA += rowLength;
    else atB += rowLength;
  }
  return all;
}
