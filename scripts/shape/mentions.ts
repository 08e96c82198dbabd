/**
 * What adding a kind touches, measured by one that is there: the files whose code mentions it. Endpoints, rules and fields of its own are
 * what a kind consists of, and generated files and migrations are nobody's to read: they are left out. So are comments.
 */
import { isIdentifier, isStringLiteral, type Node, SyntaxKind } from "typescript/unstable/ast";
import { nodesIn, type Trees } from "./parse.ts";

/** One sample for each sort of kind; every spelling of it counts: `apiKey`, `ApiKey`, `api_key`, `API_KEY`. */
export const samples = {
  "entity kind (contractInterface)": /contract_?interface/i,
  "credential kind (apiKey)": /api_?key/i,
} as const;

const ownFolders = /^server\/src\/(?:activities|queries|rules|fields)\/|\/generated\/|\/migrations?(?:\/|\.ts$|_)/;

export function filesMentioning(trees: Trees, sample: RegExp): string[] {
  return [...trees]
    .filter(([file]) => !ownFolders.test(file))
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
