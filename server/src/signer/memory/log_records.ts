/** The kinds of records that the log is made of. Their places in the file are those in `record_kinds.ts`. */
import { bool, bytes, fixed, list, optional, struct, u64, type ValueOf } from "@keystead/core/encoding/layout.ts";
import { Fault } from "@keystead/core/fault.ts";
import { Frontier } from "@keystead/core/tlog/tree.ts";
import { sha256 } from "../../state/digest.ts";
import type { MemoryContents } from "./contents.ts";
import { pinDigestLength } from "./pins.ts";
import { batchesOf, row } from "./record_kind.ts";
import { SignerLog } from "./signer_log.ts";

export const pinLayout = struct({ organizationId: fixed(16), version: u64, digest: fixed(pinDigestLength) });
export const rangeLayout = struct({ boot: fixed(16), first: u64, last: u64 });

const leafLayout = struct({
  organizationId: fixed(16),
  boot: fixed(16),
  number: u64,
  ordinal: u64,
  entry: fixed(32),
});
const headLayout = struct({ logId: fixed(16), size: u64, root: fixed(32) });
const logLayout = struct({
  logId: fixed(16),
  openedAtMs: u64,
  previous: optional(headLayout),
  takesAll: bool,
});
const logStateLayout = struct({ log: logLayout, edge: bytes });
const ordinalsLayout = list(struct({ organizationId: fixed(16), ordinal: u64 }));
const tailLayout = list(leafLayout);

/** Records that can only follow the opening of a log. */
function logOf({ log }: MemoryContents): SignerLog {
  if (log === undefined) throw new Fault("internal", "the memory has no log");
  return log;
}

const never: Iterable<never> = [];

export const logRecords = {
  /** A log begins. What was released before, and is in no log, it owes. */
  logOpened: row({
    layout: logLayout,
    isWaitedFor: true,
    apply(contents, log) {
      if (contents.log === undefined) for (const range of contents.released.ranges()) contents.owed.add(range);
      contents.log = new SignerLog(log);
    },
    compaction: { order: 10, values: () => never },
  }),
  /** A group was released, or leaves from before were taken in: pins move and leaves get their places, both or neither. */
  appended: row({
    layout: struct({ timeMs: u64, pins: list(pinLayout), leaves: list(leafLayout) }),
    isWaitedFor: false,
    apply(contents, { timeMs, pins, leaves }) {
      const log = logOf(contents);
      contents.lastTimeMs = Math.max(contents.lastTimeMs, timeMs);
      for (const { organizationId, version, digest } of pins) contents.pins.set(organizationId, { version, digest });
      for (const leaf of leaves) {
        log.append(leaf);
        contents.released.add({ boot: leaf.boot, first: leaf.number, last: leaf.number });
        contents.owed.remove(leaf.boot, leaf.number);
      }
    },
    compaction: { order: 11, values: () => never },
  }),
  /** The tree is signed up to here, and all of it is stored elsewhere. On the disk before anybody is given the signature. */
  checkpoint: row({
    layout: struct({ edge: bytes }),
    isWaitedFor: true,
    apply: (contents, { edge }) => logOf(contents).setCheckpoint(Frontier.fromBytes(edge, sha256)),
    compaction: { order: 12, values: () => never },
  }),
  /** Leaves from before are taken in: from here on only those that are owed. */
  takenIn: row({
    layout: struct({ timeMs: u64 }),
    isWaitedFor: true,
    apply: (contents) => logOf(contents).endTakingAll(),
    compaction: { order: 13, values: () => never },
  }),
  /** The log up to its last checkpoint. */
  logState: row({
    layout: logStateLayout,
    isWaitedFor: true,
    apply(contents, { log, edge }) {
      contents.log = new SignerLog(log, Frontier.fromBytes(edge, sha256));
    },
    compaction: { order: 14, values: compactedLog },
  }),
  ordinals: row({
    layout: ordinalsLayout,
    isWaitedFor: false,
    apply(contents, counts) {
      const { ordinals } = logOf(contents);
      for (const { organizationId, ordinal } of counts) ordinals.set(organizationId, ordinal);
    },
    compaction: { order: 15, values: ({ log }) => (log === undefined ? never : batchesOf(log.ordinals.entries())) },
  }),
  tail: row({
    layout: tailLayout,
    isWaitedFor: false,
    apply(contents, leaves) {
      const log = logOf(contents);
      for (const leaf of leaves) log.append(leaf);
    },
    compaction: { order: 16, values: compactedTail },
  }),
  owed: row({
    layout: list(rangeLayout),
    isWaitedFor: false,
    apply(contents, ranges) {
      for (const range of ranges) contents.owed.add(range);
    },
    compaction: { order: 17, values: ({ owed }) => batchesOf(owed.otherRanges()) },
  }),
};

function* compactedLog({ log }: MemoryContents): Generator<ValueOf<typeof logStateLayout>> {
  if (log === undefined) return;
  const { logId, openedAtMs, previous, takesAll, edge } = log;
  yield { log: { logId, openedAtMs, previous, takesAll }, edge: edge.toBytes() };
}

function* compactedTail({ log }: MemoryContents): Generator<ValueOf<typeof tailLayout>> {
  if (log === undefined) return;
  const leaves = Array.from({ length: log.tailLength }, (_, index) => log.checkpointSize + index);
  for (const batch of batchesOf(leaves)) yield log.leavesFrom(batch[0] ?? 0, batch.length);
}
