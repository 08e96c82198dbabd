import assert from "node:assert/strict";
import { test } from "node:test";
import { createQueryTurns } from "./query_turns.ts";

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Queries that take so long, and the most of them at once. */
function counted(ms: number) {
  const count = { now: 0, most: 0, done: 0 };
  const work = async () => {
    count.now += 1;
    count.most = Math.max(count.most, count.now);
    await pause(ms);
    count.now -= 1;
    count.done += 1;
  };
  return { count, work };
}

test("an organization whose queries take long has one answered at a time, and another's does not wait for them", async () => {
  const turns = createQueryTurns();
  const slow = counted(20);
  for (let i = 0; i < 5; i++) await turns.answer("a", 100, slow.work);
  slow.count.most = 0;
  const flood = Array.from({ length: 20 }, () => turns.answer("a", 100, slow.work));
  const before = slow.count.done;
  await turns.answer("b", 100, async () => undefined);
  assert.ok(slow.count.done - before <= 1, "it waited for the others");
  await Promise.all(flood);
  assert.equal(slow.count.most, 1);
});

test("quick queries of one organization are answered at once", async () => {
  const turns = createQueryTurns();
  for (let i = 0; i < 40; i++) await turns.answer("a", 100, async () => undefined);
  const quick = counted(5);
  await Promise.all(Array.from({ length: 10 }, () => turns.answer("a", 100, quick.work)));
  assert.ok(quick.count.most > 5, `${quick.count.most}`);
});

test("a query that fails gives its turn back", async () => {
  const turns = createQueryTurns();
  const failing = async () => {
    await pause(10);
    throw new Error("no");
  };
  for (let i = 0; i < 10; i++) await assert.rejects(turns.answer("a", 100, failing));
  await turns.answer("a", 100, async () => undefined);
  assert.equal(turns.waitingBytes(), 0);
});
