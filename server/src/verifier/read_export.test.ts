import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readExport } from "./read_export.ts";
import { reportLines } from "./report_lines.ts";

function freshFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "keystead-export-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "log"));
  writeFileSync(join(folder, "log/entries"), "entries");
  writeFileSync(join(folder, "logs"), "");
  return folder;
}

test("an export is every file below its folder, hidden ones included", (t) => {
  const folder = freshFolder(t);
  writeFileSync(join(folder, ".hidden"), "x");
  const read = Array.from(readExport(folder), ([path, bytes]) => [path, Buffer.from(bytes).toString()]);
  assert.deepEqual(read, [
    [".hidden", "x"],
    ["log/entries", "entries"],
    ["logs", ""],
  ]);
});

test("links and empty folders are no part of an export", (t) => {
  const linked = freshFolder(t);
  symlinkSync(join(linked, "logs"), join(linked, "log/link"));
  assert.throws(() => readExport(linked), { code: "invalid_argument", message: "log/link belongs to no export" });
  const empty = freshFolder(t);
  mkdirSync(join(empty, "none"));
  assert.throws(() => readExport(empty), { code: "invalid_argument", message: "none belongs to no export" });
});

test("a report shows twenty findings of a kind, and no character of a file's name reaches the terminal as a command", () => {
  const findings = Array.from({ length: 25 }, (_, i) => ({
    kind: "unchecked" as const,
    place: { file: `a\u001b[2J${i}` },
    what: "undisclosed: outcome",
  }));
  const counts = { logs: 1, organizations: 2, leaves: 1, stamps: 0 };
  const subject = { key: { publicKey: new Uint8Array(2), deploymentId: undefined }, organizationIds: ["o-1", "o-2"] };
  const lines = reportLines({ verdict: "unchecked", findings, firstBadLeaf: undefined, counts }, subject);
  assert.equal(lines.length, 25);
  assert.equal(lines[0], "unchecked: a\ufffd[2J0: undisclosed: outcome");
  assert.deepEqual(lines.slice(-5), [
    "unchecked: 5 more like these",
    "log key 0000",
    "organization o-1",
    "organization o-2",
    "unchecked: 1 log, 2 organizations, 1 leaf, 0 stamps verified",
  ]);
});

test("a report names the key and every organization that it is about, however many there are", () => {
  const organizationIds = Array.from({ length: 30 }, (_, i) => `o-${i}`);
  const key = { publicKey: Uint8Array.of(255), deploymentId: "d-1" };
  const counts = { logs: 1, organizations: 30, leaves: 60, stamps: 30 };
  const good = { verdict: "good", findings: [], firstBadLeaf: undefined, counts } as const;
  assert.deepEqual(reportLines(good, { key, organizationIds }), [
    "log key ff of deployment d-1",
    ...organizationIds.map((id) => `organization ${id}`),
    "good: 1 log, 30 organizations, 60 leaves, 30 stamps verified",
  ]);
});
