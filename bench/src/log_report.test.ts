import assert from "node:assert/strict";
import { test } from "node:test";
import { type LogReport, logFigures, logText } from "./log_report.ts";
import type { PhaseResult } from "./measure.ts";
import { missedAmong } from "./report.ts";

const phase = (gatewayUs: number, p99Ms: number): PhaseResult => ({
  ...{ database: "sqlite", endpoint: "sign_raw_payload", connections: 16, requestsPerSecond: 1, p50Ms: 1, p99Ms },
  ...{ gatewayUs, signerUs: 100, databaseUs: 10, busyShare: 1 },
});

const report: LogReport = {
  commit: "abc1234",
  proof: { leaves: 1_000_000, hashes: 20, proofUs: 30, stampUs: 60, ratio: 0.5 },
  databases: [
    {
      ...{ database: "sqlite", without: phase(90, 10), with: phase(100, 13), cpuRatio: 1.05, p99Ratio: 1.3 },
      ...{ startMs: { without: 1_000, with: 1_050 }, startRatio: 1.05 },
    },
  ],
};

test("each figure of the log has its target, and only those above it are missed", () => {
  assert.equal(logFigures(report).length, 5);
  assert.deepEqual(missedAmong(logFigures(report)), [
    "sqlite: p99 ratio of a signature with the log is 1.30, the target is 1.2",
  ]);
});

test("the text names the version it is held against, and each target at the end of its line", () => {
  const text = logText(report);
  assert.match(text, /\(abc1234\)/);
  assert.equal(text.split("\n").filter((line) => /\(target \S+\)$/.test(line)).length, 5);
});
