import assert from "node:assert/strict";
import { test } from "node:test";
import { createRepeats } from "./repeats.ts";

test("of one name one runs at a time, in the order they came, and those that waited are told", async () => {
  const repeats = createRepeats();
  const said: string[] = [];
  const work = (name: string) => async (waited: boolean) => {
    said.push(`${name} begins${waited ? " after another" : ""}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    said.push(`${name} ends`);
    if (name === "b") throw new Error("b failed");
    return name;
  };
  const [a, b, c] = await Promise.allSettled(["a", "b", "c"].map((name) => repeats.alone("same", work(name))));
  assert.deepEqual(said, [
    "a begins",
    "a ends",
    "b begins after another",
    "b ends",
    "c begins after another",
    "c ends",
  ]);
  assert.deepEqual([a?.status, b?.status, c?.status], ["fulfilled", "rejected", "fulfilled"]);
  assert.equal(await repeats.alone("same", async (waited) => waited), false);
});

test("different names do not wait for each other", async () => {
  const repeats = createRepeats();
  let release: () => void = () => undefined;
  const slow = repeats.alone("slow", () => new Promise<void>((resolve) => (release = resolve)));
  assert.equal(await repeats.alone("quick", async () => "done"), "done");
  release();
  await slow;
});

test("what was noted is remembered for thousands of others, and not for ever", () => {
  const repeats = createRepeats();
  repeats.note("first");
  for (let other = 0; other < 9_000; other++) repeats.note(`other ${other}`);
  assert.ok(repeats.wasNoted("first"));
  for (let other = 0; other < 30_000; other++) repeats.note(`another ${other}`);
  assert.ok(!repeats.wasNoted("first"));
});

test("repeats of one request leave others a turn in between, and too many are refused", async () => {
  const repeats = createRepeats();
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const asked = Array.from({ length: 1_001 }, () => repeats.alone("same", async (waited) => waited));
  await assert.rejects(
    repeats.alone("same", async () => true),
    { code: "resource_exhausted" },
  );
  assert.equal((await Promise.all(asked)).filter(Boolean).length, 1_000);
  isOver = true;
  assert.ok(turns >= 1_000, `${turns} turns of the loop`);
  assert.equal(await repeats.alone("same", async (waited) => waited), false, "nothing is left behind");
});
