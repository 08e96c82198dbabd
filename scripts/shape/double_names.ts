/** Names with two meanings: files of one name in different folders, and types of one name in different files. */
import { basename, dirname } from "node:path";
import { isInterfaceDeclaration, isTypeAliasDeclaration, SyntaxKind } from "typescript/unstable/ast";
import type { Trees } from "./parse.ts";

export type DoubleName = { name: string; files: string[] };

/** An entry point is called so in every package and process. */
const entryPoints = ["main.ts", "index.ts"];

/** Folders whose files are named after their subject: one name in two of them is one thing, seen from two layers. */
const layers: readonly (readonly string[])[] = [
  // The mathematics, the state, the wire, the rules, the rows and the answers of one thing: `wallets.ts`, `bundles.ts`.
  [
    ...["core/src/crypto", "core/src/chains"],
    ...["state", "fields", "evidence", "rules", "store", "views", "queries"].map((name) => `server/src/${name}`),
  ],
  // The transactions, the addresses and the facts for policies of one chain or standard: `bitcoin.ts`, `eip712.ts`.
  ["core/src/chains", "core/src/crypto", "core/src/keys/addresses", "core/src/policy/facts"],
  // A command is named like the endpoint it calls.
  ["cli/src/commands", "server/src/queries", "server/src/activities"],
];

export function doubleFileNames(files: Iterable<string>): DoubleName[] {
  return doubles([...files].map((file) => [basename(file), file])).filter(
    ({ name, files }) => !entryPoints.includes(name) && !layers.some((layer) => areIn(layer, files)),
  );
}

function areIn(folders: readonly string[], files: readonly string[]): boolean {
  return files.every((file) => folders.includes(dirname(file)));
}

/** Classes are types, too, but none was ever declared twice. */
export function doubleTypeNames(trees: Trees): DoubleName[] {
  return doubles(
    [...trees].flatMap(([file, { statements }]) =>
      statements
        .filter((statement) => isTypeAliasDeclaration(statement) || isInterfaceDeclaration(statement))
        .filter(({ modifiers }) => modifiers?.some(({ kind }) => kind === SyntaxKind.ExportKeyword))
        .map((statement): [string, string] => [statement.name.text, file]),
    ),
  );
}

function doubles(named: readonly [name: string, file: string][]): DoubleName[] {
  const byName = Map.groupBy(named, ([name]) => name);
  return [...byName]
    .map(([name, entries]) => ({ name, files: [...new Set(entries.map(([, file]) => file))].sort() }))
    .filter(({ files }) => files.length > 1)
    .sort((a, b) => a.name.localeCompare(b.name));
}
