import { globSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "..");

/** The folders that hold TypeScript of ours, each with a tsconfig.json. */
export const packages = ["core", "server", "sdk", "cli", "e2e", "trials", "bench", "scripts"] as const;

/** All test files, relative to the root and sorted. */
export function findTestFiles(): string[] {
  return packages
    .flatMap((name) => globSync(`${name}/**/*.test.ts`, { cwd: root, exclude: ["**/node_modules"] }))
    .sort();
}
