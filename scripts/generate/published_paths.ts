/**
 * The paths of the published API, served here or not. The descriptions of that API lie beside the repository and may be absent: then the
 * list stays as it was committed.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export const publishedPathsFile = "server/src/generated/published_paths.ts";

const descriptions = ["public_api.swagger.json", "proxy_api.swagger.json"];

export async function publishedPaths(root: string): Promise<string> {
  const files = descriptions.map((name) => join(root, "../shared/reference", name));
  if (!files.every((file) => existsSync(file))) return readFile(join(root, publishedPathsFile), "utf8");
  const documents = await Promise.all(files.map(async (file) => JSON.parse(await readFile(file, "utf8"))));
  const paths = documents.flatMap(({ paths }: { paths: object }) => Object.keys(paths)).sort();
  return `// Written by \`npm run generate\` from the descriptions of the published API. Do not edit.
/** Every path of the published API. */
export const publishedPaths: readonly string[] = [
${paths.map((path) => `  ${JSON.stringify(path)},`).join("\n")}
];
`;
}
