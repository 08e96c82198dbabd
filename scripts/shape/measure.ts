/** All figures of one state of the repository. */
import { cyclesAmong, parseImports, targetOf } from "../imports.ts";
import { type DoubleName, doubleFileNames, doubleTypeNames } from "./double_names.ts";
import { type FunctionLength, functionLengths } from "./functions.ts";
import { filesMentioning, samples } from "./mentions.ts";
import { parseAll } from "./parse.ts";
import { type Recipe, readRecipe, recipes } from "./recipes.ts";
import type { Sources, Texts } from "./sources.ts";

/** What a function may have; longer ones are listed. */
export const functionLimit = 80;

export type Shape = {
  files: number;
  medianLines: number;
  longestFile: { file: string; lines: number };
  cycles: string[][];
  longestFunction: FunctionLength;
  longFunctions: FunctionLength[];
  doubleFileNames: DoubleName[];
  doubleTypeNames: DoubleName[];
  e2eThatImportServer: string[];
  recipes: Partial<Record<keyof typeof recipes, Recipe>>;
  mentions: Record<keyof typeof samples, string[]>;
};

export function measure({ product, e2e, contributing }: Sources): Shape {
  const trees = parseAll(product);
  const functions = functionLengths(trees);
  const lengths = [...product]
    .map(([file, text]) => ({ file, lines: text.split("\n").length - 1 }))
    .sort((a, b) => a.lines - b.lines);
  const nothing = { file: "", lines: 0 };
  const mentions = Object.entries(samples).map(([kind, sample]) => [kind, filesMentioning(trees, sample)]);
  const read = Object.entries(recipes).map(([kind, title]) => [kind, readRecipe(contributing, title, product)]);
  return {
    files: product.size,
    medianLines: lengths[Math.floor(lengths.length / 2)]?.lines ?? 0,
    longestFile: lengths.at(-1) ?? nothing,
    cycles: cyclesAmong([...product.keys()], new Map([...product].map(([file, text]) => [file, parseImports(text)]))),
    longestFunction: functions[0] ?? { ...nothing, name: "" },
    longFunctions: functions.filter(({ lines }) => lines > functionLimit),
    doubleFileNames: doubleFileNames(product.keys()),
    doubleTypeNames: doubleTypeNames(trees),
    e2eThatImportServer: filesImportingServer(e2e),
    recipes: Object.fromEntries(read.filter(([, recipe]) => recipe !== undefined)),
    mentions: Object.fromEntries(mentions),
  };
}

function filesImportingServer(texts: Texts): string[] {
  const leadsToServer = (file: string, specifier = "") => targetOf(file, specifier)?.startsWith("server/") === true;
  return [...texts].flatMap(([file, text]) =>
    parseImports(text).some(({ specifier }) => leadsToServer(file, specifier)) ? file : [],
  );
}
