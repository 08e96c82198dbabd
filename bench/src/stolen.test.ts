import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuTimes, leastDisturbed, mostStolen } from "./stolen.ts";

test("the kernel's line of all processors", () => {
  const stat = "cpu  100 1 20 300 4 0 5 60 7 8\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
  assert.deepEqual(cpuTimes(stat), { all: 490, stolen: 60 });
  assert.deepEqual(cpuTimes("intr 1\n"), { all: 0, stolen: 0 });
});

test("what was disturbed is measured again, a few times, and the quietest counts", async () => {
  const measured = async (...shares: number[]) => {
    const all = shares.values();
    const { best, dropped } = await leastDisturbed(async () => ({ stolen: all.next().value ?? Number.NaN }));
    return [best.stolen, dropped.map(({ stolen }) => stolen)];
  };
  assert.deepEqual(await measured(mostStolen, 0), [mostStolen, []]);
  assert.deepEqual(await measured(0.5, 0.01, 0), [0.01, [0.5]]);
  assert.deepEqual(await measured(0.5, 0.2, 0.3, 0), [0.2, [0.3, 0.5]]);
});
