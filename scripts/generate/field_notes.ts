/** What the CLI's help says about each field of each endpoint. The SDK's types have it in comments, which are gone when it runs. */
import type { Declarations } from "./declarations.ts";
import { header } from "./header.ts";
import type { JsonSchema } from "./json_schema.ts";

export function fieldNotes({ activities, queries }: Declarations): string {
  const endpoints = [
    ...activities.map(({ path, params }) => [path, notesOf(params)] as const),
    ...queries.map(({ path, request }) => [path, notesOf(request)] as const),
  ].filter(([, notes]) => notes.length > 0);
  const entries = endpoints.map(([path, notes]) => {
    const lines = notes.map(([field, note]) => `    ${JSON.stringify(field)}: ${JSON.stringify(note)},`);
    return `  ${path}: {\n${lines.join("\n")}\n  },`;
  });
  return `${header}

/** By endpoint, then by field; those inside others stand behind a dot. */
export const fieldNotes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
${entries.join("\n")}
};
`;
}

function notesOf(schema: JsonSchema, prefix = ""): [field: string, note: string][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const field = `${prefix}${name}`;
    const note = noteOf(property);
    const own: [string, string][] = note === undefined ? [] : [[field, note]];
    return [...own, ...notesOf(insideOf(property), `${field}.`)];
  });
}

/** What may be null has its description inside. */
function noteOf({ description, anyOf = [] }: JsonSchema): string | undefined {
  return description ?? anyOf.find((part) => part.description !== undefined)?.description;
}

/** The schema whose fields stand below this one: of a list, that of its elements. */
function insideOf(schema: JsonSchema): JsonSchema {
  if (schema.items !== undefined) return insideOf(schema.items);
  const part = schema.anyOf?.find(({ type }) => type === "object" || type === "array");
  return part === undefined ? schema : insideOf(part);
}
