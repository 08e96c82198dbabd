import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createNumberRanges } from "./number_ranges.ts";

test("ranges hold exactly the numbers put in, in as few pairs as possible", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(60), fc.nat(5)), { maxLength: 60 }), (spans) => {
      const ranges = createNumberRanges();
      const model = new Set<number>();
      for (const [first, length] of spans) {
        ranges.addRange(first, first + length);
        for (let n = first; n <= first + length; n++) model.add(n);
      }
      for (let n = 0; n < 80; n++) assert.equal(ranges.has(n), model.has(n), `number ${n}`);
      const runs = [...model].filter((n) => !model.has(n - 1)).length;
      assert.equal(ranges.ranges().length, runs);
    }),
  );
});
