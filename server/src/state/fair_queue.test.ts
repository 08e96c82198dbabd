import assert from "node:assert/strict";
import { test } from "node:test";
import { createFairQueue, type FairQueue } from "./fair_queue.ts";

/** Serves up to `count` jobs, each of its own cost, and says whose they were. */
function serve(queue: FairQueue<number>, count: number): string {
  let names = "";
  for (let served = 0; served < count; served++) {
    const flow = queue.next();
    if (flow === undefined) break;
    flow.charge(flow.first());
    flow.shift();
    names += flow.name;
  }
  return names;
}

function filled(jobs: Record<string, readonly number[]>, quantum = 2): FairQueue<number> {
  const queue = createFairQueue<number>(quantum);
  for (const [name, costs] of Object.entries(jobs)) for (const cost of costs) queue.add(name, cost);
  return queue;
}

test("one alone has every turn, in its order", () => {
  const queue = createFairQueue<number>(1);
  for (const cost of [3, 1, 2]) queue.add("a", cost);
  const costs: number[] = [];
  for (let flow = queue.next(); flow !== undefined; flow = queue.next()) {
    costs.push(flow.first());
    flow.charge(flow.first());
    flow.shift();
  }
  assert.deepEqual(costs, [3, 1, 2]);
  assert.equal(queue.size, 0);
});

test("organizations share by cost, not by how many jobs they have waiting", () => {
  const queue = filled({ a: Array(100).fill(10), b: Array(100).fill(1) });
  const served = serve(queue, 110);
  const cost = { a: 10 * served.split("a").length - 10, b: served.split("b").length - 1 };
  assert.ok(Math.abs(cost.a - cost.b) <= 20, served);
});

test("one that has just come is next, and cannot come first again with every job", () => {
  const queue = filled({ a: Array(50).fill(5), b: Array(50).fill(5) });
  serve(queue, 10);
  queue.add("c", 1);
  assert.equal(serve(queue, 1), "c");
  let mine = 0;
  for (let turn = 0; turn < 60; turn++) {
    queue.add("c", 5);
    if (serve(queue, 1) === "c") mine += 1;
  }
  assert.ok(mine <= 25, `${mine} of 60 turns`);
});

test("whoever has used more than its turn waits until the others have caught up", () => {
  const queue = filled({ a: [10, 1], b: Array(20).fill(1) });
  assert.match(serve(queue, 14), /^ab{8,}/);
});
