import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

/** A repository in which npm has installed the Node of this platform, and has not linked it. */
function installedBy(t: TestContext, ...packages: string[]): { link: string; run(): string } {
  const root = mkdtempSync(join(tmpdir(), "keystead-link-node-"));
  t.after(() => rmSync(root, { recursive: true }));
  const optionalDependencies = { "node-other": "26.10.0", "node-this": "26.10.0" };
  writeFileSync(join(root, "package.json"), JSON.stringify({ optionalDependencies }));
  cpSync(join(import.meta.dirname, "link_node.mjs"), join(root, "scripts/link_node.mjs"));
  mkdirSync(join(root, "node_modules/.bin"), { recursive: true });
  for (const name of packages) {
    mkdirSync(join(root, "node_modules", name, "bin"), { recursive: true });
    writeFileSync(join(root, "node_modules", name, "bin/node"), "");
  }
  return {
    link: join(root, "node_modules/.bin/node"),
    run() {
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "scripts/link_node.mjs")]);
      assert.equal(status, 0, String(stderr));
      return `${stdout}${stderr}`;
    },
  };
}

const options = { skip: process.platform === "win32" && "npm makes the links of Windows" };

test("the installed Node is linked when npm has not done so, or has left a link to nowhere", options, (t) => {
  const { link, run } = installedBy(t, "node-this");
  assert.equal(run(), "");
  assert.equal(readlinkSync(link), "../node-this/bin/node");
  rmSync(link);
  symlinkSync("../node-gone/bin/node", link);
  assert.equal(run(), "");
  assert.equal(readlinkSync(link), "../node-this/bin/node");
});

test("a link that npm made stays, and a host with the right Node needs none", options, (t) => {
  const { link, run } = installedBy(t, "node-this");
  symlinkSync("../node-this/bin/../bin/node", link);
  assert.equal(run(), "");
  assert.equal(readlinkSync(link), "../node-this/bin/../bin/node");
  const without = installedBy(t);
  assert.equal(without.run(), "");
  assert.throws(() => readlinkSync(without.link), { code: "ENOENT" });
});
