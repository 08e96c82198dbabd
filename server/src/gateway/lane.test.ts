import assert from "node:assert/strict";
import { test } from "node:test";
import { createLane } from "./lane.ts";

const here = () => false;

test("so many go at once, the others in the order they came, and who is gone is passed over", async () => {
  const lane = createLane(2);
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
  const lane = createLane(1);
  assert.equal(lane.enter(here), undefined);
  lane.leave(30);
  const begun = performance.now();
  await lane.enter(here);
  assert.ok(performance.now() - begun > 20);
});
