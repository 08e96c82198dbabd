/** Syntax trees by the compiler itself. Its interface is marked unstable; the exact version in package.json and a test hold it. */
import type { Node, SourceFile } from "typescript/unstable/ast";
import { createVirtualFileSystem } from "typescript/unstable/fs";
import { API } from "typescript/unstable/sync";
import type { Texts } from "./sources.ts";

export type Trees = ReadonlyMap<string, SourceFile>;

const root = "/sources";

/** The compiler sees these texts alone, and neither libraries nor packages: nothing is resolved or checked. */
export function parseAll(texts: Texts): Trees {
  const config = `${root}/tsconfig.json`;
  const compilerOptions = { noResolve: true, noLib: true, types: [] };
  const files = Object.fromEntries([...texts].map(([file, text]) => [`${root}/${file}`, text]));
  files[config] = JSON.stringify({ compilerOptions, files: [...texts.keys()] });
  const api = new API({ cwd: root, fs: createVirtualFileSystem(files) });
  try {
    const program = api.updateSnapshot({ openProjects: [config] }).getProject(config)?.program;
    return new Map(
      [...texts.keys()].map((file) => {
        const tree = program?.getSourceFile(`${root}/${file}`);
        if (tree === undefined) throw new Error(`the compiler did not read ${file}`);
        return [file, tree];
      }),
    );
  } finally {
    api.close();
  }
}

/** The node itself and everything in it, from the outside in. */
export function* nodesIn(node: Node): Generator<Node> {
  yield node;
  const children: Node[] = [];
  node.forEachChild((child) => {
    children.push(child);
  });
  for (const child of children) yield* nodesIn(child);
}

/** From the line its first word is on to that of its last brace; comments before it are left out. */
export function lineCount(tree: SourceFile, node: Node): number {
  const line = (position: number) => tree.getLineAndCharacterOfPosition(position).line;
  return line(node.getEnd()) - line(node.getStart(tree)) + 1;
}
