/**
 * What adding a kind touches, by the recipes of CONTRIBUTING: the product files that they name. Rules, fields, endpoints and migrations
 * are what a kind consists of, and are left out, as tests and generated files are.
 */
import { posix } from "node:path";
import { isTest, productPackages } from "../imports.ts";
import { isGenerated, ownFolders } from "./mentions.ts";
import type { Texts } from "./sources.ts";

/** The title of each recipe. */
export const recipes = {
  "entity kind": "Adding a kind of entity",
  "credential kind": "Adding a kind of credential or evidence",
} as const;

/** Files of the numbered steps, which every kind takes; and those that the text after them names for some kinds. */
export type Recipe = { always: string[]; sometimes: string[] };

/** Undefined where the text has no such section, or none with steps: older states have not. */
export function readRecipe(contributing: string, title: string, product: Texts): Recipe | undefined {
  const section = contributing.split(/^## /m).find((text) => text.startsWith(`${title}\n`));
  const lines = section?.split("\n") ?? [];
  const isStep = (line: string) => /^\d+\. /.test(line);
  const isStepOrRest = (line: string) => isStep(line) || /^ {3}\S/.test(line);
  const first = lines.findIndex(isStep);
  if (first === -1) return undefined;
  const end = lines.findIndex((line, index) => index > first && !isStepOrRest(line));
  const always = filesNamed(lines.slice(first, end === -1 ? undefined : end).join("\n"), product);
  const sometimes = end === -1 ? [] : filesNamed(lines.slice(end).join("\n"), product);
  return { always, sometimes: sometimes.filter((file) => !always.includes(file)) };
}

const productFile = new RegExp(`^(?:${productPackages.join("|")})/src/`);

/** A name without a folder is of the folder that was named last. `NAME` in it stands for the new kind: a file that is still to come. */
function filesNamed(text: string, product: Texts): string[] {
  const files = new Set<string>();
  let folder = "";
  for (const [, name = ""] of text.matchAll(/`([\w/.-]+)`/g)) {
    const isFile = /\.\w+$/.test(name);
    const path = name.includes("/") ? name : posix.join(folder, name);
    if (name.includes("/")) folder = isFile ? posix.dirname(name) : name;
    if (path.endsWith(".ts") && productFile.test(path)) files.add(path);
  }
  return [...files].filter((file) => !isTest(file) && !ownFolders.test(file) && !isGenerated(product.get(file) ?? ""));
}
