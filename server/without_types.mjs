/** What is run of a source: the same text without its types, in which everything stands where it stood. */
import { stripTypeScriptTypes } from "node:module";

/** Our own modules, in the one form in which the formatter leaves imports. */
const ownImports = /\b(from |import |import\()"((?:\.{1,2}|@keystead)\/[^"]+)\.ts"/g;

export function withoutTypes(source) {
  return stripTypeScriptTypes(source).replace(ownImports, '$1"$2.js"');
}
