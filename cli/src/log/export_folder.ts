/** Writes an export as a folder. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf } from "../profile.ts";

/** An export has no other files, so the folder must be new or empty. */
export function refuseFull(folder: string): void {
  if (entriesIn(folder).length > 0) throw new Error(`${folder} is not empty: an export has a folder of its own`);
}

function entriesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** For whoever exports it alone: it has bodies and results of requests. */
export function writeExport(folder: string, files: ReadonlyMap<string, Uint8Array>): void {
  for (const [path, content] of files) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, content, { flag: "wx", mode: 0o600 });
  }
}
