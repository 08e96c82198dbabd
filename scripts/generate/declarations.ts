/** Reads the endpoint declarations and refuses those whose names do not hang together. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type AnyActivity, formsOf } from "../../server/src/endpoints/define_activity.ts";
import type { AnyQuery } from "../../server/src/endpoints/define_query.ts";
import { type ObjectSchema, toJsonSchema } from "./json_schema.ts";
import { camelCase } from "./names.ts";

type Named = {
  /** The file's name without `.ts`, the last segment of the URL and, in camel case, the export and the SDK method. */
  path: string;
  method: string;
  summary: string;
  /** The comment above the declaration, as one line; empty when there is none. */
  description: string;
  /** A stamp that a verification token vouches for opens it. */
  takesAttested?: true;
};

export type Activity = Named & {
  type: string;
  intentKey: string;
  resultKey: string;
  params: ObjectSchema;
  result: ObjectSchema;
  /** It votes on another activity, and that one is the answer. */
  votes: boolean;
  /** Every type the path accepts, with the schema as declared, for the validators. */
  forms: { type: string; intentKey: string; resultKey: string; validated: AnyActivity["params"] }[];
};

export type Query = Named & {
  request: ObjectSchema;
  response: ObjectSchema;
  validated: AnyQuery["request"];
};

export type Declarations = { activities: Activity[]; queries: Query[] };

export async function readDeclarations(root: string): Promise<Declarations> {
  const activities = await readFolder(join(root, "server/src/activities"), toActivity);
  const queries = await readFolder(join(root, "server/src/queries"), toQuery);
  checkDeclarations({ activities, queries });
  return { activities, queries };
}

/** `*.test.ts` are tests and `*.vN.ts` translations of older versions; every other file declares one endpoint. */
function isDeclaration(file: string): boolean {
  return file.endsWith(".ts") && !/\.(test|v\d+)\.ts$/.test(file);
}

async function readFolder<T>(folder: string, convert: (named: Named, declared: never) => T): Promise<T[]> {
  const files = (await readdir(folder)).filter(isDeclaration).sort();
  return Promise.all(
    files.map(async (file) => {
      const path = file.slice(0, -".ts".length);
      const method = camelCase(path);
      const url = pathToFileURL(join(folder, file)).href;
      const declared = ((await import(url)) as Record<string, Partial<Named> | undefined>)[method];
      if (declared === undefined) throw new Error(`${file} does not export \`${method}\``);
      if (declared.path !== path)
        throw new Error(`${file} declares the path \`${declared.path}\`; name the file after it`);
      if (!declared.summary) throw new Error(`${file} has no summary`);
      const description = commentAbove(await readFile(join(folder, file), "utf8"), method);
      const attested = declared.takesAttested === true && ({ takesAttested: true } as const);
      return convert({ path, method, summary: declared.summary, description, ...attested }, declared as never);
    }),
  );
}

function toActivity(named: Named, declared: AnyActivity): Activity {
  return {
    ...named,
    type: declared.type,
    intentKey: declared.intentKey,
    resultKey: declared.resultKey,
    params: toJsonSchema(declared.params, `${named.path}.params`),
    result: toJsonSchema(declared.result, `${named.path}.result`),
    votes: declared.vote !== undefined,
    forms: formsOf(declared).map(({ type, intentKey, resultKey, params }) => ({
      ...{ type, intentKey, resultKey },
      validated: params,
    })),
  };
}

function toQuery(named: Named, declared: AnyQuery): Query {
  return {
    ...named,
    request: toJsonSchema(declared.request, `${named.path}.request`),
    response: toJsonSchema(declared.response, `${named.path}.response`),
    validated: declared.request,
  };
}

/** The text of the doc comment that ends right above `export const <name>`. */
export function commentAbove(source: string, name: string): string {
  const end = source.search(new RegExp(`\\*/\\s*export const ${name}\\b`));
  if (end < 0) return "";
  const start = source.lastIndexOf("/**", end);
  return source
    .slice(start + "/**".length, end)
    .split("\n")
    .map((line) => line.replace(/^\s*\*\s?/, "").trim())
    .join(" ")
    .trim();
}

/** What no single file can see: names that clash, and wire names that do not belong together. */
export function checkDeclarations({ activities, queries }: Declarations): void {
  refuseTwice(
    "path",
    [...activities, ...queries].map((endpoint) => endpoint.path),
  );
  refuseTwice(
    "type",
    activities.flatMap(({ forms }) => forms.map(({ type }) => type)),
  );
  refuseTwice(
    "intent key",
    activities.flatMap(({ forms }) => forms.map(({ intentKey }) => intentKey)),
  );
  refuseTwice(
    "result key",
    activities.map((activity) => activity.resultKey).filter((key) => key !== ""),
  );
  for (const activity of activities) checkWireNames(activity);
  for (const query of queries) {
    if (query.request.properties.organizationId === undefined) {
      throw new Error(`${query.path}: a query's request names its organizationId`);
    }
  }
}

/**
 * Wire names are written out in the declaration; this only catches slips. The intent key carries its type's name and
 * version; of the result key only the name is sure, because published clients read `otpLoginResult` for a V2 type.
 */
function checkWireNames({ path, type, intentKey, resultKey, result, votes }: Activity): void {
  const [, name, version] = /^ACTIVITY_TYPE_([A-Z0-9_]+?)(?:_(V\d+))?$/.exec(type) ?? [];
  if (name === undefined) throw new Error(`${path}: \`${type}\` is not an activity type`);
  const stem = camelCase(name.toLowerCase());
  if (intentKey !== `${stem}Intent${version ?? ""}`) {
    throw new Error(`${path}: the intent key \`${intentKey}\` does not belong to \`${type}\``);
  }
  if (votes ? resultKey !== "" : !new RegExp(`^${stem}Result(V\\d+)?$`).test(resultKey)) {
    throw new Error(`${path}: the result key \`${resultKey}\` does not belong to \`${type}\``);
  }
  // The SDK hands out the result's fields beside the activity itself.
  if (result.properties.activity !== undefined)
    throw new Error(`${path}: a result field cannot be called \`activity\``);
}

function refuseTwice(what: string, names: string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw new Error(`the ${what} \`${name}\` is declared twice`);
    seen.add(name);
  }
}
