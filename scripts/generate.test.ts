import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { generateFiles } from "./generate/files.ts";
import { findStaleFiles } from "./generate.ts";

const root = join(import.meta.dirname, "..");

test("the generated files are what the declarations say; if not, run `npm run generate`", async () => {
  assert.deepEqual(await findStaleFiles(await generateFiles(root)), []);
});

test("generating twice gives the same text", async () => {
  assert.deepEqual(await generateFiles(root), await generateFiles(root));
});

test("a changed, a missing and a left-over file are named as stale", async () => {
  const files = await generateFiles(root);
  files.set("docs/endpoints.md", `${files.get("docs/endpoints.md")}\n`);
  files.set("sdk/src/generated/new.ts", "");
  files.delete("server/src/generated/queries.ts");
  assert.deepEqual(await findStaleFiles(files), [
    "docs/endpoints.md",
    "sdk/src/generated/new.ts",
    "server/src/generated/queries.ts",
  ]);
});
