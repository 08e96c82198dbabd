import assert from "node:assert/strict";
import { test } from "node:test";
import { createReachedLimits } from "./reached_limits.ts";

/** How long each of these waits, in the order in which they come at one moment. */
async function waits(organizationIds: readonly string[]): Promise<number[]> {
  const limits = createReachedLimits(() => 0);
  const begun = performance.now();
  return Promise.all(
    organizationIds.map(async (organizationId) => {
      await limits.leave(organizationId);
      return performance.now() - begun;
    }),
  );
}

test("refusals of one organization leave one after the other, and nobody else waits with them", async () => {
  const [first = 0, second = 0, third = 0, other = 0] = await waits(["a", "a", "a", "b"]);
  assert.ok(second > first + 5 && third > second + 5, `${[first, second, third]}`);
  assert.ok(other < second, `${other} after ${second}`);
});

test("however many there are, none waits for much longer than half a second", async () => {
  const many = await waits(Array.from({ length: 1_000 }, () => "a"));
  // Two tenths of what one after the other would take.
  assert.ok(Math.max(...many) < 2_000, `${Math.max(...many)}`);
});

test("organizations that may go at once are forgotten, and those that may not are not", async () => {
  let nowMs = 0;
  const limits = createReachedLimits(() => nowMs);
  for (let index = 0; index < 3_000; index++) {
    nowMs += 20;
    await limits.leave(`${index}`);
  }
  await limits.leave("last");
  const begun = performance.now();
  await limits.leave("last");
  assert.ok(performance.now() - begun > 5);
});
