import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  countRanges,
  hasSerial,
  noSerials,
  parseSerials,
  type SerialRanges,
  serialsJson,
  withSerials,
} from "./serial_ranges.ts";

const read = (ranges: SerialRanges) => JSON.parse(serialsJson(ranges)) as number[];

test("ranges hold exactly the serials that were added, in however many steps, and read back as they were written", () => {
  const serials = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 30 });
  fc.assert(
    fc.property(fc.array(serials, { maxLength: 6 }), (steps) => {
      const ranges = steps.reduce(withSerials, noSerials);
      const again = parseSerials(read(ranges));
      const all = new Set(steps.flat());
      for (let serial = 0; serial <= 61; serial++) {
        assert.equal(hasSerial(ranges, serial), all.has(serial));
        assert.equal(hasSerial(again, serial), all.has(serial));
      }
    }),
  );
});

test("thousands of ranges, added and joined in any order, are what one step would make of them", () => {
  const steps = fc.array(fc.array(fc.integer({ min: 1, max: 6_000 }), { maxLength: 900 }), { maxLength: 12 });
  fc.assert(
    fc.property(steps, (all) => {
      const inSteps = all.reduce(withSerials, noSerials);
      const atOnce = withSerials(noSerials, all.flat());
      assert.deepEqual(read(inSteps), read(atOnce));
      assert.equal(countRanges(inSteps), read(inSteps).length / 2);
    }),
    { numRuns: 50 },
  );
});

test("a change writes few of many ranges anew", () => {
  const many = withSerials(
    noSerials,
    Array.from({ length: 10_000 }, (_, i) => 2 * i + 1),
  );
  const next = withSerials(many, [7_777 * 2]);
  assert.equal(countRanges(next), 9_999);
  assert.ok(next.filter((chunk) => !many.includes(chunk)).length <= 2);
});

test("a million serials in a row are one range", () => {
  const ranges = withSerials(withSerials(noSerials, [2, 1_000_001]), range(3, 1_000_000));
  assert.deepEqual(read(ranges), [2, 1_000_001]);
});

test("broken ranges are refused", () => {
  for (const broken of [[1], [2, 1], [1, 2, 3, 4], [0, 1], [1, 1.5], [3, 4, 1, 1]]) {
    assert.throws(() => parseSerials(broken), { code: "failed_precondition" });
  }
});

function* range(first: number, last: number): Generator<number> {
  for (let serial = first; serial <= last; serial++) yield serial;
}
