import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { checkSerialRanges, hasSerial, noSerials, withSerials } from "./serial_ranges.ts";

test("ranges hold exactly the serials that were added, in however many steps", () => {
  const serials = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 30 });
  fc.assert(
    fc.property(fc.array(serials, { maxLength: 6 }), (steps) => {
      const ranges = steps.reduce(withSerials, noSerials);
      checkSerialRanges(ranges);
      const all = new Set(steps.flat());
      for (let serial = 1; serial <= 61; serial++) assert.equal(hasSerial(ranges, serial), all.has(serial));
    }),
  );
});

test("a million serials in a row are one range", () => {
  const ranges = withSerials(withSerials(noSerials, [2, 1_000_001]), range(3, 1_000_000));
  assert.deepEqual(ranges, [2, 1_000_001]);
});

test("broken ranges are refused", () => {
  for (const broken of [[1], [2, 1], [1, 2, 3, 4], [0, 1], [1, 1.5], [3, 4, 1, 1]]) {
    assert.throws(() => checkSerialRanges(broken), { code: "failed_precondition" });
  }
});

function* range(first: number, last: number): Generator<number> {
  for (let serial = first; serial <= last; serial++) yield serial;
}
