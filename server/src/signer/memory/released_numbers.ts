/** The numbers of all leaves that were released, by the signer process (boot) that prepared them. */
import { digestKey } from "../../state/digest.ts";
import { isSameId } from "./id_table.ts";
import { type BlockBits, createNumberSet, type NumberSet } from "./number_set.ts";

/** Leaves of one boot, both numbers included. */
export type ReleasedRange = { boot: Uint8Array; first: number; last: number };
/** Leaves of one boot, one bit for each number of a block. */
export type ReleasedBlock = { boot: Uint8Array } & BlockBits;

export type ReleasedNumbers = {
  add(range: ReleasedRange): void;
  addBlock(block: ReleasedBlock): void;
  remove(boot: Uint8Array, number: number): void;
  readonly isEmpty: boolean;
  readonly rangeCount: number;
  has(boot: Uint8Array, number: number): boolean;
  /** Without the first `from` of them. */
  ranges(from?: number): Generator<ReleasedRange>;
  /** Where numbers have so many gaps between them that their bits are shorter than their ranges; and the ranges of the others. */
  denseBlocks(): Generator<ReleasedBlock>;
  otherRanges(): Generator<ReleasedRange>;
};

export function createReleasedNumbers(): ReleasedNumbers {
  const byBoot = new Map<string, { boot: Uint8Array; numbers: NumberSet }>();
  /** Numbers of one boot come one behind another. */
  let last: { boot: Uint8Array; numbers: NumberSet } | undefined;

  function find(boot: Uint8Array): NumberSet | undefined {
    if (last !== undefined && isSameId(last.boot, boot)) return last.numbers;
    const found = byBoot.get(digestKey(boot));
    if (found !== undefined) last = found;
    return found?.numbers;
  }

  function numbersOf(boot: Uint8Array): NumberSet {
    const found = find(boot);
    if (found !== undefined) return found;
    last = { boot: Uint8Array.from(boot), numbers: createNumberSet() };
    byBoot.set(digestKey(boot), last);
    return last.numbers;
  }

  return {
    add: ({ boot, first, last }) => numbersOf(boot).addRange(first, last),
    addBlock: ({ boot, index, bits }) => numbersOf(boot).addBlock({ index, bits }),
    remove(boot, number) {
      const numbers = byBoot.size === 0 ? undefined : find(boot);
      numbers?.remove(number);
      if (numbers?.isEmpty !== true) return;
      byBoot.delete(digestKey(boot));
      last = undefined;
    },
    get isEmpty() {
      return byBoot.size === 0;
    },
    get rangeCount() {
      return byBoot.values().reduce((sum, { numbers }) => sum + numbers.rangeCount, 0);
    },
    has: (boot, number) => find(boot)?.has(number) ?? false,
    *ranges(from = 0) {
      let left = from;
      for (const { boot, numbers } of byBoot.values()) {
        const count = left > 0 ? numbers.rangeCount : 0;
        if (left === 0 || left < count) for (const [first, last] of numbers.ranges(left)) yield { boot, first, last };
        left = Math.max(0, left - count);
      }
    },
    *denseBlocks() {
      for (const { boot, numbers } of byBoot.values()) {
        for (const { index, bits } of numbers.denseBlocks()) yield { boot, index, bits };
      }
    },
    *otherRanges() {
      for (const { boot, numbers } of byBoot.values()) {
        for (const [first, last] of numbers.otherRanges()) yield { boot, first, last };
      }
    },
  };
}
