/** How long functions are. A function inside another counts for itself, and its lines for the outer one as well. */
import {
  isArrowFunction,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isGetAccessorDeclaration,
  isMethodDeclaration,
  isSetAccessorDeclaration,
  type Node,
  type SourceFile,
} from "typescript/unstable/ast";
import { lineCount, nodesIn, type Trees } from "./parse.ts";

export type FunctionLength = { file: string; name: string; lines: number };

const isFunction = [
  isFunctionDeclaration,
  isFunctionExpression,
  isArrowFunction,
  isMethodDeclaration,
  isConstructorDeclaration,
  isGetAccessorDeclaration,
  isSetAccessorDeclaration,
];

/** Lists of tables that are written once and never edited; cutting them would change what nobody reads again. */
const isMigration = (file: string) => file.startsWith("server/src/store/migrations/");

/** All functions that have a body, the longest first. */
export function functionLengths(trees: Trees): FunctionLength[] {
  const lengths = [...trees].flatMap(([file, tree]) => {
    if (isMigration(file)) return [];
    const functions = [...nodesIn(tree)].filter((node) => isFunction.some((is) => is(node)) && bodyOf(node));
    return functions.map((node) => ({ file, name: nameOf(node, tree), lines: lineCount(tree, node) }));
  });
  return lengths.sort((a, b) => b.lines - a.lines || a.file.localeCompare(b.file));
}

/** Overloads and abstract methods have none. */
function bodyOf(node: Node): Node | undefined {
  return (node as { body?: Node }).body;
}

/** Its own name, or that of the variable or property that holds it. */
function nameOf(node: Node, tree: SourceFile): string {
  if (isConstructorDeclaration(node)) return "constructor";
  const { name } = node as { name?: Node };
  const holder = (node.parent as { name?: Node } | undefined)?.name;
  return (name ?? holder)?.getText(tree) ?? "(no name)";
}
