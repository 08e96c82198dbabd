import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Work } from "@keystead/core/work.ts";
import { createScheduler, type QueuedWork } from "./scheduler.ts";

/** A scheduler on a clock that only its jobs move, and what they were seen to do, in order. */
function watched(t: TestContext) {
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  const seen: string[] = [];
  const scheduler = createScheduler(() => seen.push("sent"));
  function* pieces(name: string, count: number, pieceMs: number): Work<void> {
    try {
      for (let piece = 1; piece <= count; piece++) {
        nowMs += pieceMs;
        seen.push(`${name}${piece}`);
        yield;
      }
    } finally {
      seen.push(`${name} wiped`);
    }
  }
  function add(
    queue: string,
    name: string,
    { count = 1, pieceMs = 0, waitMs = 60_000, work = undefined as Work<void> | undefined } = {},
  ): void {
    const job: QueuedWork = {
      work: work ?? pieces(name, count, pieceMs),
      expiresAt: performance.now() + waitMs,
      fail: (error) => seen.push(`${name} failed: ${error}`),
      dropped: () => seen.push(`${name} dropped`),
    };
    scheduler.add(queue, job);
  }
  const until = async (entry: string) => {
    while (!seen.includes(entry)) await new Promise((resolve) => setImmediate(resolve));
  };
  return { seen, scheduler, add, until };
}

test("requests of one organization are decided in their order, one at a time, also when they pause", async (t) => {
  const { seen, add, until } = watched(t);
  add("a", "x", { count: 20, pieceMs: 1 });
  add("a", "y", { count: 2 });
  await until("y wiped");
  assert.deepEqual(
    seen.filter((entry) => entry !== "sent"),
    [...Array.from({ length: 20 }, (_, index) => `x${index + 1}`), "x wiped", "y1", "y2", "y wiped"],
  );
});

test("another organization's request is done between two pieces of a long one", async (t) => {
  const { seen, add, until } = watched(t);
  add("a", "x", { count: 40, pieceMs: 1 });
  await until("x1");
  add("b", "y");
  await until("x wiped");
  assert.ok(seen.indexOf("y wiped") < seen.indexOf("x40"), seen.join());
  // It did not even wait for more than the piece that was under way and what was left of that turn.
  assert.ok(seen.slice(0, seen.indexOf("y1")).filter((entry) => entry.startsWith("x")).length <= 12, seen.join());
});

test("what nobody waits for any more is not begun, and dropped halfway with its secrets wiped", async (t) => {
  const { seen, add, until } = watched(t);
  add("a", "x", { count: 1_000, pieceMs: 1, waitMs: 20 });
  add("a", "late", { waitMs: 1 });
  add("a", "y");
  await until("y wiped");
  assert.ok(seen.includes("x wiped") && seen.includes("x dropped") && !seen.includes("x1000"));
  assert.ok(seen.includes("late dropped") && !seen.includes("late1"));
});

test("a request that throws is answered as a fault, and the next one's turn comes", async (t) => {
  const { seen, add, until } = watched(t);
  function* throwing(): Work<void> {
    yield;
    throw new Error("no");
  }
  add("a", "x", { work: throwing() });
  add("a", "y");
  await until("y wiped");
  assert.deepEqual(seen.slice(0, 2), ["x failed: Error: no", "y1"]);
});

test("nothing is begun while nobody takes the answers", async (t) => {
  const { seen, scheduler, add, until } = watched(t);
  scheduler.hold();
  add("a", "x");
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(seen, []);
  scheduler.goOn();
  await until("x wiped");
});
