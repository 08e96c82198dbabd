import assert from "node:assert/strict";
import { test } from "node:test";
import { createThreadShares, type ThreadClock } from "./thread_shares.ts";

/** Shares by a clock that only the test moves. */
function rig({ isAlone = () => false }: { isAlone?: () => boolean } = {}) {
  const at = { nowMs: 1_000, activeMs: 0 };
  const clock: ThreadClock = { nowMs: () => at.nowMs, activeMs: () => at.activeMs };
  const pass = (ms: number, activeMs = 0) => {
    at.nowMs += ms;
    at.activeMs += activeMs;
  };
  return { shares: createThreadShares(isAlone, clock), at, pass, work: (ms: number) => pass(ms, ms) };
}

/** What an organization has of the thread that works for so long, rests as it is told, and begins again. */
function shareOf(tookMs: number, isAlone: () => boolean): number {
  const { shares, at, pass, work } = rig({ isAlone });
  const begunMs = at.nowMs;
  while (at.nowMs < begunMs + 60_000) {
    const end = shares.start("a");
    work(tookMs);
    pass(shares.charge("a", end()));
  }
  return at.activeMs / (at.nowMs - begunMs);
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
  const { shares, pass, work } = rig();
  const takeAll = () => {
    for (const [tookMs, restMs] of [
      [20, 0],
      [10, 10],
      [10, 40],
    ] as const) {
      work(tookMs);
      assert.equal(shares.charge("a", tookMs), restMs);
    }
  };
  takeAll();
  pass(40);
  work(10);
  assert.equal(shares.charge("a", 10), 30);
  pass(60_000);
  takeAll();
});

test("nobody rests for more than a second at once, nor for more than two and a half together", () => {
  const { shares, pass } = rig();
  for (let i = 0; i < 10; i++) assert.equal(shares.charge("a", 60_000), 1_000);
  pass(2_000);
  assert.equal(shares.charge("a", 0), 500);
  pass(500);
  assert.equal(shares.charge("a", 0), 0);
  assert.equal(shares.charge("b", 20), 0);
});

test("what is done while nobody else is there is not charged later", () => {
  let alone = true;
  const { shares } = rig({ isAlone: () => alone });
  assert.equal(shares.charge("a", 60_000), 0);
  alone = false;
  assert.equal(shares.charge("a", 20), 0);
});

test("those that overlap share what the thread works, and none pays for what was done before or after it", () => {
  const { shares, pass, work } = rig();
  work(100);
  const first = shares.start("a");
  work(10);
  const second = shares.start("a");
  work(8);
  pass(1_000);
  assert.equal(first(), 14);
  work(6);
  assert.equal(second(), 10);
  work(100);
  const third = shares.start("a");
  work(1);
  assert.equal(third(), 1);
});

test("organizations share alike, however many queries each has under way", () => {
  const { shares, work } = rig();
  const slow = shares.start("slow");
  const quick = Array.from({ length: 4 }, () => shares.start("quick"));
  work(80);
  assert.deepEqual(
    quick.map((end) => end()),
    [10, 10, 10, 10],
  );
  work(5);
  assert.equal(slow(), 45);
});
