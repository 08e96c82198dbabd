import assert from "node:assert/strict";
import { test } from "node:test";
import { welchT } from "./statistics.ts";

test("Welch's t is the difference of the means in standard errors, whichever way", () => {
  const [low, high] = [
    [1, 2, 3],
    [3, 4, 5, 6],
  ];
  // (4.5 - 2) / √(1/3 + (5/3)/4)
  assert.ok(Math.abs(welchT(high, low) - 2.5 / Math.sqrt(0.75)) < 1e-12);
  assert.equal(welchT(low, high), -welchT(high, low));
  assert.equal(welchT(low, low), 0);
  assert.equal(welchT([1, 1], [1, 1]), 0);
  assert.throws(() => welchT([1], low), /less than two/);
});
