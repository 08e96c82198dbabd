/** The files of an export, as they lie in a folder. */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { Fault } from "@keystead/core/fault.ts";

/** Every file below the folder. A link could point anywhere, and an export has none; an empty folder is nothing of it either. */
export function readExport(folder: string): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const visit = (path: string): void => {
    const names = readdirSync(path);
    if (names.length === 0) throw notPart(folder, path);
    for (const name of names.sort()) {
      const inside = join(path, name);
      const kind = lstatSync(inside);
      if (kind.isDirectory()) visit(inside);
      else if (kind.isFile()) files.set(nameOf(folder, inside), new Uint8Array(readFileSync(inside)));
      else throw notPart(folder, inside);
    }
  };
  visit(folder);
  return files;
}

function nameOf(folder: string, path: string): string {
  return relative(folder, path).split(sep).join("/");
}

function notPart(folder: string, path: string): Fault {
  return new Fault("invalid_argument", `${nameOf(folder, path) || folder} belongs to no export`);
}
