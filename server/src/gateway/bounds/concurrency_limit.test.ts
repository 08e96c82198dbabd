import assert from "node:assert/strict";
import { test } from "node:test";
import { createConcurrencyLimit } from "./concurrency_limit.ts";

const here = () => false;

test("so many go at once, the others in the order they came, and who is gone is passed over", async () => {
  const limit = createConcurrencyLimit({ slots: 2, waiting: 10, refusal: "full" });
  assert.equal(limit.enter(here), undefined);
  assert.equal(limit.enter(here), undefined);
  const went: string[] = [];
  let isGone = false;
  const third = limit.enter(here)?.then(() => went.push("third"));
  void limit.enter(() => isGone)?.then(() => went.push("gone"));
  const fourth = limit.enter(here)?.then(() => went.push("fourth"));
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual(went, []);
  isGone = true;
  limit.leave(0);
  await third;
  limit.leave(0);
  await fourth;
  assert.deepEqual(went, ["third", "fourth"]);
  limit.leave(0);
  limit.leave(0);
  assert.equal(limit.enter(here), undefined);
});

test("a slot may pause before anybody gets it", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const limit = createConcurrencyLimit({ slots: 1, waiting: 10, refusal: "full" });
  assert.equal(limit.enter(here), undefined);
  limit.leave(30);
  let entered = false;
  const turn = Promise.resolve(limit.enter(here)).then(() => (entered = true));
  t.mock.timers.tick(29);
  await Promise.resolve();
  assert.equal(entered, false);
  t.mock.timers.tick(1);
  await turn;
  assert.equal(entered, true);
});

test("only so many wait; the next is refused, unless one of them is gone", async () => {
  const limit = createConcurrencyLimit({ slots: 1, waiting: 2, refusal: "full" });
  let isGone = false;
  assert.equal(limit.enter(here), undefined);
  const first = limit.enter(here);
  void limit.enter(() => isGone);
  assert.throws(() => limit.enter(here), { code: "resource_exhausted", message: "full" });
  isGone = true;
  const third = limit.enter(here);
  limit.leave(0);
  await first;
  limit.leave(0);
  await third;
});
