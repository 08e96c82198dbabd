import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openFault } from "./open_fault.ts";
import { openStore } from "./store.ts";

test("a file that is no database is named, with what to do", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "keystead-store-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, "keystead.db"),
    "something else entirely, and longer than the header of a database file".repeat(20),
  );
  await assert.rejects(openStore({ kind: "sqlite", folder }), {
    code: "failed_precondition",
    message:
      `the database in \`${folder}\` cannot be opened (file is not a database): ` +
      "the file is damaged, or not one of Keystead's; restore the newest backup",
  });
});

test("a disk that is full, read-only or failing is named; a mistake of ours stays what it is", () => {
  const sqlite = (errcode: number) => Object.assign(new Error("disk I/O error"), { errcode });
  const system = (code: string) => Object.assign(new Error(`${code}: open`), { code });
  const words: [unknown, RegExp][] = [
    [sqlite(13), /in `\/data\/database` cannot be opened \(disk I\/O error\): make room on its disk/],
    [sqlite(778), /see whether its disk is full, read-only or failing/],
    [sqlite(1544), /make its file system writable/],
    [system("ENOSPC"), /make room on its disk/],
    [system("EROFS"), /make its file system writable/],
  ];
  for (const [error, expected] of words) assert.match(String(openFault(error, "/data/database")), expected);
  for (const error of [sqlite(1), system("ENOENT"), new TypeError("no")])
    assert.equal(openFault(error, "/data"), error);
});
