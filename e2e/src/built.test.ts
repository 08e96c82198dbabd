/** The server without its types: whole, of the sources as they are, and never of those of yesterday. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { freshDataFolder } from "./data_folder.ts";
import { repository } from "./keystead_server.ts";

function build(root: string): void {
  const program = join(root, "server/build.mjs");
  execFileSync(process.execPath, ["--disable-warning=ExperimentalWarning", program], { stdio: "inherit" });
}

test("every module of the server is built, and finds the others", () => {
  build(repository);
  let checked = 0;
  for (const name of ["core", "server"]) {
    const sources = globSync("**/*.ts", { cwd: join(repository, name, "src") });
    for (const path of sources.filter((path) => !/\.test(_entry)?\.ts$/.test(path))) {
      const built = join(repository, name, "build", path.replace(/ts$/, "js"));
      const text = readFileSync(built, "utf8");
      assert.doesNotMatch(text, /^(import|export) .*\.ts"/m, built);
      for (const [, specifier = ""] of text.matchAll(/^(?:import|export|\}) .*?from "(\.[^"]+)";/gm)) {
        assert.ok(existsSync(join(dirname(built), specifier)), `${built} imports ${specifier}`);
        checked += 1;
      }
    }
  }
  assert.ok(checked > 500, `only ${checked} imports were looked at`);
});

test("what changed is built anew, whatever its time says, and what is gone is gone", (t) => {
  const root = freshDataFolder(t);
  const source = (name: string) => join(root, "server/src", name);
  const ask = () => {
    const program = "import('./server/built.mjs').then((built) => console.log(built.isBuilt()))";
    return execFileSync(process.execPath, ["-e", program], { cwd: root, encoding: "utf8" }).trim();
  };
  mkdirSync(join(root, "core/src"), { recursive: true });
  mkdirSync(join(root, "server/src"), { recursive: true });
  for (const name of ["built.mjs", "build.mjs"]) cpSync(join(repository, "server", name), join(root, "server", name));
  // What the build itself is made of.
  const buildStep = "core/src/attestation/built_source.ts";
  cpSync(join(repository, buildStep), join(root, buildStep));
  writeFileSync(join(root, "core/src/a.ts"), "export const a: number = 1;\n");
  writeFileSync(source("b.ts"), 'import { a } from "@keystead/core/a.ts";\nimport type { C } from "./c.ts";\n');
  writeFileSync(source("c.ts"), "export type C = string;\n");
  writeFileSync(source("c.test.ts"), "throw new Error();\n");
  assert.equal(ask(), "false");
  build(root);
  assert.equal(ask(), "true");
  const built = (name: string) => join(root, "server/build", name);
  assert.match(readFileSync(built("b.js"), "utf8"), /^import \{ a \} from "@keystead\/core\/a.js";\n\s*\n$/);
  assert.equal(existsSync(built("c.test.js")), false);

  writeFileSync(source("b.ts"), "export const b: string = 'other';\n");
  utimesSync(source("b.ts"), 1, 1);
  assert.equal(ask(), "false");
  build(root);
  assert.match(readFileSync(built("b.js"), "utf8"), /^export const b {9}= 'other';\n$/);
  rmSync(source("c.ts"));
  assert.equal(ask(), "false");
  build(root);
  assert.equal(existsSync(built("c.js")), false);
  assert.equal(ask(), "true");
});
