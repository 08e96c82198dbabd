/**
 * One row per kind of record: its bytes, whether its writer waits for the disk, what it changes, and what a compaction writes of it.
 * A new kind is a new row at the end, because a row's place is the kind's byte in the file. Layout: SPEC.md of the signer.
 */
import { bool, fixed, list, optional, struct, u64, type ValueOf, variant } from "@keystead/core/encoding/layout.ts";
import { clockToleranceMs } from "../../state/journal.ts";
import { blockRecords } from "./block_records.ts";
import { attemptDigestLength } from "./code_attempts.ts";
import { maxCodeMs } from "./code_starts.ts";
import type { MemoryContents } from "./contents.ts";
import { logRecords, pinLayout, rangeLayout } from "./log_records.ts";
import { batchesOf, type RecordKind, row } from "./record_kind.ts";
import { type TakenNotes, takenDigestLength } from "./taken_bodies.ts";

const deploymentLayout = struct({ deploymentId: fixed(16) });
const timeLayout = struct({ timeMs: u64 });
const takenLayout = struct({
  slot: u64,
  fingerprint: fixed(takenDigestLength),
  organizationId: fixed(16),
});
const codeStartLayout = struct({
  otpId: fixed(16),
  startedAtMs: u64,
  endsAtMs: u64,
  ownerId: fixed(16),
  subOrganizationId: optional(fixed(16)),
  contact: fixed(16),
  identifier: optional(fixed(16)),
});
const codeAttemptLayout = struct({
  otpId: fixed(16),
  endsAtMs: u64,
  fingerprint: fixed(attemptDigestLength),
  isSpent: bool,
});
const codeStartsLayout = struct({ timeMs: u64, starts: list(codeStartLayout) });
const codeAttemptsLayout = struct({ timeMs: u64, attempts: list(codeAttemptLayout) });
const releaseLayout = struct({ timeMs: u64, pins: list(pinLayout), leaves: list(rangeLayout) });

export const recordKinds = {
  /** The deployment this memory belongs to; written once, at the first birth, adoption or acceptance. */
  deployment: row({
    layout: deploymentLayout,
    isWaitedFor: true,
    apply(contents, { deploymentId }) {
      contents.deploymentId = Uint8Array.from(deploymentId);
    },
    compaction: {
      order: 1,
      values: ({ deploymentId }) => (deploymentId === undefined ? [] : [{ deploymentId }]),
    },
  }),
  release: row({
    layout: releaseLayout,
    isWaitedFor: false,
    apply(contents, { timeMs, pins, leaves }) {
      contents.lastTimeMs = Math.max(contents.lastTimeMs, timeMs);
      for (const { organizationId, version, digest } of pins) contents.pins.set(organizationId, { version, digest });
      for (const range of leaves) {
        contents.released.add(range);
        // What is released from here on without a place in the log, it owes.
        if (contents.log !== undefined) contents.owed.add(range);
      }
    },
    compaction: { order: 3, values: compactedReleases },
  }),
  /** The operator set the clock's memory back. */
  clock: row({
    layout: timeLayout,
    isWaitedFor: true,
    apply(contents, { timeMs }) {
      contents.lastTimeMs = timeMs;
    },
    // Last, behind every release, so that a time that was reset stays reset.
    compaction: { order: Number.POSITIVE_INFINITY, values: ({ lastTimeMs }) => [{ timeMs: lastTimeMs }] },
  }),
  /** A deployment this signer has made. Whether it was ever committed shows when its birth is released. */
  born: row({
    layout: deploymentLayout,
    isWaitedFor: true,
    apply: ({ born }, { deploymentId }) => born.add(deploymentId),
    compaction: { order: 0, values: ({ born }) => Array.from(born.values(), (deploymentId) => ({ deploymentId })) },
  }),
  /** The operator accepted a database: bodies and approvals up to this time may have been executed in what was lost. */
  accepted: row({
    layout: timeLayout,
    isWaitedFor: true,
    apply(contents, { timeMs }) {
      contents.acceptedAtMs = Math.max(contents.acceptedAtMs, timeMs);
    },
    compaction: { order: 4, values: ({ acceptedAtMs }) => timeUnlessZero(acceptedAtMs) },
  }),
  /** Bodies were taken that name a time up to this one, which lies ahead of the clock. */
  ahead: row({
    layout: timeLayout,
    isWaitedFor: false,
    apply(contents, { timeMs }) {
      contents.aheadMs = Math.max(contents.aheadMs, timeMs);
    },
    compaction: { order: 5, values: ({ aheadMs }) => timeUnlessZero(aheadMs) },
  }),
  /** A process of this signer began: what it prepares counts only once it is released here. */
  boot: row({
    layout: struct({ boot: fixed(16) }),
    isWaitedFor: true,
    apply: ({ ownBoots }, { boot }) => ownBoots.add(boot),
    compaction: { order: 2, values: ({ ownBoots }) => Array.from(ownBoots.values(), (boot) => ({ boot })) },
  }),
  /** Bodies that name this organization were taken, there or below; those of minutes before the floor are not taken any more. */
  taken: row({
    layout: struct({ namedId: fixed(16), floor: u64, notes: list(takenLayout) }),
    isWaitedFor: false,
    apply: ({ taken }, notes) => taken.add(notes),
    compaction: { order: 6, values: compactedTaken },
  }),
  /** One-time codes from before this time are unknown here. The clock may have been set back to it. */
  codesSince: row({
    layout: timeLayout,
    isWaitedFor: true,
    apply(contents, { timeMs }) {
      contents.codesSinceMs = timeMs;
      contents.codeStarts.dropAfter(timeMs + clockToleranceMs);
      contents.codeAttempts.dropAfter(timeMs + clockToleranceMs + maxCodeMs);
    },
    compaction: { order: 7, values: ({ codesSinceMs }) => timeUnlessZero(codesSinceMs) },
  }),
  /** Bodies that ask for one-time codes were seen for the first time. */
  codeStarts: row({
    layout: codeStartsLayout,
    isWaitedFor: false,
    apply(contents, { timeMs, starts }) {
      contents.lastTimeMs = Math.max(contents.lastTimeMs, timeMs);
      for (const start of starts) contents.codeStarts.add(start);
      contents.codeStarts.forget(timeMs);
    },
    compaction: { order: 8, values: compactedStarts },
  }),
  /** Bodies are about to be compared with one-time codes, or were given the token of one. */
  codeAttempts: row({
    layout: codeAttemptsLayout,
    isWaitedFor: false,
    apply(contents, { timeMs, attempts }) {
      contents.lastTimeMs = Math.max(contents.lastTimeMs, timeMs);
      for (const attempt of attempts) contents.codeAttempts.add(attempt);
      contents.codeAttempts.forget(timeMs);
    },
    compaction: { order: 9, values: compactedAttempts },
  }),
  ...logRecords,
  ...blockRecords,
};

function timeUnlessZero(timeMs: number): ValueOf<typeof timeLayout>[] {
  return timeMs > 0 ? [{ timeMs }] : [];
}

function* compactedReleases({ released, pins, lastTimeMs }: MemoryContents): Generator<ValueOf<typeof releaseLayout>> {
  for (const leaves of batchesOf(released.otherRanges())) yield { timeMs: lastTimeMs, pins: [], leaves };
  for (const batch of batchesOf(pins.entries())) {
    const pinned = batch.map(({ organizationId, pin: { version, digest } }) => ({ organizationId, version, digest }));
    yield { timeMs: lastTimeMs, pins: pinned, leaves: [] };
  }
}

function* compactedTaken({ taken }: MemoryContents): Generator<TakenNotes> {
  for (const { namedId, floor, notes } of taken.all()) {
    if (notes.length === 0) yield { namedId, floor, notes };
    for (const batch of batchesOf(notes)) yield { namedId, floor, notes: batch };
  }
}

/** What is over by the newest time that the memory knows goes with the long file. */
function* compactedStarts({ codeStarts, lastTimeMs }: MemoryContents): Generator<ValueOf<typeof codeStartsLayout>> {
  codeStarts.forget(lastTimeMs);
  for (const starts of batchesOf(codeStarts.values())) yield { timeMs: lastTimeMs, starts };
}

function* compactedAttempts({
  codeAttempts,
  lastTimeMs,
}: MemoryContents): Generator<ValueOf<typeof codeAttemptsLayout>> {
  codeAttempts.forget(lastTimeMs);
  for (const attempts of batchesOf(codeAttempts.values())) yield { timeMs: lastTimeMs, attempts };
}

type Layouts = { [K in keyof typeof recordKinds]: (typeof recordKinds)[K]["layout"] };

export const recordLayout = variant(
  Object.fromEntries(Object.entries(recordKinds).map(([kind, { layout }]) => [kind, layout])) as Layouts,
);

export type MemoryRecord = ValueOf<typeof recordLayout>;

/** The row of a record, whose functions take exactly the value that the record has. */
function rowOf({ kind }: MemoryRecord): RecordKind<unknown> {
  return recordKinds[kind] as RecordKind<unknown>;
}

export function isWaitedFor(record: MemoryRecord): boolean {
  return rowOf(record).isWaitedFor;
}

export function applyRecord(contents: MemoryContents, record: MemoryRecord): void {
  rowOf(record).apply(contents, record.value);
}

/** The fewest records that add up to these contents. */
export function* compactedRecords(contents: MemoryContents): Generator<MemoryRecord> {
  const kinds = Object.entries(recordKinds).sort(([, a], [, b]) => a.compaction.order - b.compaction.order);
  for (const [kind, { compaction }] of kinds) {
    for (const value of compaction.values(contents)) yield { kind, value } as MemoryRecord;
  }
}
