import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Step, steps } from "./steps.ts";

const root = join(import.meta.dirname, "..");
const shipped = globSync("**/*.ts", { cwd: root })
  .filter((file) => !/\.test(_entry)?\.ts$/.test(file) && file !== "state/steps.ts")
  .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));

test("nothing that ships listens to the steps", () => {
  assert.ok(shipped.length > 100, `only ${shipped.length} files were found`);
  assert.deepEqual(
    shipped.filter(({ text }) => text.includes("observeSteps")).map(({ file }) => file),
    [],
  );
});

test("every step is passed where the table says", () => {
  const passes = shipped.flatMap(({ file, text }) =>
    [...text.matchAll(/\bpassed\("(?<step>\w+)"\)/g)].map(({ groups }) => ({ file, step: groups?.step as Step })),
  );
  for (const { name, in: process } of steps) {
    const rooms = passes.filter(({ step }) => step === name).map(({ file }) => file.split("/", 1)[0]);
    assert.ok(rooms.length > 0, `nothing passes ${name}`);
    for (const room of rooms) assert.equal(room === "signer" ? "signer" : "gateway", process, `${name} in ${room}`);
  }
});
