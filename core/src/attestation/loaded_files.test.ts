import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeLine, readLoadedFiles, writeLoadedFiles } from "./loaded_files.ts";

const digest = "0f".repeat(32);
const files = [
  { path: "server/src/b.ts", digest },
  { path: "core/src/a file.ts", digest },
  nodeLine("v26.10.0", "linux-x64", digest),
];

test("a list is sorted by path whatever the order of loading, and read back", () => {
  const bytes = writeLoadedFiles(files);
  assert.equal(
    new TextDecoder().decode(bytes),
    `${digest}  core/src/a file.ts\n${digest}  node:v26.10.0-linux-x64\n${digest}  server/src/b.ts\n`,
  );
  assert.deepEqual(writeLoadedFiles(files.toReversed()), bytes);
  assert.deepEqual(writeLoadedFiles(readLoadedFiles(bytes)), bytes);
});

test("lists in another order, with a path twice, or with other lines are refused", () => {
  const line = (path: string) => `${digest}  ${path}\n`;
  for (const [text, why] of [
    [line("b") + line("a"), "not sorted, or a path twice"],
    [line("a") + line("a"), "not sorted, or a path twice"],
    [line("a").slice(0, -1), "no line end at the end"],
    [line("a").toUpperCase(), "a line that is no digest and path"],
    [`${digest} a\n`, "a line that is no digest and path"],
    [`${line("a")}\n`, "a line that is no digest and path"],
  ] as const) {
    assert.throws(() => readLoadedFiles(new TextEncoder().encode(text)), {
      code: "invalid_argument",
      message: `malformed list of files: ${why}`,
    });
  }
});
