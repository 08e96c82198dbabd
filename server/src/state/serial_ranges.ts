/**
 * A set of serial numbers as ranges, so that its length follows from what is missing between them and not from how many there are.
 * Deleted keys are kept so: whatever is made and deleted again, only keys that stay can part two ranges.
 */
import { Fault } from "@keystead/core/fault.ts";

/** First and last of each range in turn, both included, ascending, and no two ranges touching. */
type Chunk = readonly number[];

/** In chunks that pass unchanged from one set to the next, so that a change writes few of them anew. None is empty. */
export type SerialRanges = readonly Chunk[];

export const noSerials: SerialRanges = [];

/** In numbers. A larger chunk is cut in two, smaller neighbours of a changed one are joined with it. */
const maxChunk = 512;
const smallChunk = 128;

export function hasSerial(ranges: SerialRanges, serial: number): boolean {
  const chunk = ranges[firstAt(ranges.length, (at) => lastOf(ranges[at]) >= serial)];
  if (chunk === undefined) return false;
  const at = firstAt(chunk.length / 2, (range) => (chunk[2 * range + 1] ?? 0) >= serial);
  return (chunk[2 * at] ?? Number.POSITIVE_INFINITY) <= serial;
}

/** The first place of `count` for which something holds that holds for all behind it. */
function firstAt(count: number, holds: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function lastOf(chunk: Chunk | undefined): number {
  return chunk?.at(-1) ?? Number.NEGATIVE_INFINITY;
}

/** The ranges with more serials among them: one pass over both, however many they are. */
export function withSerials(ranges: SerialRanges, serials: Iterable<number>): SerialRanges {
  const added = [...new Set(serials)].sort((a, b) => a - b);
  const next: Chunk[] = [];
  let at = 0;
  for (const [index, chunk] of (ranges.length === 0 ? [[]] : ranges).entries()) {
    const isLast = index >= ranges.length - 1;
    const from = at;
    while (at < added.length && (isLast || (added[at] ?? 0) <= lastOf(chunk))) at += 1;
    append(next, at === from ? chunk : joined(chunk, added.slice(from, at)), at !== from);
  }
  return next;
}

/** Puts a chunk behind the others, joined with the one before where they touch, or where one of them has changed and both are small. */
function append(chunks: Chunk[], chunk: Chunk, isChanged: boolean): void {
  const before = chunks.at(-1);
  const touches = before !== undefined && (chunk[0] ?? 0) <= lastOf(before) + 1;
  const areSmall = before !== undefined && before.length + chunk.length <= smallChunk;
  const whole = touches || (isChanged && areSmall) ? joinedChunks(chunks.pop() ?? [], chunk) : chunk;
  for (let from = 0; from < whole.length; from += maxChunk) {
    chunks.push(whole.length <= maxChunk ? whole : whole.slice(from, from + maxChunk));
  }
}

/** One range more, behind all others or touching the last. */
function extend(ranges: number[], first: number, last: number): void {
  const end = ranges.length - 1;
  const before = ranges[end];
  if (before !== undefined && first <= before + 1) ranges[end] = Math.max(before, last);
  else ranges.push(first, last);
}

function joinedChunks(a: Chunk, b: Chunk): Chunk {
  const all = [...a];
  for (let i = 0; i < b.length; i += 2) extend(all, b[i] as number, b[i + 1] as number);
  return all;
}

function joined(chunk: Chunk, added: readonly number[]): Chunk {
  const all: number[] = [];
  let at = 0;
  for (let i = 0; i < chunk.length; i += 2) {
    const [first, last] = [chunk[i] as number, chunk[i + 1] as number];
    for (let next = added[at]; next !== undefined && next < first; next = added[++at]) extend(all, next, next);
    extend(all, first, last);
  }
  for (const serial of added.slice(at)) extend(all, serial, serial);
  return all;
}

export function countRanges(ranges: SerialRanges): number {
  return ranges.reduce((sum, { length }) => sum + length / 2, 0);
}

const texts = new WeakMap<Chunk, string>();

/** As JSON: one list of numbers. Chunks are immutable, so each is written once. */
export function serialsJson(ranges: SerialRanges): string {
  return `[${ranges.map(textOf).join()}]`;
}

function textOf(chunk: Chunk): string {
  const known = texts.get(chunk);
  if (known !== undefined) return known;
  const text = chunk.join();
  texts.set(chunk, text);
  return text;
}

/** Ranges as they were read, which only the signer writes: anything else is damage, and is not guessed at. */
export function parseSerials(numbers: readonly number[]): SerialRanges {
  const isEven = numbers.length % 2 === 0;
  const isAscending = numbers.every((each, i) => {
    const before = numbers[i - 1];
    if (!Number.isSafeInteger(each) || each < 1) return false;
    return before === undefined || (i % 2 === 1 ? each >= before : each > before + 1);
  });
  if (!isEven || !isAscending) throw new Fault("failed_precondition", "a list of serial numbers is broken");
  const chunks: Chunk[] = [];
  for (let from = 0; from < numbers.length; from += maxChunk) chunks.push(numbers.slice(from, from + maxChunk));
  return chunks;
}
