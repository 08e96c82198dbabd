/** What a kind of record says of itself. The kinds are in `record_kinds.ts`. */
import type { Layout } from "@keystead/core/encoding/layout.ts";
import type { MemoryContents } from "./contents.ts";

export type RecordKind<T> = {
  layout: Layout<T>;
  /** For records that come once and must not be lost: the contents change only after the record is on the disk. */
  isWaitedFor: boolean;
  apply(contents: MemoryContents, value: T): void;
  /** The values that stand for the present contents. Kinds are written in the order of these numbers. */
  compaction: { order: number; values(contents: MemoryContents): Iterable<T> };
};

/** Lets the compiler take a row's type of value from its layout. */
export function row<T>(kind: RecordKind<T>): RecordKind<T> {
  return kind;
}

/** How many ranges, pins or leaves one record of a compaction holds, unless its kind says otherwise. */
const compactedBatch = 4096;

export function* batchesOf<T>(items: Iterable<T>, length = compactedBatch): Generator<T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < length) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
