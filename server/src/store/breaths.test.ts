/** Pauses let others in, and of all that has paused one piece goes on at a time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { breath, createBreathing, finishWithBreaths, mapWithBreaths } from "./breaths.ts";

/** Holds the thread for longer than a piece may take. */
function hold(): void {
  const until = performance.now() + 3;
  while (performance.now() < until);
}

async function turnsUntil(isDone: () => boolean): Promise<number> {
  let turns = 0;
  for (; !isDone(); turns++) await new Promise(setImmediate);
  return turns;
}

test("of all that has paused, one goes on at a time, the longest paused first, and turns of the loop are left to others", async () => {
  const order: number[] = [];
  const all = Array.from({ length: 5 }, (_, i) => breath().then(() => order.push(i)));
  const seen: number[] = [];
  while (order.length < 5) {
    const before = order.length;
    await new Promise(setImmediate);
    seen.push(order.length - before);
  }
  await Promise.all(all);
  assert.deepEqual(order, [0, 1, 2, 3, 4]);
  assert.deepEqual(
    seen.filter((count) => count > 0),
    [1, 1, 1, 1, 1],
  );
  assert.ok(seen.length >= 14, `${seen}`);
});

test("who pauses again goes behind those who have paused meanwhile", async () => {
  const order: string[] = [];
  const twice = async (name: string) => {
    for (let i = 0; i < 2; i++) {
      await breath();
      order.push(name);
    }
  };
  await Promise.all([twice("a"), twice("b")]);
  assert.deepEqual(order, ["a", "b", "a", "b"]);
});

test("a list is mapped in order, with turns of the loop in between, and short ones without", async () => {
  let isDone = false;
  const mapping = mapWithBreaths([1, 2, 3, 4], (each) => {
    hold();
    return each * 2;
  }).finally(() => {
    isDone = true;
  });
  assert.ok((await turnsUntil(() => isDone)) >= 4);
  assert.deepEqual(await mapping, [2, 4, 6, 8]);
  const breathing = createBreathing();
  assert.equal(breathing(), undefined);
});

test("what fails between pauses fails for who waits for it, and nobody else", async () => {
  const failing = mapWithBreaths([1, 2], (each) => {
    hold();
    if (each === 2) throw new Error("two");
    return each;
  });
  const other = breath();
  await assert.rejects(failing, /two/);
  await other;
});

test("work is told how long each of its pieces has held the thread", async () => {
  const pieces: number[] = [];
  const result = await finishWithBreaths(
    (function* () {
      for (let i = 0; i < 3; i++) {
        hold();
        yield;
      }
      return "done";
    })(),
    (ms) => pieces.push(ms),
  );
  assert.equal(result, "done");
  assert.equal(pieces.length, 4);
});
