import assert from "node:assert/strict";
import { test } from "node:test";
import { benchNames } from "./bench_names.ts";
import { type Figures, readFigures, withAdded } from "./record.ts";

const measured = { commit: "abc1234", lines: ["MISSED: nothing"] };
const suite = { commit: "abc1234", passed: 1, failed: 0, said: [] };

test("figures of suites and benches that are gone go, and the others stay beside what is added", () => {
  const before: Figures = {
    machine: { node: "v26.0.0", cores: 2, architecture: "x64" },
    suites: { "gone.test.ts": suite, "scripts/figures/record.test.ts": suite },
    benches: { "bench --attack": measured, "bench --log": measured },
  };
  const { machine, suites, benches } = withAdded(before, { benches: { bench: measured } });
  assert.deepEqual(machine, before.machine);
  assert.deepEqual(Object.keys(suites), ["scripts/figures/record.test.ts"]);
  assert.deepEqual(Object.keys(benches), ["bench", "bench --log"]);
});

test("every bench that is written down can be measured anew", () => {
  assert.deepEqual(
    Object.keys(readFigures().benches).filter((name) => !benchNames.includes(name)),
    [],
  );
});
