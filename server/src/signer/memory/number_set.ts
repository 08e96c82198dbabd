/**
 * A set of leaf numbers. They are drawn one behind another and nearly all of them come in, so millions are a few ranges. Those that never
 * come leave gaps, and callers choose how many: a refusal that is not stored is one. So a range is kept of whole blocks alone, and where
 * there are gaps, a bit for each number. What can be asked of any number stays exact.
 */
import { blockBytes, blockLength, NumberBlock, type Run } from "./number_block.ts";
import { createNumberRanges } from "./number_ranges.ts";

/** Block `index` holds the numbers from `index` × 4,096 on. */
export type BlockBits = { index: number; bits: Uint8Array };

export type NumberSet = {
  readonly isEmpty: boolean;
  readonly rangeCount: number;
  addRange(first: number, last: number): void;
  addBlock(block: BlockBits): void;
  remove(number: number): void;
  has(number: number): boolean;
  /** As few as possible, in their order; without the first `from` of them. */
  ranges(from?: number): Generator<Run>;
  /** Blocks with so many gaps that their bits are shorter than their ranges. */
  denseBlocks(): Generator<BlockBits>;
  /** The ranges of all that is not in those. */
  otherRanges(): Generator<Run>;
};

/** A range in the memory's file is 32 bytes, a block 24 more than its bits. */
const maxRunsAsRanges = Math.floor((blockBytes + 24) / 32);

/** Whole blocks, where `block` is undefined, or one with gaps. */
type Segment = { first: number; last: number; block: NumberBlock | undefined };

export function createNumberSet(): NumberSet {
  /** By their index. */
  const full = createNumberRanges();
  const partial = new Map<number, NumberBlock>();

  function addWithin(index: number, first: number, last: number): void {
    let block = partial.get(index);
    if (block === undefined) {
      if (full.has(index)) return;
      block = new NumberBlock();
      partial.set(index, block);
    }
    for (let place = first; place <= last; place++) block.add(place);
    if (!block.isFull) return;
    partial.delete(index);
    full.add(index);
  }

  function addRange(first: number, last: number): void {
    const [from, to] = [indexOf(first), indexOf(last)];
    if (from === to) {
      addWithin(from, placeOf(first), placeOf(last));
      return;
    }
    addWithin(from, placeOf(first), blockLength - 1);
    if (to - from > 1) {
      for (let index = from + 1; index < to && partial.size > 0; index++) partial.delete(index);
      full.addRange(from + 1, to - 1);
    }
    addWithin(to, 0, placeOf(last));
  }

  function* segments(): Generator<Segment> {
    const withGaps = [...partial].sort(([a], [b]) => a - b);
    let next = 0;
    for (const [from, to] of full.ranges()) {
      for (let entry = withGaps[next]; entry !== undefined && entry[0] < from; entry = withGaps[++next])
        yield segmentOf(entry);
      yield { first: from * blockLength, last: (to + 1) * blockLength - 1, block: undefined };
    }
    for (const entry of withGaps.slice(next)) yield segmentOf(entry);
  }

  return {
    get isEmpty() {
      return partial.size === 0 && full.ranges().length === 0;
    },
    get rangeCount() {
      return countRanges(segments());
    },
    addRange,
    addBlock({ index, bits }) {
      const block = NumberBlock.fromBits(bits);
      const isKnown = partial.has(index) || full.has(index);
      if (!isKnown && !block.isEmpty && !block.isFull) partial.set(index, block);
      else for (const [first, last] of block.runs()) addWithin(index, first, last);
    },
    remove(number) {
      const index = indexOf(number);
      const isInFull = full.has(index);
      const block = isInFull ? NumberBlock.full() : partial.get(index);
      if (block === undefined) return;
      block.remove(placeOf(number));
      if (block.isEmpty) partial.delete(index);
      if (!isInFull) return;
      full.remove(index);
      partial.set(index, block);
    },
    has: (number) => partial.get(indexOf(number))?.has(placeOf(number)) ?? full.has(indexOf(number)),
    ranges: (from = 0) => joined(segments(), from),
    *denseBlocks() {
      for (const { first, block } of segments()) if (isDense(block)) yield { index: indexOf(first), bits: block.bits };
    },
    otherRanges: () =>
      joined(
        segments().filter(({ block }) => !isDense(block)),
        0,
      ),
  };
}

function indexOf(number: number): number {
  return Math.floor(number / blockLength);
}

function placeOf(number: number): number {
  return number % blockLength;
}

function segmentOf([index, block]: readonly [number, NumberBlock]): Segment {
  return { first: index * blockLength, last: (index + 1) * blockLength - 1, block };
}

function isDense(block: NumberBlock | undefined): block is NumberBlock {
  return block !== undefined && block.runCount > maxRunsAsRanges;
}

function* runsOf({ first, last, block }: Segment): Generator<Run> {
  if (block === undefined) yield [first, last];
  else for (const [from, to] of block.runs()) yield [first + from, first + to];
}

/** The last number of a segment if that is in, for the range that may go on in the next; else none. */
function endOf({ last, block }: Segment): number | undefined {
  return block === undefined || block.has(blockLength - 1) ? last : undefined;
}

/** How many ranges begin in a segment, when the one before it ends with `end`. */
function begunIn({ first, block }: Segment, end: number | undefined): number {
  const goesOn = end === first - 1 && (block === undefined || block.has(0));
  return (block?.runCount ?? 1) - (goesOn ? 1 : 0);
}

function countRanges(segments: Iterable<Segment>): number {
  let count = 0;
  let end: number | undefined;
  for (const segment of segments) {
    count += begunIn(segment, end);
    end = endOf(segment);
  }
  return count;
}

/** The ranges of all segments together. Those before `from` are counted, and not looked at one by one. */
function* joined(segments: Iterable<Segment>, from: number): Generator<Run> {
  let begun = 0;
  let end: number | undefined;
  let open: [number, number] | undefined;
  for (const segment of segments) {
    const begunNext = begun + begunIn(segment, end);
    if (begunNext <= from) {
      begun = begunNext;
      end = endOf(segment);
      continue;
    }
    for (const [first, last] of runsOf(segment)) {
      if (end === first - 1) {
        if (open !== undefined) open[1] = last;
      } else {
        if (open !== undefined) yield open;
        begun += 1;
        open = begun > from ? [first, last] : undefined;
      }
      end = last;
    }
  }
  if (open !== undefined) yield open;
}
