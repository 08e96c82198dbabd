import assert from "node:assert/strict";
import { test } from "node:test";
import { type AloneRow, aloneText, missedAlone } from "./alone.ts";

function row(perSecond: number, before: number): AloneRow {
  const getting = (count: number) => ({ perSecond: count, perCpuSecond: 2 * count, answers: { "200": 7 } });
  return {
    ...{ database: "sqlite", name: "payloads flood", commit: "abc1234" },
    ...{ now: getting(perSecond), before: getting(before) },
  };
}

test("who alone gets nine tenths of what an earlier version did misses nothing", () => {
  assert.deepEqual(missedAlone([row(1, 1), row(0.9, 1), row(3, 1)]), []);
  assert.deepEqual(missedAlone([row(0.8, 1)]), ["sqlite: payloads flood alone gets 0.80 of what it got at abc1234"]);
});

test("an earlier version that did nothing is no comparison", () => {
  assert.deepEqual(missedAlone([row(1, 0)]), [
    "sqlite: payloads flood alone cannot be compared: it got nothing at abc1234",
  ]);
});

test("the line says both and their ratio", () => {
  assert.equal(
    aloneText(row(1, 2)),
    'sqlite: payloads flood alone: 1.00 per second, 2.00 per second of the signer\'s CPU ({"200":7}); ' +
      'at abc1234 2.00 per second, 4.00 per second of the signer\'s CPU ({"200":7}): 0.50 times as much  (target 0.9)',
  );
});
