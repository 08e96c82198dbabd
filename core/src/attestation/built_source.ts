/**
 * What a start runs of one of our sources: the same text without its types, in which everything stands where it stood, and which imports
 * files of its own kind. The server's build writes it, and whoever compares a clone with a list of loaded files makes it again.
 */

/** Our own modules, in the one form in which the formatter leaves imports. */
const ownImports = /\b(from |import |import\()"((?:\.{1,2}|@keystead)\/[^"]+)\.ts"/g;

/** `stripTypes` is Node's `stripTypeScriptTypes`. */
export function builtSource(source: string, stripTypes: (source: string) => string): string {
  return stripTypes(source).replace(ownImports, '$1"$2.js"');
}
