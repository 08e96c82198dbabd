import assert from "node:assert/strict";
import { test } from "node:test";
import { createReachedLimits } from "./reached_limits.ts";

/** How long each of these waits, in the order in which they come at one moment. */
async function waits(organizationIds: readonly string[]): Promise<number[]> {
  const waited: number[] = [];
  let waitMs = 0;
  const limits = createReachedLimits(
    () => 0,
    async (ms) => {
      waitMs = ms;
    },
  );
  for (const organizationId of organizationIds) {
    waitMs = 0;
    await limits.leave(organizationId);
    waited.push(waitMs);
  }
  return waited;
}

test("refusals of one organization leave one after the other, and nobody else waits with them", async () => {
  assert.deepEqual(await waits(["a", "a", "a", "b"]), [0, 10, 20, 0]);
});

test("however many there are, none waits for longer than half a second", async () => {
  assert.equal(Math.max(...(await waits(Array.from({ length: 1_000 }, () => "a")))), 500);
});

test("organizations that may go at once are forgotten, and those that may not are not", async () => {
  let nowMs = 0;
  let waitMs = 0;
  const limits = createReachedLimits(
    () => nowMs,
    async (ms) => {
      waitMs = ms;
    },
  );
  for (let index = 0; index < 3_000; index++) {
    nowMs += 20;
    await limits.leave(`${index}`);
  }
  await limits.leave("last");
  assert.equal(waitMs, 0);
  await limits.leave("last");
  assert.equal(waitMs, 10);
});
