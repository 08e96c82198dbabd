import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const entry = fileURLToPath(new URL("channel_fault.test_entry.ts", import.meta.url));
const run = (what: string) => spawnSync(process.execPath, [entry, what], { encoding: "utf8" });

test("a fault that a child causes inside Node's channel is healed", () => {
  const { status, stdout, stderr } = run("channel");
  assert.deepEqual([status, stdout, stderr], [0, "healed ERR_INTERNAL_ASSERTION\n", ""]);
});

for (const what of ["message handler", "timer", "rejection", "no error"]) {
  test(`an error of our own still ends the process with its text: ${what}`, () => {
    const { status, stdout, stderr } = run(what);
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(stderr, /our own fault/);
  });
}
