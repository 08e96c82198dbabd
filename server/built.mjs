/**
 * Whether `build` is what `src` is now. By content and not by time: an older file that was put back has an older time, and
 * yesterday's code must not run in its place.
 */
import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The packages that the server runs. */
export const packages = ["core", "server"].map((name) => join(root, name));

export function isBuilt() {
  return packages.every((folder) => {
    const [built, now] = [listBuilt(folder), listSources(folder)];
    const paths = Object.keys(now);
    return paths.length === Object.keys(built).length && paths.every((path) => built[path] === now[path]);
  });
}

/** The digest of every file that is built. */
export function listSources(folder) {
  const list = {};
  // Every start asks: `globSync` would take seven times as long.
  for (const path of readdirSync(join(folder, "src"), { recursive: true })) {
    if (!/\.(ts|json)$/.test(path) || /\.test(_entry)?\.ts$/.test(path)) continue;
    list[path] = hash("sha256", `${process.version}\n${readFileSync(join(folder, "src", path), "utf8")}`);
  }
  return list;
}

/** What was listed when it was built last. */
export function listBuilt(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, "build", "sources.json"), "utf8"));
  } catch {
    return {};
  }
}
