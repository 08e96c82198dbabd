import assert from "node:assert/strict";
import { test } from "node:test";
import { createThreadShares } from "./thread_shares.ts";

/** Shares by a clock that only the test moves. */
function rig({ isAlone = () => false }: { isAlone?: () => boolean } = {}) {
  let nowMs = 1_000;
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { charge: createThreadShares(isAlone, () => nowMs), pass };
}

/** What an organization has of the thread that works for so long, rests as it is told, and begins again. */
function shareOf(tookMs: number, isAlone: () => boolean): number {
  const { charge, pass } = rig({ isAlone });
  let [workedMs, passedMs] = [0, 0];
  while (passedMs < 60_000) {
    pass(tookMs);
    const restMs = charge("a", tookMs);
    pass(restMs);
    workedMs += tookMs;
    passedMs += tookMs + restMs;
  }
  return workedMs / passedMs;
}

test("an organization has a quarter of the thread while others are there, and all of it when it is alone", () => {
  for (const tookMs of [0.1, 3, 30, 300]) {
    const share = shareOf(tookMs, () => false);
    assert.ok(share > 0.24 && share < 0.26, `${tookMs} ms at a time: ${share}`);
    const alone = shareOf(tookMs, () => true);
    assert.ok(alone > 0.999, `alone: ${alone}`);
  }
});

test("little is free, and it comes back with time", () => {
  const { charge, pass } = rig();
  const takeAll = () => {
    for (const [tookMs, restMs] of [
      [20, 0],
      [10, 10],
      [10, 40],
    ] as const) {
      pass(tookMs);
      assert.equal(charge("a", tookMs), restMs);
    }
  };
  takeAll();
  pass(40);
  pass(10);
  assert.equal(charge("a", 10), 30);
  pass(60_000);
  takeAll();
});

test("nobody rests for more than a second at once, nor for more than two and a half together", () => {
  const { charge, pass } = rig();
  for (let i = 0; i < 10; i++) assert.equal(charge("a", 60_000), 1_000);
  pass(2_000);
  assert.equal(charge("a", 0), 500);
  pass(500);
  assert.equal(charge("a", 0), 0);
  assert.equal(charge("b", 20), 0);
});

test("what is done while nobody else is there is not charged later", () => {
  let alone = true;
  const { charge } = rig({ isAlone: () => alone });
  assert.equal(charge("a", 60_000), 0);
  alone = false;
  assert.equal(charge("a", 20), 0);
});
