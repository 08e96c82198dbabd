/** What leaf numbers that are never released cost the memory: a refusal that is not stored leaves one, and whoever is refused decides how many. */
import assert from "node:assert/strict";
import { mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openMemory } from "./memory.ts";
import { createReleasedNumbers } from "./released_numbers.ts";

const rootKey = new Uint8Array(32).fill(7);
const boot = new Uint8Array(16).fill(3);
const other = new Uint8Array(16).fill(4);
const newFolder = () => mkdtempSync(join(tmpdir(), "keystead-released-gaps-"));

/** Of everything that is reachable. */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test("a gap between released numbers costs less than a byte, where every other number is one", (t) => {
  const gaps = 1_000_000;
  const before = heldBytes();
  const released = createReleasedNumbers();
  for (let number = 1; number < 2 * gaps; number += 2) released.add({ boot, first: number, last: number });
  const bytes = heldBytes() - before;
  t.diagnostic(`${gaps} gaps: ${bytes} bytes, ${(bytes / gaps).toFixed(2)} each`);
  assert.ok(bytes < gaps, `${bytes} bytes`);
  assert.equal(released.rangeCount, gaps);
});

test("the costliest gaps, one in each 4,096 numbers, take less than two bits of memory for each number drawn", (t) => {
  const numbers = 20_000_000;
  const before = heldBytes();
  const released = createReleasedNumbers();
  for (let first = 1; first < numbers; first += 4_096) released.add({ boot, first, last: first + 4_094 });
  const bytes = heldBytes() - before;
  t.diagnostic(`${numbers} numbers: ${bytes} bytes, ${((8 * bytes) / numbers).toFixed(2)} bits each`);
  assert.ok(8 * bytes < 2 * numbers, `${bytes} bytes`);
  assert.equal(released.has(boot, 4_096), false);
});

test("the file has a bit for each number where they have gaps, and every answer is the same after it is read", (t) => {
  const numbers = 1_000_000;
  const folder = newFolder();
  const memory = openMemory(folder, rootKey, { compactBytes: 1_000_000 });
  const odd = Array.from({ length: numbers / 2 }, (_, index) => ({ boot, first: 2 * index + 1, last: 2 * index + 1 }));
  for (let at = 0; at < odd.length; at += 1_000) memory.rememberRelease(1_000, [], odd.slice(at, at + 1_000));
  memory.rememberRelease(1_000, [], [{ boot: other, first: 1, last: 100_000 }]);
  const count = memory.releasedCount;
  assert.equal(count, numbers / 2 + 1);
  memory.close();
  // The change of the root key is a compaction, too.
  const nextKey = new Uint8Array(32).fill(8);
  const again = openMemory(folder, nextKey, { retiring: rootKey });
  const { size } = statSync(join(folder, "memory"));
  t.diagnostic(
    `${numbers / 2} gaps: ${size} bytes in the file, ${((8 * size) / numbers).toFixed(2)} bits for each number`,
  );
  assert.ok(8 * size < 1.2 * numbers, `${size} bytes`);
  assert.equal(again.releasedCount, count);
  for (let number = 0; number <= numbers + 5_000; number++) {
    if (again.wasReleased(boot, number) !== (number < numbers && number % 2 === 1)) assert.fail(`number ${number}`);
  }
  assert.deepEqual([again.wasReleased(other, 100_000), again.wasReleased(other, 100_001)], [true, false]);
  assert.deepEqual(again.released(0, 2), odd.slice(0, 2));
  assert.deepEqual(again.released(numbers / 2 - 1), [odd.at(-1), { boot: other, first: 1, last: 100_000 }]);
  again.close();
});

test("what a log owes has as few bytes, and is given up number by number as it comes", () => {
  const folder = newFolder();
  const memory = openMemory(folder, rootKey, { compactBytes: 1_000 });
  const even = Array.from({ length: 3_000 }, (_, index) => ({ boot, first: 2 * index, last: 2 * index }));
  memory.rememberRelease(1_000, [], even);
  memory.openLog({ logId: boot, openedAtMs: 1_000, previous: undefined, takesAll: false });
  const came = { organizationId: other, boot, number: 2_000, ordinal: 1, entry: new Uint8Array(32) };
  memory.rememberAppended(1_000, [], [came]);
  for (let time = 0; time < 2_000; time++) memory.rememberAppended(2_000 + time, [], []);
  assert.ok(statSync(join(folder, "memory")).size < 10_000);
  const owed = even.filter(({ first }) => first !== 2_000);
  assert.deepEqual(memory.owed(), owed);
  assert.deepEqual(memory.owed(3), owed.slice(0, 3));
  memory.close();
  const again = openMemory(folder, rootKey);
  assert.deepEqual(again.owed(), owed);
  assert.deepEqual([again.owes(boot, 2_000), again.owes(boot, 2_001), again.owes(boot, 2_002)], [false, false, true]);
  assert.deepEqual(again.released(), even);
  again.close();
});

test("a memory of an earlier release, which wrote every gap as a range, is read as it is", () => {
  const ranges = Array.from({ length: 4_096 }, (_, index) => ({ boot, first: 3 * index, last: 3 * index + 1 }));
  const folder = newFolder();
  const memory = openMemory(folder, rootKey);
  memory.rememberRelease(1_000, [], ranges);
  memory.close();
  const again = openMemory(folder, rootKey);
  assert.deepEqual(again.released(), ranges);
  again.close();
});
