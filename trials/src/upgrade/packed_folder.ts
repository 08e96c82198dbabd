/** A folder in one compressed file: a line of JSON that names every file with its length, then their bytes in that order. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

type Listing<T> = { about: T; files: { path: string; length: number }[] };

/** `about` is whatever a reader needs to know of the folder. */
export function packFolder<T>(folder: string, about: T): Uint8Array {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
  const contents = paths.map((path) => readFileSync(join(folder, path)));
  const files = paths.map((path, index) => ({ path, length: contents[index]?.length ?? 0 }));
  const listing: Listing<T> = { about, files };
  return brotliCompressSync(Buffer.concat([Buffer.from(`${JSON.stringify(listing)}\n`), ...contents]), {
    params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
  });
}

/** Writes the files into a folder, readable by their owner alone as a root key must be, and returns what it is about. */
export function unpackFolder<T>(packed: Uint8Array, folder: string): T {
  const bytes = brotliDecompressSync(packed);
  const end = bytes.indexOf("\n");
  const { about, files } = JSON.parse(bytes.subarray(0, end).toString("utf8")) as Listing<T>;
  let at = end + 1;
  for (const { path, length } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true, mode: 0o711 });
    writeFileSync(join(folder, path), bytes.subarray(at, at + length), { mode: 0o600 });
    at += length;
  }
  return about;
}
