import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlaces } from "./places.ts";

test("each is taken once, by its id, and the oldest is known", () => {
  const places = createPlaces<string>(4);
  const ids = ["a", "b", "c"].map((value) => {
    const id = places.nextId();
    places.add(value);
    return id;
  });
  const [a = 0, b = 0, c = 0] = ids;
  assert.equal(places.take(b), "b");
  assert.equal(places.take(b), undefined);
  assert.deepEqual(places.oldest(), { id: a, value: "a" });
  assert.equal(places.take(a), "a");
  assert.deepEqual(places.oldest(), { id: c, value: "c" });
  assert.deepEqual(places.takeAll(), ["c"]);
  assert.equal(places.oldest(), undefined);
  assert.equal(places.take(places.nextId()), undefined);
});

test("it is full with as many as it takes, or when the one whose place comes next still waits", () => {
  const places = createPlaces<number>(4);
  for (let number = 0; number < 4; number++) places.add(number);
  assert.equal(places.isFull(), true);
  for (const id of [2, 3, 4]) places.take(id);
  assert.equal(places.isFull(), false);
  for (let id = places.nextId(); !places.isFull(); id = places.nextId()) {
    places.add(id);
    places.take(id);
  }
  assert.deepEqual(places.oldest(), { id: 1, value: 0 });
  assert.equal(places.take(1), 0);
  assert.equal(places.isFull(), false);
});

test("what comes for an id of long ago finds nothing", () => {
  const places = createPlaces<number>(4);
  const first = places.nextId();
  for (let round = 0; round < 20; round++) {
    places.take(places.nextId() - 1);
    places.add(round);
  }
  assert.equal(places.take(first), undefined);
  assert.equal(places.take(places.nextId() - 1), 19);
});
