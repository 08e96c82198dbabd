import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { limitNames } from "./limit_names.ts";

test("every limit that can be set is in the operator's guide", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../../docs/guides/operating.md"), "utf8");
  for (const name of limitNames) assert.ok(guide.includes(`\`${name}\``), name);
});
