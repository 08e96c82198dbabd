/**
 * Copies the sources without their types: as JavaScript in which everything stands where it stood, so that errors name the right
 * place. What cannot be written is left as it is.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { builtSource } from "../core/src/attestation/built_source.ts";
import { listBuilt, listSources, packages } from "./built.mjs";

try {
  for (const folder of packages) build(folder);
} catch (error) {
  // A checkout that belongs to somebody else.
  if (error.code !== "EACCES" && error.code !== "EROFS" && error.code !== "ENOSPC") throw error;
}

/** The list comes last, so that whatever was cut short is done again. */
function build(folder) {
  const [before, now] = [listBuilt(folder), listSources(folder)];
  for (const path of Object.keys(now).filter((path) => now[path] !== before[path])) {
    const source = readFileSync(join(folder, "src", path), "utf8");
    writeWhole(
      join(folder, "build", builtName(path)),
      path.endsWith(".ts") ? builtSource(source, stripTypeScriptTypes) : source,
    );
  }
  for (const path of Object.keys(before).filter((path) => !(path in now))) {
    rmSync(join(folder, "build", builtName(path)), { force: true });
  }
  writeWhole(join(folder, "build", "sources.json"), JSON.stringify(now));
}

/** Several servers may start at once: each finds whole files, whoever wrote them. */
function writeWhole(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}

function builtName(path) {
  return path.replace(/\.ts$/, ".js");
}
