import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../packages.ts";
import { toPage } from "./page.ts";
import { type Figures, readFigures } from "./record.ts";

test("docs/figures.md is the page of docs/figures.json", () => {
  assert.equal(readFileSync(join(root, "docs/figures.md"), "utf8"), toPage(readFigures()));
});

test("a suite's row tells its first words and not its seed, cut to the width of a page, and failures stand out", () => {
  const figures: Figures = {
    machine: { node: "v26.0.0", cores: 2, architecture: "x64" },
    suites: {
      "a.test.ts": { commit: "abc1234", passed: 3, failed: 0, said: ["KEYSTEAD_SEED=7", "seed 7: 100 cuts, 0 lost"] },
      "b.test.ts": { commit: "abc1234", passed: 1, failed: 2, said: ["x".repeat(500)] },
    },
    benches: {
      "bench --scale": {
        commit: "abc1234",
        lines: ["database  endpoint", "sqlite    whoami 9", "sqlite    whoami 2  (target 2.5)", "MISSED: nothing"],
      },
    },
  };
  const lines = toPage(figures).split("\n");
  assert.ok(lines.includes("| `a.test.ts` | abc1234 | 3 | 100 cuts, 0 lost |"));
  const failing = lines.find((line) => line.includes("b.test.ts")) ?? "";
  assert.match(failing, /\| 1, \*\*2 failed\*\* \| x+ … \|$/);
  assert.ok(failing.length <= 120, failing);
  const block = lines.slice(lines.indexOf("```") + 1, lines.lastIndexOf("```"));
  assert.deepEqual(block, ["database  endpoint", "sqlite    whoami 2  (target 2.5)", "MISSED: nothing"]);
  assert.ok(lines.includes("### `npm run bench -- --scale`"));
});
