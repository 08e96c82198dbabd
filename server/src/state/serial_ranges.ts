/**
 * A set of serial numbers as ranges, so that its length follows from what is missing between them and not from how many there are.
 * Deleted keys are kept so: whatever is made and deleted again, only keys that stay can part two ranges.
 */
import { Fault } from "@keystead/core/fault.ts";

/** First and last of each range in turn, both included, ascending, and no two ranges touching. */
export type SerialRanges = readonly number[];

export const noSerials: SerialRanges = [];

export function hasSerial(ranges: SerialRanges, serial: number): boolean {
  let low = 0;
  let high = ranges.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[2 * middle + 1] ?? 0) < serial) low = middle + 1;
    else high = middle;
  }
  return (ranges[2 * low] ?? Number.POSITIVE_INFINITY) <= serial;
}

/** The ranges with more serials among them: one pass over both, however many they are. */
export function withSerials(ranges: SerialRanges, serials: Iterable<number>): SerialRanges {
  const added = [...new Set(serials)].sort((a, b) => a - b);
  const joined: number[] = [];
  let at = 0;
  const append = (first: number, last: number) => {
    const end = joined.length - 1;
    const before = joined[end];
    if (before !== undefined && first <= before + 1) joined[end] = Math.max(before, last);
    else joined.push(first, last);
  };
  for (let i = 0; i < ranges.length; i += 2) {
    const [first, last] = [ranges[i] as number, ranges[i + 1] as number];
    for (let next = added[at]; next !== undefined && next < first; next = added[++at]) append(next, next);
    append(first, last);
  }
  for (const serial of added.slice(at)) append(serial, serial);
  return joined;
}

/** Ranges as they were read, which only the signer writes: anything else is damage, and is not guessed at. */
export function checkSerialRanges(ranges: readonly number[]): SerialRanges {
  const isEven = ranges.length % 2 === 0;
  const isAscending = ranges.every((each, i) => {
    const before = ranges[i - 1];
    if (!Number.isSafeInteger(each) || each < 1) return false;
    return before === undefined || (i % 2 === 1 ? each >= before : each > before + 1);
  });
  if (!isEven || !isAscending) throw new Fault("failed_precondition", "a list of serial numbers is broken");
  return ranges;
}
