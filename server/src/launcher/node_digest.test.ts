import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createNodeDigest } from "./node_digest.ts";

function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "keystead-node-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [node, kept] = [join(folder, "node"), join(folder, "node_digest.json")];
  const said: string[] = [];
  const start = () => createNodeDigest({ say: (line) => said.push(line), node, kept });
  return { node, kept, said, start };
}

const digestOf = (text: string) => createHash("sha256").update(text).digest();

test("the digest is that of the whole file, and each caller gets a copy of its own", async (t) => {
  const { node, start } = setUp(t);
  const text = "node".repeat(1_000_000);
  writeFileSync(node, text);
  const digest = start();
  const first = await digest();
  assert.deepEqual(Buffer.from(first), digestOf(text));
  first.fill(0);
  assert.deepEqual(Buffer.from(await digest()), digestOf(text));
});

test("it is kept for as long as the file is the same, and made anew for any other", async (t) => {
  const { node, kept, start } = setUp(t);
  writeFileSync(node, "one");
  await start()();
  const { identity } = JSON.parse(readFileSync(kept, "utf8"));
  const marked = "ab".repeat(32);
  writeFileSync(kept, JSON.stringify({ identity, digest: marked }));
  assert.equal(Buffer.from(await start()()).toString("hex"), marked, "it was not read again");
  writeFileSync(node, "two");
  assert.deepEqual(Buffer.from(await start()()), digestOf("two"));
  for (const noise of ["", "{}", JSON.stringify({ identity, digest: "text" })]) {
    writeFileSync(kept, noise);
    assert.deepEqual(Buffer.from(await start()()), digestOf("two"), noise);
  }
});

test("a Node that cannot be read is said, gives nothing, and stops nobody", async (t) => {
  const { node, said, start } = setUp(t);
  assert.equal((await start()()).length, 0);
  assert.equal(said.length, 1);
  assert.match(said[0] ?? "", new RegExp(`^${node} cannot be read, so boot proofs do not name it: `));
});
