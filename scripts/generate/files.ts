/** All generated files as text, by their path in the repository. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Activity, readDeclarations } from "./declarations.ts";
import { docsTable } from "./docs_table.ts";
import { fieldNotes } from "./field_notes.ts";
import { limitNames } from "./limit_names.ts";
import { camelCase } from "./names.ts";
import { openApi } from "./openapi.ts";
import { publishedPaths, publishedPathsFile } from "./published_paths.ts";
import { activityRegistry, queryRegistry } from "./registries.ts";
import { sdkModule } from "./sdk.ts";
import { validatorModule } from "./validators.ts";
import { wireRegistry } from "./wire_registry.ts";

export async function generateFiles(root: string): Promise<Map<string, string>> {
  const declarations = await readDeclarations(root);
  const { activities, queries } = declarations;
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  return new Map([
    ["server/src/generated/activities.ts", activityRegistry(activities)],
    [
      "server/src/generated/activity_validators.ts",
      validatorModule("activityValidators", "`parameters`", activityForms(activities)),
    ],
    ["server/src/generated/queries.ts", queryRegistry(queries)],
    ["server/src/generated/query_validators.ts", validatorModule("queryValidators", "request", queries)],
    ["server/src/generated/openapi.json", openApi(declarations, version)],
    [publishedPathsFile, await publishedPaths(root)],
    ["server/src/launcher/limit_names.ts", limitNames()],
    ["sdk/src/generated/api.ts", sdkModule(declarations, version)],
    ["cli/src/generated/field_notes.ts", fieldNotes(declarations)],
    ["e2e/src/generated/endpoints.ts", wireRegistry(declarations)],
    ["docs/endpoints.md", docsTable(declarations)],
  ]);
}

/** The generated folders; a file in them that nothing generates any more is stale too. */
export const generatedFolders = ["server/src/generated", "sdk/src/generated", "cli/src/generated", "e2e/src/generated"];

/** Parameters are validated by the type that was sent, because older versions of an activity have schemas of their own. */
function activityForms(activities: Activity[]) {
  return activities.flatMap(({ forms }) =>
    forms.map(({ type, validated }) => ({ path: type, method: camelCase(type.toLowerCase()), validated })),
  );
}
