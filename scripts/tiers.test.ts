import assert from "node:assert/strict";
import { test } from "node:test";
import { findTestFiles } from "./packages.ts";
import { filesOf, isIn, longSuites, tierOf } from "./tiers.ts";

test("every entry in the list of long suites names a test file or a folder of them, once", () => {
  const files = findTestFiles();
  const absent = longSuites.filter((entry) => !files.some((file) => isIn(file, entry)));
  assert.deepEqual(absent, [], "moved or deleted: correct longSuites in scripts/tiers.ts");
  const covered = longSuites.filter((entry) => longSuites.some((other) => other !== entry && isIn(entry, other)));
  assert.deepEqual(covered, [], "their folders are listed already");
  assert.equal(new Set(longSuites).size, longSuites.length);
});

test("every test file belongs to exactly one tier, and an unlisted one to the quick tier", () => {
  const [quick, long] = [filesOf("quick"), filesOf("long")];
  assert.deepEqual([...quick, ...long].sort(), findTestFiles());
  assert.ok(quick.length > 200 && long.length > 40, `${quick.length} quick, ${long.length} long`);
  assert.equal(tierOf("core/src/encoding/new.test.ts"), "quick");
  assert.equal(tierOf("e2e/src/listen.test.tsx"), "quick");
});
