/**
 * `npm run shape`: figures of how the product's code is cut into files and functions. `--base REF` shows that git ref's figures beside
 * them, `--json` prints all of it as data.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measure, type Shape } from "./shape/measure.ts";
import { report } from "./shape/report.ts";
import { readSources } from "./shape/sources.ts";

const root = join(import.meta.dirname, "..");

/** The ref's files are written to a folder of their own; neither the working copy nor git's own folder changes. */
function measureRef(ref: string): Shape {
  const folder = mkdtempSync(join(tmpdir(), "keystead-shape-"));
  try {
    const archive = execFileSync("git", ["-C", root, "archive", "--format=tar", ref], { maxBuffer: 2 ** 30 });
    execFileSync("tar", ["-x", "-C", folder], { input: archive });
    return measure(readSources(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { values } = parseArgs({ options: { base: { type: "string" }, json: { type: "boolean", default: false } } });
const before = values.base === undefined ? undefined : measureRef(values.base);
const after = measure(readSources(root));
console.log(values.json ? JSON.stringify({ before, after }, undefined, 2) : report(after, before));
