import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createDataFolder, explainDisk } from "./data_folder.ts";
import { Refusal } from "./refusal.ts";

test("what a disk refuses is told in words, with the place and what to do; any other error stays what it is", () => {
  const refused = (code: string) => Object.assign(new Error(`${code}: open '/data/lock'`), { code });
  const lines: Record<string, string> = {
    ENOSPC: "its disk is full; make room and start again",
    EROFS: "its file system is read-only; make it writable and start again",
    EIO: "its disk fails; look into the system's log",
  };
  for (const [code, advice] of Object.entries(lines)) {
    const told = explainDisk(refused(code), "/data");
    assert.ok(told instanceof Refusal);
    assert.equal(told.message, `the data folder /data cannot be written: ${advice} (${code}: open '/data/lock')`);
  }
  for (const other of [refused("ENOENT"), new TypeError("no"), new Refusal("no")])
    assert.equal(explainDisk(other, "/data"), other);
});

test("a data folder that cannot be made is refused for what stands in the way; those above it are made, too", (t) => {
  const top = mkdtempSync(join(tmpdir(), "keystead-data-"));
  t.after(() => rmSync(top, { recursive: true }));
  createDataFolder(join(top, "a", "b", "c"));
  createDataFolder(join(top, "a", "b", "c"));
  writeFileSync(join(top, "file"), "");
  assert.throws(() => createDataFolder(join(top, "file", "data")), {
    message: `cannot create the data folder ${join(top, "file", "data")}: ENOTDIR: not a directory, mkdir '${join(top, "file", "data")}'`,
  });
});

test("a data folder of another user is refused by name of its owner, not as an empty one", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "keystead-data-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const owner = statSync(folder).uid;
  chmodSync(folder, owner === 0 ? 0o711 : 0o311);
  // Root may read everything: it becomes somebody else for as long as it looks.
  const asOther = (work: () => void) => {
    if (owner !== 0) return work();
    process.seteuid?.(60_899);
    try {
      work();
    } finally {
      process.seteuid?.(0);
    }
  };
  asOther(() =>
    assert.throws(() => createDataFolder(folder), {
      message: `the data folder ${folder} is user ${owner}'s, and this user cannot read it: start as that user`,
    }),
  );
});
