/** The numbers of all leaves that were released, by the signer process (boot) that prepared them. */
import { digestKey } from "../../state/digest.ts";
import { createNumberRanges, type NumberRanges } from "./number_ranges.ts";

/** Leaves of one boot, both numbers included. */
export type ReleasedRange = { boot: Uint8Array; first: number; last: number };

export type ReleasedNumbers = {
  add(range: ReleasedRange): void;
  has(boot: Uint8Array, number: number): boolean;
  ranges(): Generator<ReleasedRange>;
};

export function createReleasedNumbers(): ReleasedNumbers {
  const byBoot = new Map<string, { boot: Uint8Array; numbers: NumberRanges }>();

  function numbersOf(boot: Uint8Array): NumberRanges {
    const found = byBoot.get(digestKey(boot));
    if (found !== undefined) return found.numbers;
    const numbers = createNumberRanges();
    byBoot.set(digestKey(boot), { boot: Uint8Array.from(boot), numbers });
    return numbers;
  }

  return {
    add: ({ boot, first, last }) => numbersOf(boot).addRange(first, last),
    has: (boot, number) => byBoot.get(digestKey(boot))?.numbers.has(number) ?? false,
    *ranges() {
      for (const { boot, numbers } of byBoot.values()) {
        for (const [first, last] of numbers.ranges()) yield { boot, first, last };
      }
    },
  };
}
