/** The reader of imports: what a source file imports, where that leads, and which files import each other in a circle. */
import { posix } from "node:path";

/** The packages whose `src` folders ship. */
export const productPackages = ["core", "server", "sdk", "cli"] as const;

/** Tests, what they share and the programs that only tests start do not ship. */
export function isTest(file: string): boolean {
  return /\.test(_entry)?\.ts$|^[^/]+\/test\//.test(file);
}

export type Import = {
  /** Undefined for an `import()` of something computed. */
  specifier: string | undefined;
  typeOnly: boolean;
};

/** The imports of each file, by its path from the root of the repository. */
export type ImportsOf = ReadonlyMap<string, readonly Import[]>;

/** Static imports and re-exports begin a line; `import()` stands anywhere. */
export function parseImports(source: string): Import[] {
  const statements = source.matchAll(
    /^\s*(?:import|export)\b(?<type>\s+type\b(?!\s*,|\s+from\b))?[^"'`;]*?\bfrom\s*["'](?<specifier>[^"']+)["']/gm,
  );
  const bare = source.matchAll(/^\s*import\s*["'](?<specifier>[^"']+)["']/gm);
  const dynamic = source.matchAll(/(?<type>\btypeof\s+)?\bimport\s*\(\s*(?:["'](?<specifier>[^"']+)["']\s*[,)])?/g);
  return [...statements, ...bare, ...dynamic].map(({ groups }) => ({
    specifier: groups?.specifier,
    typeOnly: groups?.type !== undefined,
  }));
}

/** The file, relative to the repository, that an import of ours leads to; undefined for packages and builtins. */
export function targetOf(file: string, specifier: string): string | undefined {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(file), specifier);
  const [, name, rest] = /^@keystead\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  return name === undefined ? undefined : `${name}/src/${rest ?? "index.ts"}`;
}

/** The groups of files that import each other, directly or around corners, types included. */
export function cyclesAmong(names: readonly string[], importsOf: ImportsOf): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[][] = [];
  const visit = (file: string) => {
    order.set(file, order.size);
    lowest.set(file, order.get(file) ?? 0);
    stack.push(file);
    for (const { specifier } of importsOf.get(file) ?? []) {
      const target = specifier === undefined ? undefined : targetOf(file, specifier);
      if (target === undefined || !importsOf.has(target)) continue;
      if (!order.has(target)) visit(target);
      if (stack.includes(target)) {
        lowest.set(file, Math.min(lowest.get(file) ?? 0, lowest.get(target) ?? 0));
      }
    }
    if (lowest.get(file) !== order.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1) groups.push(group.sort());
  };
  for (const file of names) if (!order.has(file)) visit(file);
  return groups;
}
