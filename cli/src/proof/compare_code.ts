/** Holds the list of files that a signer has loaded against a clone of the code, after `npm ci` in it. Nothing of the clone is run. */
import { createHash, hash } from "node:crypto";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { builtSource } from "@keystead/core/attestation/built_source.ts";
import { type LoadedFile, nodePrefix } from "@keystead/core/attestation/loaded_files.ts";

export type Comparison =
  | { kind: "same"; files: number }
  /** The first that differs; of a file that is built, its source. */
  | { kind: "differs"; path: string; why: string }
  | { kind: "unchecked"; why: string };

export async function compareCode(files: readonly LoadedFile[], clone: string): Promise<Comparison> {
  const node = files.find(({ path }) => path.startsWith(nodePrefix));
  if (node === undefined)
    return { kind: "unchecked", why: "the list does not name Node, which the server could not read" };
  const [, version = "", platform = ""] = /^node:(v[\d.]+)-(.+)$/.exec(node.path) ?? [];
  for (const { path, digest } of files) {
    if (path === node.path) continue;
    const found = digestIn(clone, path, version);
    if (typeof found !== "string") return found.kind === "differs" ? { path: sourceOf(path), ...found } : found;
    if (found !== digest) return { kind: "differs", path: sourceOf(path), why: "it is another in the clone" };
  }
  return compareNode(clone, node, platform, files.length - 1);
}

type Trouble = { kind: "differs"; why: string } | { kind: "unchecked"; why: string };

function digestIn(clone: string, path: string, version: string): string | Trouble {
  if (path.split("/").some((part) => part === ".." || part === "") || /[?%:\\]/.test(path)) {
    return { kind: "differs", why: "it is no path inside a clone" };
  }
  const source = sourceOf(path);
  const file = join(clone, source);
  if (!existsSync(file)) return { kind: "differs", why: "the clone has no such file" };
  if (source === path) return hash("sha256", readFileSync(file));
  // Another Node may write the same code with other spaces.
  if (process.version !== version) {
    return {
      kind: "unchecked",
      why: `${path} can only be built as it was with Node ${version}; this is ${process.version}`,
    };
  }
  return hash("sha256", builtSource(readFileSync(file, "utf8"), stripTypeScriptTypes));
}

/** Starts run sources without their types. A clone may have none of those, or others: they are made again. */
function sourceOf(path: string): string {
  const built = /^(core|server)\/build\/(.+)\.js$/.exec(path);
  return built === null ? path : `${built[1]}/src/${built[2]}.ts`;
}

async function compareNode(clone: string, node: LoadedFile, platform: string, files: number): Promise<Comparison> {
  const folders = [`node-${platform}`, `node-bin-${platform}`].map((name) => join(clone, "node_modules", name));
  const binary = folders.map((folder) => join(folder, "bin", "node")).find((path) => existsSync(path));
  if (binary === undefined) {
    return { kind: "unchecked", why: `all files are the same, but the clone has no Node for ${platform} to compare` };
  }
  const digest = createHash("sha256");
  for await (const chunk of createReadStream(binary)) digest.update(chunk);
  if (digest.digest("hex") === node.digest) return { kind: "same", files };
  return { kind: "differs", path: node.path, why: `it is not ${binary}` };
}
