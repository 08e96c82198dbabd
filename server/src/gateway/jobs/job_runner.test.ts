import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Job, retryMs, startJobs } from "./job_runner.ts";

function start(t: TestContext, job: Partial<Job>) {
  const logged: string[] = [];
  const runner = startJobs([{ name: "tidy", everyMs: 5, run: async () => undefined, ...job }], {
    failed: (name, error) => logged.push(`${name} failed: ${(error as Error).message}`),
    recovered: (name) => logged.push(`${name} recovered`),
  });
  t.after(() => runner.stop());
  return { runner, logged };
}

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
};

test("a job runs again and again, and never twice at once", async (t) => {
  let [runs, atOnce, most] = [0, 0, 0];
  start(t, {
    everyMs: 1,
    async run() {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise((resolve) => setTimeout(resolve, 10));
      atOnce -= 1;
      runs += 1;
    },
  });
  await until(() => runs >= 3);
  assert.equal(most, 1);
});

test("a job that keeps failing is logged once, is tried again, and its recovery is logged", async (t) => {
  let runs = 0;
  const { logged } = start(t, {
    async run() {
      runs += 1;
      if (runs <= 3) throw new Error("the disk is full");
    },
  });
  await until(() => runs >= 5);
  assert.deepEqual(logged, ["tidy failed: the disk is full", "tidy recovered"]);
});

test("a job that throws before it returns a promise stops nothing", async (t) => {
  let runs = 0;
  start(t, {
    run() {
      runs += 1;
      throw new Error("at once");
    },
  });
  await until(() => runs >= 2);
});

test("pauses after failures grow, vary, and never exceed the interval", () => {
  const hourMs = 3_600_000;
  assert.deepEqual(
    [1, 2, 3, 12, 13, 2_000].map((failures) => retryMs(failures, hourMs, 1)),
    [1_000, 2_000, 4_000, 2_048_000, hourMs, hourMs],
  );
  assert.equal(retryMs(3, hourMs, 0), 2_000);
  assert.equal(retryMs(3, 100, 1), 100);
});

test("stopping tells the running job, waits for its end, and starts no other", async (t) => {
  let [runs, ended] = [0, false];
  let finish: () => void = () => undefined;
  const { runner, logged } = start(t, {
    everyMs: 1,
    async run(signal) {
      runs += 1;
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      ended = true;
      signal.throwIfAborted();
    },
  });
  await until(() => runs === 1);
  let isStopped = false;
  const stopped = runner.stop().then(() => {
    isStopped = true;
  });
  for (let i = 0; i < 5; i++) await nextTurn();
  assert.equal(isStopped, false, "it has waited for the run");
  finish();
  await stopped;
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual([runs, ended, logged], [1, true, []]);
});

test("a job that waits for its next run ends at once", async (t) => {
  const { runner } = start(t, { everyMs: 3_600_000 });
  await runner.stop();
});
