/** Third-party test vectors. They lie beside the repository, are never committed, and may be absent. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";

const folder = resolve(import.meta.dirname, "..", "..", "..", "shared", "vectors");

export type Vectors = {
  /** One file, parsed. The caller names the type it expects: these files are fixed and checked by their counts. */
  json<T>(path: string): T;
  bytes(path: string): Uint8Array;
  /** The file names of a folder, sorted. */
  names(path: string): string[];
  /** Every file, by its path in the folder, sorted. */
  paths(): string[];
};

const vectors: Vectors = {
  json: (path) => JSON.parse(readFileSync(join(folder, path), "utf8")),
  bytes: (path) => new Uint8Array(readFileSync(join(folder, path))),
  names: (path) => readdirSync(join(folder, path)).sort(),
  paths: () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
      .sort(),
};

/** The one reason for a skip that CI accepts: a clone elsewhere has nobody's vectors beside it. */
export const vectorsAbsent = "no third-party vectors here";

/** The vectors, or undefined after marking the test as skipped and saying why. */
export function findVectors(t: { skip(message?: string): void }): Vectors | undefined {
  if (existsSync(folder)) return vectors;
  t.skip(`${vectorsAbsent}: expected the folder ${folder}`);
  return undefined;
}
