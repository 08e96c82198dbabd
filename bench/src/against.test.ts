import assert from "node:assert/strict";
import { test } from "node:test";
import { type AgainstRow, againstText, missedAgainst } from "./against.ts";
import type { PhaseResult } from "./measure.ts";

const phase = (gatewayUs: number): PhaseResult => ({
  ...{ database: "sqlite", endpoint: "whoami", connections: 16, requestsPerSecond: 1, p50Ms: 1, p99Ms: 1 },
  ...{ gatewayUs, signerUs: 100, databaseUs: 10, busyShare: 1 },
});

const row = (ratio: number): AgainstRow => ({ commit: "abc1234", now: phase(200), before: phase(100), ratio });

test("what costs a twentieth more than it did misses nothing, and more is told", () => {
  assert.deepEqual(missedAgainst([row(1), row(1.05), row(0.5)]), []);
  assert.deepEqual(missedAgainst([row(1.06)]), ["sqlite: whoami costs 1.06 times what it cost at abc1234"]);
  assert.equal(missedAgainst([row(Number.NaN)]).length, 1);
});

test("the line says what both cost our own processes, and the ratio", () => {
  assert.equal(
    againstText(row(1.5)),
    "sqlite    whoami              300 µs, at abc1234   200 µs: 1.50   (target 1.05)",
  );
});
