import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { blockLength, NumberBlock } from "./number_block.ts";
import { createNumberSet } from "./number_set.ts";

const end = 4 * blockLength;

type Act = { kind: "add" | "remove" | "addBlock"; first: number; length: number };

/** Numbers near the ends of blocks, short and long ranges, and blocks that are full, empty or have gaps everywhere. */
const acts = fc.array(
  fc.record<Act>({
    kind: fc.constantFrom("add", "add", "remove", "addBlock"),
    first: fc.oneof(
      fc.nat(end - 1),
      fc.tuple(fc.nat(3), fc.integer({ min: -3, max: 3 })).map(([block, by]) => Math.max(0, block * blockLength + by)),
    ),
    length: fc.oneof(fc.nat(4), fc.nat(2 * blockLength), fc.constant(blockLength - 1)),
  }),
  { maxLength: 30 },
);

/** What `addBlock` adds: every `step`th number of the block, all, or none. */
function blockBits(step: number): { bits: Uint8Array; places: number[] } {
  const block = new NumberBlock();
  const places = Array.from({ length: blockLength }, (_, place) => place).filter(
    (place) => step > 0 && place % step === 0,
  );
  for (const place of places) block.add(place);
  return { bits: block.bits, places };
}

function runsOf(model: ReadonlySet<number>): [number, number][] {
  const runs: [number, number][] = [];
  for (const number of [...model].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run?.[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs;
}

test("a set holds exactly the numbers put in and not removed, in as few ranges as possible, however it is written down", () => {
  fc.assert(
    fc.property(acts, fc.nat(50), (history, from) => {
      const set = createNumberSet();
      const model = new Set<number>();
      for (const { kind, first, length } of history) {
        const last = first + length;
        if (kind === "add") {
          set.addRange(first, last);
          for (let number = first; number <= last; number++) model.add(number);
        } else if (kind === "remove") {
          set.remove(first);
          model.delete(first);
        } else {
          const index = Math.floor(first / blockLength);
          const { bits, places } = blockBits(length % 4);
          set.addBlock({ index, bits });
          for (const place of places) model.add(index * blockLength + place);
        }
      }
      for (let number = 0; number < 8 * blockLength; number++) {
        if (set.has(number) !== model.has(number)) assert.fail(`number ${number}`);
      }
      const runs = runsOf(model);
      assert.deepEqual([...set.ranges()], runs);
      assert.deepEqual([...set.ranges(from)], runs.slice(from));
      assert.deepEqual([set.rangeCount, set.isEmpty], [runs.length, runs.length === 0]);
      const written = createNumberSet();
      for (const block of set.denseBlocks()) written.addBlock({ ...block, bits: Uint8Array.from(block.bits) });
      for (const [first, last] of set.otherRanges()) written.addRange(first, last);
      assert.deepEqual([...written.ranges()], runs);
    }),
    { numRuns: 100 },
  );
});

test("every part of a set's ranges can be listed by itself, over blocks with and without gaps", () => {
  const set = createNumberSet();
  for (let number = 0; number < end; number += 2) if (number % 5 !== 0) set.addRange(number, number);
  set.addRange(end, end + 2 * blockLength);
  set.addRange(end + 2 * blockLength + 2, end + 3 * blockLength);
  const all = [...set.ranges()];
  assert.equal(set.rangeCount, all.length);
  for (const from of [0, 1, 2, all.length - 3, all.length - 2, all.length - 1, all.length, all.length + 1]) {
    assert.deepEqual([...set.ranges(from)], all.slice(from), `from ${from}`);
  }
  for (let from = 3; from < all.length; from += 97) {
    assert.deepEqual(set.ranges(from).next().value, all[from], `from ${from}`);
  }
});

test("numbers beyond 32 bits are kept apart from those that share their lower ones", () => {
  const set = createNumberSet();
  const far = 2 ** 40 + 5;
  set.addRange(far, far);
  assert.deepEqual([set.has(far), set.has(5), set.has(far - 2 ** 32), set.has(far + 1)], [true, false, false, false]);
  assert.deepEqual([...set.ranges()], [[far, far]]);
});
