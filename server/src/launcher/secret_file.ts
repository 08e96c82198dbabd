import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { codeOf } from "./data_folder.ts";
import { Refusal } from "./refusal.ts";

/** Reads a secret into a buffer of its own (never from Buffer's shared pool, where a copy would stay behind). */
export function readSecretFile(path: string, what: string, least: number, most: number): Uint8Array {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (cause) {
    throw new Refusal(`cannot open the ${what} file ${path} (${codeOf(cause)})`);
  }
  try {
    const { mode, size } = fstatSync(file);
    if ((mode & 0o077) !== 0) {
      throw new Refusal(`other users may read or write the ${what} file ${path}: run chmod 600 on it`);
    }
    if (size < least || size > most) {
      throw new Refusal(
        `the ${what} file ${path} has ${size} bytes, not ${least === most ? least : `${least} to ${most}`}`,
      );
    }
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size; ) {
      const count = readSync(file, bytes, at, size - at, at);
      if (count === 0) throw new Refusal(`the ${what} file ${path} changed while it was read`);
      at += count;
    }
    return bytes;
  } finally {
    closeSync(file);
  }
}
