import assert from "node:assert/strict";
import { test } from "node:test";
import { patienceMs } from "../../../../core/test/patience.ts";
import { createAdmission } from "./admission.ts";
import { queryLimits } from "./memory_bounds.ts";
import { createQueryQueue } from "./query_queue.ts";

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Queries that wait for so long, and the most of them at once. */
function counted(waitMs: number) {
  const count = { now: 0, most: 0, done: 0 };
  const work = async () => {
    count.now += 1;
    count.most = Math.max(count.most, count.now);
    await pause(waitMs);
    count.now -= 1;
    count.done += 1;
  };
  return { count, work };
}

test("an organization whose queries take long has one answered at a time, and another's does not wait for them", async () => {
  const admission = createAdmission({ ...queryLimits, waitMs: patienceMs });
  const queue = createQueryQueue({ admission, startMeasuring: () => () => 20 });
  const slow = counted(1);
  for (let i = 0; i < 5; i++) await queue.answer("a", 100, slow.work);
  slow.count.most = 0;
  const flood = Array.from({ length: 20 }, () => queue.answer("a", 100, slow.work));
  const before = slow.count.done;
  await queue.answer("b", 100, async () => undefined);
  assert.ok(slow.count.done - before <= 1, "it waited for the others");
  await Promise.all(flood);
  assert.equal(slow.count.most, 1);
});

test("of many long queries that come in one tick few are answered in one turn of the loop, of those that follow one", async (t) => {
  const queue = createQueryQueue({ startMeasuring: () => () => 20 });
  let turn = 0;
  let counting = setImmediate(function count() {
    turn += 1;
    counting = setImmediate(count);
  });
  t.after(() => clearImmediate(counting));
  /** How many at most are answered in one turn. Nothing in them waits: all of it is work of this thread. */
  const flood = async (): Promise<number> => {
    const answered = new Map<number, number>();
    const work = async () => void answered.set(turn, (answered.get(turn) ?? 0) + 1);
    await Promise.all(Array.from({ length: 16 }, () => queue.answer("a", 100, work)));
    return Math.max(...answered.values());
  };
  // As many as would be quick ones, until it is known what they take.
  assert.ok((await flood()) <= 4);
  assert.equal(await flood(), 1);
});

test("queries that only wait for the database are answered at once, however long that takes", async () => {
  // On a busy machine the thread seems to work while it waits for the processor.
  const queue = createQueryQueue({ startMeasuring: () => () => 0 });
  const waiting = counted(30);
  for (let i = 0; i < 10; i++) await queue.answer("a", 100, waiting.work);
  await Promise.all(Array.from({ length: 10 }, () => queue.answer("a", 100, waiting.work)));
  assert.equal(waiting.count.most, 10);
});

test("a query that fails gives its turn back", async () => {
  const queue = createQueryQueue();
  const failing = async () => {
    await pause(10);
    throw new Error("no");
  };
  for (let i = 0; i < 10; i++) await assert.rejects(queue.answer("a", 100, failing));
  await queue.answer("a", 100, async () => undefined);
  assert.equal(queue.waitingBytes(), 0);
});
