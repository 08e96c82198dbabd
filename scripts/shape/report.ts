/** The figures as a person reads them: a table, side by side with an earlier state if there is one, then what stands behind them. */
import { functionLimit, type Shape } from "./measure.ts";
import type { Recipe } from "./recipes.ts";

type Row = { name: string; value: (shape: Shape) => string | number };

/** A dash where the recipe was not written yet. */
const touched = (kind: keyof Shape["recipes"], when: keyof Recipe) => (shape: Shape) =>
  shape.recipes[kind]?.[when].length ?? "-";

const rows: readonly Row[] = [
  { name: "product files", value: ({ files }) => files },
  { name: "median lines of a file", value: ({ medianLines }) => medianLines },
  { name: "longest file", value: ({ longestFile: { lines, file } }) => `${lines}  ${file}` },
  { name: "circles of imports, types included", value: ({ cycles }) => cycles.length },
  { name: "longest function", value: ({ longestFunction: { lines, name } }) => `${lines}  ${name}` },
  { name: `functions over ${functionLimit} lines`, value: ({ longFunctions }) => longFunctions.length },
  { name: "file names with two meanings", value: (shape) => shape.doubleFileNames.length },
  { name: "type names with two meanings", value: (shape) => shape.doubleTypeNames.length },
  { name: "e2e files that import the server", value: (shape) => shape.e2eThatImportServer.length },
  ...(["entity kind", "credential kind"] as const).flatMap((kind) => [
    { name: `files to touch for a new ${kind}`, value: touched(kind, "always") },
    { name: `further files for some: ${kind}`, value: touched(kind, "sometimes") },
  ]),
  ...(["entity kind (contractInterface)", "credential kind (apiKey)"] as const).map((kind) => ({
    name: `files that know the ${kind}`,
    value: ({ mentions }: Shape) => mentions[kind].length,
  })),
];

const method = `Product files are those below src of core, server, sdk and cli, without tests and generated files.
Functions are counted from their first line to their last, with the functions inside them; migrations are left out.
Two meanings: one exported type name in two files, or one file name in two folders. Entry points (main.ts, index.ts) and
layers of one subject (wallets.ts in fields, rules and store) are left out.
What adding a kind touches: the product files that its recipe in CONTRIBUTING names, outside activities, queries, rules,
fields, generated files and migrations; first those of the numbered steps, then those that only some kinds need.
Files that know a kind: those outside the same folders whose code, comments left out, has its name in any spelling.
Policies and clients have the words, too, so they are more than adding one touches; older states have this figure as well.`;

export function report(now: Shape, before?: Shape): string {
  const columns = before === undefined ? [now] : [before, now];
  const heads = before === undefined ? ["", ""] : ["", "before", "after"];
  const table = rows.map(({ name, value }) => [name, ...columns.map((shape) => String(value(shape)))]);
  return [...tableLines(before === undefined ? table : [heads, ...table]), "", ...details(now), method].join("\n");
}

function tableLines(table: readonly string[][]): string[] {
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** What there is to mend, as it is now. */
function details(shape: Shape): string[] {
  return [
    ...section(
      `functions over ${functionLimit} lines`,
      shape.longFunctions,
      (it) => `${it.lines} ${it.name}  ${it.file}`,
    ),
    ...section("circles of imports", shape.cycles, (files) => files.join(" ")),
    ...section("file names with two meanings", shape.doubleFileNames, ({ files }) => files.join(" ")),
    ...section(
      "type names with two meanings",
      shape.doubleTypeNames,
      ({ name, files }) => `${name}: ${files.join(" ")}`,
    ),
    ...section("e2e files that import the server", shape.e2eThatImportServer, String),
    ...Object.entries(shape.recipes).flatMap(([kind, { always, sometimes }]) => [
      ...section(`files to touch for a new ${kind}`, always, String),
      ...section(`further files for some: ${kind}`, sometimes, String),
    ]),
    ...Object.entries(shape.mentions).flatMap(([kind, files]) => section(`files that know the ${kind}`, files, String)),
  ];
}

/** More than this many lines nobody reads here; `--json` has them all. */
const listed = 40;

function section<T>(title: string, items: readonly T[], line: (item: T) => string): string[] {
  if (items.length === 0) return [];
  const more = items.length > listed ? [`  and ${items.length - listed} more: see --json`] : [];
  return [`${title}:`, ...items.slice(0, listed).map((item) => `  ${line(item)}`), ...more, ""];
}
