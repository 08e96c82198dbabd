/**
 * How widely a kind is known, measured by one that is there: the files whose code mentions it. That is more than adding one touches
 * (recipes.ts): policies, the command line and the SDK use the words, too. It can be measured on every commit, so it compares states.
 * Endpoints, rules and fields of its own are what a kind consists of, and generated files and migrations are nobody's to read: they are
 * left out. So are comments.
 */
import { isIdentifier, isStringLiteral, type Node, SyntaxKind } from "typescript/unstable/ast";
import { nodesIn, type Trees } from "./parse.ts";

/** One sample for each sort of kind; every spelling of it counts: `apiKey`, `ApiKey`, `api_key`, `API_KEY`. */
export const samples = {
  "entity kind (contractInterface)": /contract_?interface/i,
  "credential kind (apiKey)": /api_?key/i,
} as const;

export const ownFolders =
  /^server\/src\/(?:activities|queries|rules|fields)\/|\/generated\/|\/migrations?(?:\/|\.ts$|_)/;

/** Some generated files are beside the code that reads them. */
export function isGenerated(text: string): boolean {
  return text.startsWith("// Written by `npm run generate`");
}

export function filesMentioning(trees: Trees, sample: RegExp): string[] {
  return [...trees]
    .filter(([file, { text }]) => !ownFolders.test(file) && !isGenerated(text))
    .filter(([, tree]) => [...nodesIn(tree)].some((node) => sample.test(wordsOf(node))))
    .map(([file]) => file);
}

const templateParts: readonly SyntaxKind[] = [
  ...[SyntaxKind.NoSubstitutionTemplateLiteral, SyntaxKind.TemplateHead, SyntaxKind.TemplateMiddle],
  SyntaxKind.TemplateTail,
];

/** Names and literal text; empty for all other nodes. A path that is imported from is text of this kind. */
function wordsOf(node: Node): string {
  if (isIdentifier(node) || isStringLiteral(node)) return node.text;
  return templateParts.includes(node.kind) ? ((node as { text?: string }).text ?? "") : "";
}
