/**
 * Every file of third-party vectors is read by a test, or stands in the one list of those that are not, with the reason.
 * What a test leaves out of a file that it reads, it counts itself.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findVectors, type Vectors } from "../core/test/vectors.ts";
import { packages, root } from "./packages.ts";

/** A file, or a folder with all that is in it. Exact: one that a test begins to read fails the run. */
const excluded: { path: string; cases: number; reason: string }[] = [
  {
    path: "ethers/pbkdf.json",
    cases: 177,
    reason:
      "PBKDF2 over SHA-256, and scrypt: a passphrase is stretched by argon2id, a mnemonic by PBKDF2 over SHA-512, which Wycheproof's cases hold",
  },
  { path: "json/jcs/outhex", cases: 4, reason: "the same bytes as json/jcs/output, which are read, spelled in hex" },
  { path: "slip39", cases: 30, reason: "shares of a secret: the root key is sealed whole and never split" },
];

function isAt(path: string, fileOrFolder: string): boolean {
  return path === fileOrFolder || path.startsWith(`${fileOrFolder}/`);
}

/** The folder's own description, and the licences of what is in it. */
const noVectors = /^(?:MANIFEST\.tsv|README\.md)$|\/LICENSE\.[^/]+\.txt$/;

/** The sources that read vectors. */
function readers(): string[] {
  return packages
    .flatMap((name) => globSync(`${name}/**/*.ts`, { cwd: root, exclude: ["**/node_modules"] }))
    .map((path) => join(root, path))
    .filter((path) => path !== import.meta.filename)
    .map((path) => readFileSync(path, "utf8"))
    .filter((source) => source.includes("findVectors(t)"));
}

function groups(source: string, pattern: RegExp): string[] {
  return [...source.matchAll(pattern)].map(([, group = ""]) => group);
}

/**
 * Whether a source names a vector's path: in quotes; by a template whose gaps are filled by texts that it has in quotes;
 * or by asking for the names in a folder above.
 */
function namerOf(source: string): (path: string) => boolean {
  const quoted = new Set(groups(source, /"([^"\n]*)"/g));
  const templates = groups(source, /`([^`$\n]*\/[^`\n]*)`/g).map(
    (template) =>
      new RegExp(
        `^${template
          .split(/\$\{[^}]*\}/)
          .map(RegExp.escape)
          .join("(.+)")}$`,
      ),
  );
  const folders = groups(source, /\.names\("([^"]+)"\)/g);
  for (const constant of groups(source, /\.names\((\w+)\)/g)) {
    folders.push(...groups(source, new RegExp(`const ${constant} = "([^"]+)"`, "g")));
  }
  return (path) =>
    quoted.has(path) ||
    folders.some((folder) => isAt(path, folder)) ||
    templates.some((template) => template.exec(path)?.every((gap, i) => i === 0 || quoted.has(gap)));
}

/** A list of cases, Wycheproof's groups or W3C's ceremonies; all other files are one case each. */
function casesIn(vectors: Vectors, path: string): number {
  if (!path.endsWith(".json")) return 1;
  const value = vectors.json<unknown[] | { testGroups?: { tests: unknown[] }[]; vectors?: unknown[] }>(path);
  if (Array.isArray(value)) return value.length;
  return value.testGroups?.flatMap(({ tests }) => tests).length ?? value.vectors?.length ?? 1;
}

test("every file of the vectors is named by a test or excluded with its reason, and none is both", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const namers = readers().map(namerOf);
  const files = vectors.paths().filter((path) => !noVectors.test(path));
  const isExcluded = (path: string) => excluded.some((row) => isAt(path, row.path));
  const isNamed = (path: string) => namers.some((names) => names(path));
  const [left, kept] = [files.filter(isExcluded), files.filter((path) => !isExcluded(path))];
  assert.deepEqual(
    kept.filter((path) => !isNamed(path)),
    [],
    "no test names these: read them, or say above why not",
  );
  assert.deepEqual(left.filter(isNamed), [], "a test names these: they are excluded no longer");
  for (const { path, cases } of excluded) {
    const found = left.filter((file) => isAt(file, path));
    const count: number = found.reduce((sum, file) => sum + casesIn(vectors, file), 0);
    assert.deepEqual({ path, cases: count }, { path, cases });
  }
  assert.deepEqual([kept.length, left.length], [637, 6]);
});

test("the vectors are the ones that their manifest lists, byte for byte", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const lines = new TextDecoder().decode(vectors.bytes("MANIFEST.tsv")).trim().split("\n");
  const listed = lines.map((line) => line.split("\t"));
  const found = vectors.paths().filter((path) => path !== "MANIFEST.tsv" && path !== "README.md");
  assert.deepEqual(listed.map(([path]) => path).toSorted(), found);
  for (const [path = "", length, digest] of listed) {
    const bytes = vectors.bytes(path);
    assert.deepEqual([String(bytes.length), createHash("sha256").update(bytes).digest("hex")], [length, digest], path);
  }
  assert.equal(listed.length, 667);
});

test("a path is named in quotes, by a template and its parts, or by its folder, and by nothing less", () => {
  const names = namerOf(
    `f("a/b.json"); for (const x of ["c", "d/e"]) f(\`a/x-\${x}.json\`); const all = "g/h"; v.names(all); v.names("i");`,
  );
  for (const path of ["a/b.json", "a/x-c.json", "a/x-d/e.json", "g/h/1.json", "g/h/2/3.txt", "i/4"]) {
    assert.ok(names(path), path);
  }
  for (const path of ["b.json", "a/b", "a/x-f.json", "a/x-.json", "a/c.json", "g/i.json", "all/1", "d/e/1"]) {
    assert.ok(!names(path), path);
  }
});
