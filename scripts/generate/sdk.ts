/** The SDK's types and methods: one file without imports, so that it stands in any TypeScript project. */
import type { Declarations } from "./declarations.ts";
import { header } from "./header.ts";
import { isRequired, type ObjectSchema } from "./json_schema.ts";
import { pascalCase } from "./names.ts";
import { namedSchemas } from "./openapi.ts";
import { typeDeclaration, typeText } from "./typescript.ts";

export function sdkModule(declarations: Declarations, version: string): string {
  const { activities, queries } = declarations;
  const types = Object.entries(namedSchemas(declarations)).map(([name, schema]) =>
    typeDeclaration(name, schema, { readonlyArrays: /(Params|Request)$/.test(name) }),
  );
  const inputs = queries.map(({ path }) => {
    const name = pascalCase(path);
    return `export type ${name}Input = Omit<${name}Request, "organizationId"> & { organizationId?: string | undefined };\n`;
  });
  return `${header}

export const version = "${version}";

${[...types, ...inputs].join("\n")}
${endpointTable(declarations)}
${callTypes}
/** One method per endpoint. */
export type Api = {
${[
  ...activities.map(
    ({ path, method, params, summary, votes }) =>
      `  /** ${summary}. */\n  ${method}(params${isOptional(params) ? "?" : ""}: ${pascalCase(path)}Params, options?: CallOptions): Promise<Completed<${votes ? "unknown" : `${pascalCase(path)}Result`}>>;`,
  ),
  ...queries.map(
    ({ path, method, request, summary }) =>
      `  /** ${summary}. */\n  ${method}(request${isOptional(request, "organizationId") ? "?" : ""}: ${pascalCase(path)}Input, options?: CallOptions): Promise<${pascalCase(path)}Response>;`,
  ),
].join("\n")}
};

/** The methods over two ways of sending. */
export function createApi({ submit, query }: Calls): Api {
  return {
${[
  ...activities.map(
    ({ path, method, params }) =>
      `    ${method}: (params${isOptional(params) ? " = {}" : ""}, options) => submit("${path}", params, options),`,
  ),
  ...queries.map(
    ({ path, method, request }) =>
      `    ${method}: (request${isOptional(request, "organizationId") ? " = {}" : ""}, options) => query("${path}", request, options),`,
  ),
].join("\n")}
  };
}
`;
}

/** Whether a method's first argument may be left out. */
function isOptional(schema: ObjectSchema, filledIn?: string): boolean {
  return Object.keys(schema.properties).every((name) => name === filledIn || !isRequired(schema, name));
}

const callTypes = `/** What every call takes besides its parameters. */
export type CallOptions = {
  /** The organization to act in, when it is not the client's own. */
  organizationId?: string | undefined;
  /** The time written into an activity; the same body at the same time is the same activity. Queries carry none. */
  timestampMs?: number | undefined;
  /** Under one key, an activity that differs only in its time is the same one for a day: a retry cannot happen twice. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Of an activity: whether the answer proves what was decided, and each address that was derived. */
  generateAppProofs?: boolean | undefined;
};

/** A completed activity with its result's fields beside it; of a vote, the activity voted on, whatever its status. */
export type Completed<R> = { activity: Activity } & R;

/** How the methods reach the server. */
export type Calls = {
  submit<R>(path: ActivityPath, params: object, options?: CallOptions): Promise<Completed<R>>;
  query<R>(path: QueryPath, request: object, options?: CallOptions): Promise<R>;
};
`;

function endpointTable({ activities, queries }: Declarations): string {
  const text = (value: string | string[]): string =>
    typeof value === "string" ? JSON.stringify(value) : `[${value.map(text).join(", ")}]`;
  const row = (fields: Record<string, string | string[]>) =>
    `{ ${Object.entries(fields)
      .map(([key, value]) => `${key}: ${text(value)}`)
      .join(", ")} }`;
  return `export const activities = {
${activities
  .map(({ path, type, resultKey, summary, params }) => {
    const url = `/public/v1/submit/${path}`;
    return `  ${path}: ${row({ url, type, resultKey, summary, parameters: parameterTexts(params) })},`;
  })
  .join("\n")}
} as const;

export const queries = {
${queries
  .map(({ path, summary, request }) => {
    const url = `/public/v1/query/${path}`;
    return `  ${path}: ${row({ url, summary, parameters: parameterTexts(request, "organizationId") })},`;
  })
  .join("\n")}
} as const;

export type ActivityPath = keyof typeof activities;
export type QueryPath = keyof typeof queries;
`;
}

/** `userIds: string[]`, with a question mark where a parameter may be left out. */
export function parameterTexts(schema: ObjectSchema, leftOut?: string): string[] {
  return Object.entries(schema.properties)
    .filter(([name]) => name !== leftOut)
    .map(([name, property]) => {
      const text = typeText(property, { readonlyArrays: false }).replace(/\/\*\*.*?\*\//g, "");
      return `${name}${isRequired(schema, name) ? "" : "?"}: ${text.replace(/\s+/g, " ")}`;
    });
}
