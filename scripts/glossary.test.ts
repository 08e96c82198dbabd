import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");

const text = readFileSync(join(root, "docs/glossary.md"), "utf8");
const rows = [...text.matchAll(/^\| (?<term>[^|]+) \| [^|]+ \| `(?<path>[^`]+)` \|$/gm)];

test("the glossary has each term once, in the order of the alphabet", () => {
  assert.ok(rows.length > 50, `only ${rows.length} rows were found`);
  const terms = rows.map(({ groups }) => groups?.term ?? "");
  const inOrder = [...new Set(terms)].toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  assert.deepEqual(terms, inOrder);
});

test("every path in the glossary exists", () => {
  const gone = rows
    .map(({ groups }) => groups?.path ?? "")
    .filter((path) => !existsSync(join(root, folderOf(path), path)));
  assert.deepEqual(gone, []);
});

function folderOf(path: string): string {
  return path.startsWith("core/") ? "" : "server/src";
}
