import assert from "node:assert/strict";
import { test } from "node:test";
import { createInFlightRing } from "./in_flight_ring.ts";

test("each is taken once, by its id, and the oldest is known", () => {
  const ring = createInFlightRing<string>(4);
  const ids = ["a", "b", "c"].map((value) => {
    const id = ring.nextId();
    ring.add(value);
    return id;
  });
  const [a = 0, b = 0, c = 0] = ids;
  assert.equal(ring.take(b), "b");
  assert.equal(ring.take(b), undefined);
  assert.deepEqual(ring.oldest(), { id: a, value: "a" });
  assert.equal(ring.take(a), "a");
  assert.deepEqual(ring.oldest(), { id: c, value: "c" });
  assert.deepEqual(ring.takeAll(), ["c"]);
  assert.equal(ring.oldest(), undefined);
  assert.equal(ring.take(ring.nextId()), undefined);
});

test("it is full with as many as it takes, or when the one whose slot comes next still waits", () => {
  const ring = createInFlightRing<number>(4);
  for (let number = 0; number < 4; number++) ring.add(number);
  assert.equal(ring.isFull(), true);
  for (const id of [2, 3, 4]) ring.take(id);
  assert.equal(ring.isFull(), false);
  for (let id = ring.nextId(); !ring.isFull(); id = ring.nextId()) {
    ring.add(id);
    ring.take(id);
  }
  assert.deepEqual(ring.oldest(), { id: 1, value: 0 });
  assert.equal(ring.take(1), 0);
  assert.equal(ring.isFull(), false);
});

test("what comes for an id of long ago finds nothing", () => {
  const ring = createInFlightRing<number>(4);
  const first = ring.nextId();
  for (let round = 0; round < 20; round++) {
    ring.take(ring.nextId() - 1);
    ring.add(round);
  }
  assert.equal(ring.take(first), undefined);
  assert.equal(ring.take(ring.nextId() - 1), 19);
});
