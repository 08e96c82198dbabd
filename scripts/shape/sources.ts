/** The texts that are measured, by their path from the root: product files, the black-box suite, and the recipes for adding a kind. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isTest, productPackages } from "../imports.ts";

export type Texts = ReadonlyMap<string, string>;
export type Sources = { product: Texts; e2e: Texts; contributing: string };

export function readSources(root: string): Sources {
  const product = productPackages
    .flatMap((name) => globSync(`${name}/src/**/*.ts`, { cwd: root }))
    .filter((file) => !isTest(file) && !file.includes("/generated/"));
  const e2e = globSync("e2e/**/*.ts", { cwd: root, exclude: ["**/node_modules"] });
  const guide = join(root, "CONTRIBUTING.md");
  const contributing = existsSync(guide) ? readFileSync(guide, "utf8") : "";
  return { product: readAll(root, product), e2e: readAll(root, e2e), contributing };
}

function readAll(root: string, files: readonly string[]): Texts {
  return new Map(files.toSorted().map((file) => [file, readFileSync(join(root, file), "utf8")]));
}
