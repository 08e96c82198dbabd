/**
 * The list of what a signer runs: one line for each file with its SHA-256, as `sha256sum` writes them, and one for Node itself. Its own
 * SHA-256 is `pivot.hash` in the manifest.
 */
import { Fault } from "../fault.ts";

export type LoadedFile = {
  /** From the folder that holds the code, with slashes, so that lists of two clones compare. */
  path: string;
  /** SHA-256, in hex. */
  digest: string;
};

/** The line of Node's own binary. A path cannot be taken for it: none begins with `node:`. */
export const nodePrefix = "node:";

/** `node:v26.10.0-linux-x64` */
export function nodeLine(version: string, platform: string, digest: string): LoadedFile {
  return { path: `${nodePrefix}${version}-${platform}`, digest };
}

export function writeLoadedFiles(files: Iterable<LoadedFile>): Uint8Array<ArrayBuffer> {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  return new TextEncoder().encode(sorted.map(({ path, digest }) => `${digest}  ${path}\n`).join(""));
}

export function readLoadedFiles(bytes: Uint8Array): LoadedFile[] {
  const lines = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).split("\n");
  if (lines.pop() !== "") throw malformed("no line end at the end");
  const files = lines.map((line) => {
    const [, digest, path] = /^([0-9a-f]{64}) {2}(\S.*)$/.exec(line) ?? [];
    if (digest === undefined || path === undefined) throw malformed("a line that is no digest and path");
    return { path, digest };
  });
  files.forEach(({ path }, index) => {
    if (index > 0 && path <= (files[index - 1]?.path ?? "")) throw malformed("not sorted, or a path twice");
  });
  return files;
}

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed list of files: ${why}`);
}
