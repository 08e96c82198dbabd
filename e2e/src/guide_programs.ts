/** The programs that guides print, as readers save and run them. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Bootstrap, repository } from "./keystead_server.ts";

/** The programs of a page, as printed. */
export function programs(page: string): string[] {
  const text = readFileSync(join(repository, page), "utf8");
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1] ?? "");
}

/**
 * A folder with these files and the `data/bootstrap.json` that programs read. It lies below the repository, where packages are found, and
 * in a folder that git and the linter pass over.
 */
export function saveFiles(t: TestContext, files: Record<string, string>, bootstrap: Bootstrap): string {
  mkdirSync(join(repository, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(repository, ".cache", "readme-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, "data"));
  writeFileSync(join(folder, "data/bootstrap.json"), JSON.stringify(bootstrap), { mode: 0o600 });
  return folder;
}
