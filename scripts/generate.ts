/** `npm run generate` writes what follows from the endpoint declarations; `--check` only says which files are stale. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { generatedFolders, generateFiles } from "./generate/files.ts";

const root = join(import.meta.dirname, "..");

/** Paths of generated files that differ from what the declarations say, or that nothing generates any more. */
export async function findStaleFiles(files: ReadonlyMap<string, string>): Promise<string[]> {
  const stale: string[] = [];
  for (const [path, text] of files) {
    const found = await readFile(join(root, path), "utf8").catch(() => undefined);
    if (found !== text) stale.push(path);
  }
  for (const folder of generatedFolders) {
    for (const name of await readdir(join(root, folder)).catch(() => [])) {
      if (!files.has(`${folder}/${name}`)) stale.push(`${folder}/${name}`);
    }
  }
  return stale.sort();
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
  const files = await generateFiles(root);
  const stale = await findStaleFiles(files);
  if (values.check) {
    for (const path of stale) console.error(`stale: ${path}`);
    if (stale.length > 0) console.error("run `npm run generate` and commit what it writes");
    process.exitCode = stale.length > 0 ? 1 : 0;
    return;
  }
  for (const path of stale) {
    const text = files.get(path);
    if (text === undefined) await rm(join(root, path));
    else {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    console.log(`${text === undefined ? "removed" : "wrote"} ${path}`);
  }
  if (stale.length === 0) console.log("generated files are up to date");
}

if (import.meta.main) await main();
