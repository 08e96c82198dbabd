/** Pages that people read in a terminal or a diff end their lines at 120 columns, and the guide for contributors names files that are there. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const patterns = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/*.md", "docs/guides/*.md"];
const maxColumns = 120;

/** Lines that are too long, by number. Tables and code blocks cannot be wrapped, nor can one long word such as a link. */
function longLines(text: string): number[] {
  let isCode = false;
  return text.split("\n").flatMap((line, index) => {
    const words = line.trim();
    if (words.startsWith("```")) isCode = !isCode;
    const isFree = isCode || words.startsWith("```") || words.startsWith("|") || isOneWord(words);
    return isFree || [...line].length <= maxColumns ? [] : [index + 1];
  });
}

/** With the mark of a list before it, perhaps. A span of code is one word: some viewers join what is broken in it. */
function isOneWord(line: string): boolean {
  const withoutMark = line.replace(/^([-*]|[0-9]+\.) /, "").replaceAll(/`[^`]*`/g, "code");
  return !withoutMark.includes(" ");
}

test("a line of prose that is too long is found; tables, code blocks and single long words are left alone", () => {
  const long = "word ".repeat(30).trim();
  const link = `[x](${"y".repeat(130)})`;
  const page = [
    "short",
    long,
    `| ${long} |`,
    "```",
    long,
    "```",
    link,
    `- ${link}`,
    `${link} and more`,
    "é".repeat(120),
  ];
  assert.deepEqual(longLines(page.join("\n")), [2, 9]);
});

test("no line of prose is longer than 120 columns", () => {
  const pages = patterns.flatMap((pattern) => globSync(pattern, { cwd: root }));
  assert.ok(pages.length >= 14, pages.join(", "));
  const found = pages.flatMap((page) =>
    longLines(readFileSync(join(root, page), "utf8")).map((line) => `${page}:${line}`),
  );
  assert.deepEqual(found, []);
});

test("CONTRIBUTING names files and folders that are there", () => {
  const text = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
  const named = [...text.matchAll(/`([a-z0-9]+\/[\w./-]+)`/g)].map(([, path = ""]) => path);
  // Capital letters and `name.ts` stand for what is still to come.
  const written = named.filter((path) => !/[A-Z]|\/name\.ts$/.test(path) || path.endsWith("SPEC.md"));
  assert.ok(written.length > 50, String(written.length));
  assert.deepEqual(
    written.filter((path) => !existsSync(join(root, path))),
    [],
  );
});
