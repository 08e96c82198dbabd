import assert from "node:assert/strict";
import { test } from "node:test";
import { type AloneRow, aloneText, missedAlone } from "./alone.ts";

function row(perSecond: number, before?: number): AloneRow {
  return {
    ...{ database: "sqlite", name: "payloads flood", answers: { "200": 7 } },
    now: { perSecond, perCpuSecond: 2 * perSecond },
    ...(before !== undefined && { earlier: { commit: "abc1234", perSecond: before, perCpuSecond: before } }),
  };
}

test("who alone gets nine tenths of what an earlier version did misses nothing", () => {
  assert.deepEqual(missedAlone([row(1), row(0.9, 1), row(3, 1)]), []);
  assert.deepEqual(missedAlone([row(0.8, 1)]), ["sqlite: payloads flood alone gets 0.80 of what it got at abc1234"]);
});

test("the line says both and their ratio", () => {
  const own = 'sqlite: payloads flood alone: 1.00 per second, 2.00 per second of the signer\'s CPU ({"200":7})';
  assert.equal(aloneText(row(1)), own);
  assert.equal(
    aloneText(row(1, 2)),
    `${own}; at abc1234 2.00 per second, 2.00 per second of the signer's CPU: 0.50 times as much  (target 0.9)`,
  );
});
