import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { slowestFiles } from "./suites.ts";

const folder = mkdtempSync(join(tmpdir(), "keystead-suites-"));
after(() => rmSync(folder, { recursive: true }));

/** Runs the given test files in a process of their own, and returns what was printed and the outcome. */
function runFiles(files: Record<string, string>) {
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), `import { describe, test } from "node:test";\n${text}`);
  }
  writeFileSync(
    join(folder, "program.mjs"),
    `import { runSuites } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, "suites.ts")).href)};
     await runSuites({ files: ${JSON.stringify(Object.keys(files))}, cwd: ${JSON.stringify(folder)} }, (outcome) => [
       ...outcome.skipped, "OUTCOME " + JSON.stringify(outcome),
     ]);`,
  );
  const env: NodeJS.ProcessEnv = { ...process.env, FORCE_COLOR: "0" };
  // Else the inner runner takes itself for a part of this one.
  delete env.NODE_TEST_CONTEXT;
  const output = execFileSync(process.execPath, [join(folder, "program.mjs")], { cwd: folder, env, encoding: "utf8" });
  const lines = output.trimEnd().split("\n");
  const outcome = lines.find((line) => line.includes("OUTCOME")) ?? "";
  return { lines, outcome: JSON.parse(outcome.slice(outcome.indexOf("{"))) };
}

test("skipped tests are listed with their reasons above the summary, which is last", () => {
  const { lines, outcome } = runFiles({
    "a.test.mjs": `
      test("runs", () => {});
      test("is skipped", { skip: "no browser" }, () => {});
      test("skips itself", (t) => t.skip("no chain"));
      describe.skip("a suite", () => { test("inside", () => {}); });`,
  });
  const { success, tests, skipped } = outcome;
  assert.deepEqual(
    { success, tests, skipped },
    {
      success: true,
      tests: 3,
      skipped: [
        "a.test.mjs: is skipped: no browser",
        "a.test.mjs: skips itself: no chain",
        "a.test.mjs: a suite: no reason given",
      ],
    },
  );
  assert.match(lines.at(-1) ?? "", /^ℹ duration_ms [0-9.]+$/);
  assert.match(lines.at(-8) ?? "", /^ℹ tests 3$/);
  assert.match(lines.at(-9) ?? "", /^ℹ OUTCOME/);
});

test("a failing test and a suite that dies before its first test are both failures, and the summary is still last", () => {
  const failing = runFiles({ "b.test.mjs": `test("fails", () => { throw new Error("the reason"); });` });
  assert.equal(failing.outcome.success, false);
  assert.ok(failing.lines.some((line) => line.includes("the reason")));
  assert.match(failing.lines.at(-1) ?? "", /^ℹ duration_ms/);
  const dying = runFiles({ "c.test.mjs": `describe("dies", () => { throw new Error("early"); });` });
  assert.deepEqual([dying.outcome.success, dying.outcome.tests], [false, 0]);
});

test("the slowest files are named with their times, and files that only lent their tests are not", () => {
  const suite = (durationMs: number) => ({ passed: [], failed: [], skipped: [], said: [], durationMs });
  const files = new Map([
    ["a", suite(900)],
    ["b", suite(12_340)],
    ["shared", suite(0)],
    ["c", suite(1_200)],
  ]);
  const outcome = { success: true, tests: 3, skipped: [], files };
  assert.deepEqual(slowestFiles(outcome, 2), ["slow:   12.3 s  b", "slow:    1.2 s  c"]);
  assert.deepEqual(slowestFiles(outcome, 20).at(-1), "slow:    0.9 s  a");
});
