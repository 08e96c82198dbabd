import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createSharedAnswer } from "./shared_answer.ts";

test("all who ask before it is begun get one answer, and nobody one that is older than the question", async () => {
  let [asked, worked] = [0, 0];
  const ask = createSharedAnswer(async () => {
    const begunAfter = asked;
    worked += 1;
    await pause(5);
    return begunAfter;
  }, 20);
  const question = async () => {
    asked += 1;
    const own = asked;
    assert.ok((await ask()) >= own);
  };
  const lanes = Array.from({ length: 32 }, async () => {
    for (let turn = 0; turn < 10; turn++) await question();
  });
  await Promise.all(lanes);
  assert.equal(asked, 320);
  assert.ok(worked <= 12, `${worked}`);
});

test("it rests between two answers, and who comes later does not wait", async () => {
  const begun: number[] = [];
  const ask = createSharedAnswer(() => begun.push(performance.now()), 50);
  await ask();
  await ask();
  const [first = 0, second = 0] = begun;
  assert.ok(second - first >= 49, `${second - first}`);
  await pause(60);
  const askedAt = performance.now();
  await ask();
  assert.ok((begun[2] ?? 0) - askedAt < 45);
});

test("one that does not come to its end does not keep others waiting for ever", async () => {
  let turn = 0;
  const never = new Promise<number>(() => undefined);
  const ask = createSharedAnswer(() => (++turn === 1 ? never : turn), 1, 20);
  void ask();
  await pause(5);
  assert.equal(await ask(), 2);
});

test("a failure is told to those who shared it, and the next try is a new one", async () => {
  let turn = 0;
  const ask = createSharedAnswer(() => {
    turn += 1;
    if (turn === 1) throw new Error("away");
    return turn;
  }, 1);
  const [one, other] = [ask(), ask()];
  await assert.rejects(one, /away/);
  await assert.rejects(other, /away/);
  assert.equal(await ask(), 2);
});
