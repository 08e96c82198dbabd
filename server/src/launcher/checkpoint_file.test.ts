import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { prepareCheckpointFile } from "./checkpoint_file.ts";
import { nodeArguments } from "./permissions.ts";
import { processes } from "./processes.ts";

function freshFolder(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "keystead-file-")));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("the file is made once, and what it has stays", (t) => {
  const folder = freshFolder(t);
  const path = join(folder, "checkpoints");
  assert.equal(prepareCheckpointFile(path, undefined, []), path);
  assert.equal(statSync(path).mode & 0o777 & ~0o644, 0);
  writeFileSync(path, "one\n");
  symlinkSync(folder, join(folder, "link"));
  assert.equal(prepareCheckpointFile(join(folder, "link", "checkpoints"), undefined, []), path);
  assert.equal(readFileSync(path, "utf8"), "one\n");
});

test("a file among code or data, a link, a folder, a pipe and a second name are refused", (t) => {
  const folder = freshFolder(t);
  const path = (name: string) => join(folder, name);
  const closed = path("data");
  mkdirSync(closed);
  assert.throws(() => prepareCheckpointFile(join(closed, "root.key"), undefined, [closed]), {
    exitCode: 2,
    message: `KEYSTEAD_CHECKPOINT_FILE must not lie in ${closed}: \`${join(closed, "root.key")}\``,
  });
  writeFileSync(path("target"), "");
  symlinkSync(path("target"), path("link"));
  linkSync(path("target"), path("second"));
  execFileSync("mkfifo", [path("pipe")]);
  for (const name of ["link", "data", "pipe", "none/file"]) {
    const refusal = { exitCode: 2, message: /^KEYSTEAD_CHECKPOINT_FILE cannot be opened: / };
    assert.throws(() => prepareCheckpointFile(path(name), undefined, []), refusal, name);
  }
  const own = { exitCode: 2, message: `KEYSTEAD_CHECKPOINT_FILE must be a file of its own: \`${path("second")}\`` };
  assert.throws(() => prepareCheckpointFile(path("second"), undefined, []), own);
});

test("the gateway's permissions let it append to this file, and to none beside it", (t) => {
  const folder = freshFolder(t);
  const [own, file, other] = ["own", "checkpoints", "other"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(own);
  writeFileSync(other, "");
  const entry = join(own, "entry.mjs");
  writeFileSync(
    entry,
    `import { appendFileSync } from "node:fs";
for (const path of process.argv.slice(2)) {
  try { appendFileSync(path, "x"); console.log("written"); } catch (error) { console.log(error.code); }
}`,
  );
  const paths = [prepareCheckpointFile(file, undefined, [])];
  const args = nodeArguments(processes.gateway, { entry, readable: [] }, own, paths);
  const said = execFileSync(process.execPath, [...args, file, other, `${file}.new`], { encoding: "utf8" });
  assert.deepEqual(said.trim().split("\n"), ["written", "ERR_ACCESS_DENIED", "ERR_ACCESS_DENIED"]);
  assert.deepEqual([readFileSync(file, "utf8"), readFileSync(other, "utf8")], ["x", ""]);
});
