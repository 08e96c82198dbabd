import assert from "node:assert/strict";
import { test } from "node:test";
import { createLane } from "./lane.ts";

const here = () => false;

test("so many go at once, the others in the order they came, and who is gone is passed over", async () => {
  const lane = createLane({ places: 2, waiting: 10, refusal: "full" });
  assert.equal(lane.enter(here), undefined);
  assert.equal(lane.enter(here), undefined);
  const went: string[] = [];
  let isGone = false;
  const third = lane.enter(here)?.then(() => went.push("third"));
  void lane.enter(() => isGone)?.then(() => went.push("gone"));
  const fourth = lane.enter(here)?.then(() => went.push("fourth"));
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual(went, []);
  isGone = true;
  lane.leave(0);
  await third;
  lane.leave(0);
  await fourth;
  assert.deepEqual(went, ["third", "fourth"]);
  lane.leave(0);
  lane.leave(0);
  assert.equal(lane.enter(here), undefined);
});

test("a place may rest before anybody gets it", async () => {
  const lane = createLane({ places: 1, waiting: 10, refusal: "full" });
  assert.equal(lane.enter(here), undefined);
  lane.leave(30);
  const begun = performance.now();
  await lane.enter(here);
  assert.ok(performance.now() - begun > 20);
});

test("only so many wait; the next is refused, unless one of them is gone", async () => {
  const lane = createLane({ places: 1, waiting: 2, refusal: "full" });
  let isGone = false;
  assert.equal(lane.enter(here), undefined);
  const first = lane.enter(here);
  void lane.enter(() => isGone);
  assert.throws(() => lane.enter(here), { code: "resource_exhausted", message: "full" });
  isGone = true;
  const third = lane.enter(here);
  lane.leave(0);
  await first;
  lane.leave(0);
  await third;
});
