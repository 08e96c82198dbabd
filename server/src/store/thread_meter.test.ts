/** What the thread does for something is counted, and what it does for others meanwhile is not. */
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { breath, mapWithBreaths } from "./breaths.ts";
import { metered, resumes, resumesWith } from "./thread_meter.ts";

let nowMs = 0;
mock.method(performance, "now", () => nowMs);

/** Holds the thread for so long, by a clock that nothing else moves. */
function hold(ms: number): void {
  nowMs += ms;
}

async function counted(work: () => Promise<unknown> | unknown): Promise<number> {
  const { value, workedMs } = metered(work);
  await value;
  return workedMs();
}

test("what is done at once is counted, also where it fails", async () => {
  assert.equal(await counted(() => hold(20)), 20);
  const failing = metered(() => {
    hold(20);
    throw new Error("no");
  });
  await assert.rejects(failing.value, /no/);
  assert.equal(failing.workedMs(), 20);
});

test("what goes on after a promise that was kept is counted with it, once", async () => {
  const took = await counted(async () => {
    hold(20);
    await undefined;
    resumes();
    hold(20);
    await Promise.all([undefined, Promise.resolve().then(resumes)]);
    hold(20);
  });
  assert.equal(took, 60);
});

test("what others do while it waits is not counted, and what it does after it resumes is", async () => {
  const took = counted(async () => {
    hold(20);
    await breath();
    hold(20);
  });
  setImmediate(() => hold(100));
  assert.equal(await took, 40);
});

test("those that take turns are each charged for their own pieces", async () => {
  const list = (ms: number) => mapWithBreaths([1, 2, 3, 4, 5], () => hold(ms));
  const [short, long] = await Promise.all([counted(() => list(4)), counted(() => list(12))]);
  assert.equal(short, 20);
  assert.equal(long, 60);
});

test("rows of another process count by their number", async () => {
  const took = await counted(async () => resumesWith(Array.from({ length: 4_000 })));
  assert.equal(took, 20);
});

test("outside of what is measured nothing is counted", () => {
  resumes();
  assert.deepEqual(resumesWith([1]), [1]);
});
