/** The numbers of all leaves that were released, by the signer process (boot) that prepared them. */
import { digestKey } from "../../state/digest.ts";
import { isSameId } from "./id_table.ts";
import { createNumberRanges, type NumberRanges } from "./number_ranges.ts";

/** Leaves of one boot, both numbers included. */
export type ReleasedRange = { boot: Uint8Array; first: number; last: number };

export type ReleasedNumbers = {
  add(range: ReleasedRange): void;
  remove(boot: Uint8Array, number: number): void;
  readonly isEmpty: boolean;
  has(boot: Uint8Array, number: number): boolean;
  ranges(): Generator<ReleasedRange>;
};

export function createReleasedNumbers(): ReleasedNumbers {
  const byBoot = new Map<string, { boot: Uint8Array; numbers: NumberRanges }>();
  /** Numbers of one boot come one behind another. */
  let last: { boot: Uint8Array; numbers: NumberRanges } | undefined;

  function find(boot: Uint8Array): NumberRanges | undefined {
    if (last !== undefined && isSameId(last.boot, boot)) return last.numbers;
    const found = byBoot.get(digestKey(boot));
    if (found !== undefined) last = found;
    return found?.numbers;
  }

  function numbersOf(boot: Uint8Array): NumberRanges {
    const found = find(boot);
    if (found !== undefined) return found;
    last = { boot: Uint8Array.from(boot), numbers: createNumberRanges() };
    byBoot.set(digestKey(boot), last);
    return last.numbers;
  }

  return {
    add: ({ boot, first, last }) => numbersOf(boot).addRange(first, last),
    remove(boot, number) {
      const numbers = byBoot.size === 0 ? undefined : find(boot);
      numbers?.remove(number);
      if (numbers?.ranges().length !== 0) return;
      byBoot.delete(digestKey(boot));
      last = undefined;
    },
    get isEmpty() {
      return byBoot.size === 0;
    },
    has: (boot, number) => find(boot)?.has(number) ?? false,
    *ranges() {
      for (const { boot, numbers } of byBoot.values()) {
        for (const [first, last] of numbers.ranges()) yield { boot, first, last };
      }
    },
  };
}
