/**
 * All leaves of one log that an export shows, of every organization and of the operator, in the order of positions: each must have the entry
 * at its position, and each organization's must be numbered without a gap. It stops at the first that is bad. Where the file of entries was
 * cut, the file is bad and not the leaves behind the cut: those are checked by themselves, and the first is named as unchecked.
 */
import { sameBytes } from "../../encoding/bytes.ts";
import { toHex } from "../../encoding/hex.ts";
import { uuidToBytes } from "../../encoding/uuid.ts";
import { entryOf } from "../../tlog/entry.ts";
import { hashLength } from "../../tlog/hash.ts";
import { type LeafRecord, type ReadRecord, readRecords } from "../export/leaf_record.ts";
import type { LeafChecker, LeafFacts } from "./check_leaf.ts";
import type { CheckedLog } from "./check_log.ts";
import type { Finding, Place } from "./finding.ts";
import { isOperators } from "./leaf_shape.ts";

/** One file of leaves. Acts of the operator have no organization's file, and no count. */
export type LeafFile = {
  path: string;
  organizationId: string | undefined;
  content: Uint8Array;
  count: number | undefined;
};

/** A leaf that stands in its place. */
export type PlacedFacts = { facts: LeafFacts; digest: string; place: Place };

export type Walked = {
  leaves: readonly PlacedFacts[];
  /** How many leaves of an organization are not disclosed. */
  erased: ReadonlyMap<string, number>;
  findings: readonly Finding[];
  records: number;
  stamps: number;
};

type Cursor = {
  file: LeafFile;
  records: Iterator<ReadRecord, void>;
  next: ReadRecord | undefined;
  /** Of the record before. */
  position: number;
  ordinal: number;
};

export function walkLeaves(log: CheckedLog, files: readonly LeafFile[], checker: LeafChecker): Walked {
  const walk = new Walk(log, checker);
  const cursors = files.map(openCursor);
  for (let first = firstOf(cursors); first !== undefined; first = firstOf(cursors)) {
    if (!walk.step(first)) return walk.result();
    advance(first);
  }
  for (const { file, ordinal } of cursors) {
    if (file.count !== undefined && ordinal < file.count && !walk.miss(file, ordinal + 1)) break;
  }
  return walk.result();
}

function openCursor(file: LeafFile): Cursor {
  const records = readRecords(file.content);
  return { file, records, next: records.next().value ?? undefined, position: -1, ordinal: 0 };
}

function advance(cursor: Cursor): void {
  if (cursor.next !== undefined && "record" in cursor.next) {
    cursor.position = cursor.next.record.position;
    cursor.ordinal = cursor.next.record.ordinal;
  }
  cursor.next = cursor.records.next().value ?? undefined;
}

/** A record that cannot be read has its turn right after the one before it. */
function positionOf({ next, position }: Cursor): number {
  return next !== undefined && "record" in next ? next.record.position : position;
}

function firstOf(cursors: readonly Cursor[]): Cursor | undefined {
  let first: Cursor | undefined;
  for (const cursor of cursors) {
    if (cursor.next !== undefined && (first === undefined || positionOf(cursor) < positionOf(first))) first = cursor;
  }
  return first;
}

class Walk {
  readonly #log: CheckedLog;
  readonly #checker: LeafChecker;
  readonly #leaves: PlacedFacts[] = [];
  readonly #erased = new Map<string, number>();
  readonly #findings: Finding[] = [];
  readonly #seen = new Set<string>();
  #records = 0;
  #stamps = 0;
  #isBehindCut = false;

  constructor(log: CheckedLog, checker: LeafChecker) {
    this.#log = log;
    this.#checker = checker;
  }

  result(): Walked {
    const [records, stamps] = [this.#records, this.#stamps];
    return { leaves: this.#leaves, erased: this.#erased, findings: this.#findings, records, stamps };
  }

  /** False when there is something bad, and no sense in going on. */
  #bad(place: Place, what: string): false {
    this.#findings.push({ kind: "bad", place: { logId: this.#log.logId, ...place }, what });
    return false;
  }

  miss({ organizationId, path }: LeafFile, ordinal: number): boolean {
    return this.#bad(
      organizationId === undefined ? { file: path } : { organizationId, ordinal },
      "the leaf is missing",
    );
  }

  step({ file, next, position: before, ordinal: last }: Cursor): boolean {
    const { organizationId } = file;
    const own = organizationId !== undefined && { organizationId };
    const expected = organizationId === undefined ? 0 : last + 1;
    if (next === undefined) return true;
    if ("malformed" in next) return this.#bad({ ...own, ordinal: expected }, next.malformed);
    const { record } = next;
    const { position, ordinal, leaf } = record;
    const place = { position, ...own, ordinal: expected };
    if (position <= before) return this.#bad(place, "the leaf is not behind the one before it");
    if (position >= this.#log.size) return this.#bad(place, "the position is beyond the checkpoint");
    if (file.count !== undefined && ordinal > file.count)
      return this.#bad(place, "more leaves than the statement says");
    if (leaf === undefined) return this.#erase(record, place, own === false ? undefined : organizationId);
    const digest = this.#checker.sha256(leaf);
    const start = position * hashLength;
    const entry = this.#log.entries.subarray(start, start + hashLength);
    const isCutOff = entry.length < hashLength;
    const stands = sameBytes(entry, entryOf(digest, ordinal, this.#checker.sha256));
    if (ordinal > expected && stands && organizationId !== undefined) return this.miss(file, expected);
    if (ordinal !== expected) return this.#bad(place, `it is numbered ${ordinal}, not ${expected}`);
    if (isCutOff) this.#cutOff(place);
    else if (!stands) return this.#bad(place, "the leaf is not the one that the log has at this position");
    return this.#take(record, toHex(digest), leaf, { logId: this.#log.logId, ...place }, organizationId);
  }

  /** Says it of the first leaf only: no leaf behind it has an entry either. */
  #cutOff(place: Place): void {
    if (this.#isBehindCut) return;
    this.#isBehindCut = true;
    const what = "the entries end before this leaf: nothing shows that the log has it";
    this.#findings.push({ kind: "unchecked", place: { logId: this.#log.logId, ...place }, what });
  }

  #erase({ ordinal, bodies }: LeafRecord, place: Place, organizationId: string | undefined): boolean {
    if (ordinal !== place.ordinal) return this.#bad(place, `it is numbered ${ordinal}, not ${place.ordinal}`);
    if (bodies.length > 0) return this.#bad(place, "a body without a leaf that names it");
    this.#records += 1;
    if (organizationId !== undefined) this.#erased.set(organizationId, (this.#erased.get(organizationId) ?? 0) + 1);
    this.#findings.push({
      kind: "unchecked",
      place: { logId: this.#log.logId, ...place },
      what: "undisclosed: the leaf",
    });
    return true;
  }

  #take(
    { bodies }: LeafRecord,
    digest: string,
    bytes: Uint8Array,
    place: Place,
    organizationId: string | undefined,
  ): boolean {
    if (this.#seen.has(digest)) return this.#bad(place, "the leaf stands in the log twice");
    this.#seen.add(digest);
    const { facts, bad, unchecked, stamps } = this.#checker.check(digest, bytes, bodies);
    if (facts === undefined || bad !== undefined) return this.#bad(place, bad ?? "malformed leaf");
    if (isOperators(facts.leaf) !== (organizationId === undefined)) {
      return this.#bad(
        place,
        `${facts.leaf.event} is not an act of ${organizationId === undefined ? "the operator" : "it"}`,
      );
    }
    if (organizationId !== undefined && !sameBytes(uuidToBytes(organizationId), facts.leaf.organizationId)) {
      return this.#bad(place, "the leaf is another organization's");
    }
    this.#records += 1;
    this.#stamps += stamps;
    for (const what of unchecked) this.#findings.push({ kind: "unchecked", place, what });
    this.#leaves.push({ facts, digest, place });
    return true;
  }
}
