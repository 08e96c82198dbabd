import assert from "node:assert/strict";
import { performance } from "node:perf_hooks";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createLimitedWork } from "./limited_work.ts";

test("so many are worked on at once, so many wait, and others are refused", async () => {
  const limited = createLimitedWork({ slots: 2, waiting: 3, refusal: "too many", restTimes: 0 });
  let underWay = 0;
  const seen: number[] = [];
  const work = async () => {
    seen.push(++underWay);
    await pause(5);
    underWay--;
  };
  const all = await Promise.allSettled(Array.from({ length: 7 }, () => limited(work)));
  const refused = all.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  assert.deepEqual(
    refused.map(({ code, message }) => [code, message]),
    [
      ["resource_exhausted", "too many"],
      ["resource_exhausted", "too many"],
    ],
  );
  assert.equal(seen.length, 5);
  assert.ok(Math.max(...seen) <= 2);
  await assert.rejects(
    limited(() => Promise.reject(new Error("failed"))),
    /failed/,
  );
  assert.equal(await limited(async () => "and goes on"), "and goes on");
});

test("after its work a slot rests, so that others have their share", async () => {
  const limited = createLimitedWork({ slots: 1, waiting: 9, refusal: "too many", restTimes: 3 });
  const times: number[] = [];
  const work = async () => {
    times.push(performance.now());
    await pause(20);
    times.push(performance.now());
  };
  await Promise.all([limited(work), limited(work)]);
  const [begun = 0, ended = 0, next = 0] = times;
  assert.ok(next - ended >= 2 * (ended - begun), `${next - ended} ms after ${ended - begun} ms of work`);
});
