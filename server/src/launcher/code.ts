import { existsSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type ProcessName, type ProcessRow, perProcess, processes } from "./processes.ts";

/** A program and what it must be able to read in order to run. */
export type Program = {
  entry: string;
  /** A module that Node loads before it. */
  preload?: string;
  readable: readonly string[];
};
export type Code = { root: string } & Readonly<Record<ProcessName, Program>>;

/** The children run in the form in which this runs: as it was written, or with its types removed. */
const form = import.meta.url.endsWith(".ts") ? { folder: "src", ending: "ts" } : { folder: "build", ending: "js" };

/** Keystead's own programs in this checkout. */
export function keysteadCode(): Code {
  const root = realpathSync(fileURLToPath(new URL("../../../", import.meta.url))).replace(/\/$/, "");
  const program = (name: ProcessName): Program => {
    const { code, preload } = processes[name];
    const source = (path: string) => `${root}/server/${form.folder}/${name}/${path}.${form.ending}`;
    return {
      entry: source("main"),
      ...(preload !== undefined && { preload: source(preload) }),
      readable: readablePaths(code)
        .map((path) => `${root}/${path}`)
        .filter((path) => existsSync(path)),
    };
  };
  return { root, ...perProcess(program) };
}

function readablePaths({ server, packages, others }: ProcessRow["code"]): string[] {
  const source = (path: string) => `server/${form.folder}/${path.replace(/\.ts$/, `.${form.ending}`)}`;
  return [
    ...["package.json", "core/package.json", "server/package.json"],
    // Node resolves a workspace through its link in node_modules and then reads the real path, so both are listed.
    ...[`core/${form.folder}`, "node_modules/@keystead/core"],
    ...(server === "all" ? [`server/${form.folder}`] : server.map(source)),
    // A version that another package does not share lies below the workspace that asked for it.
    ...(packages === "all"
      ? ["node_modules", "core/node_modules"]
      : packages.flatMap((name) => [`node_modules/${name}`, `core/node_modules/${name}`])),
    ...others,
  ];
}
