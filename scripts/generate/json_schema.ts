/** The part of JSON Schema that declarations use. An unknown keyword is refused, so that nothing is silently left out. */
export type JsonSchema = {
  $ref?: string;
  type?: "string" | "number" | "integer" | "boolean" | "null" | "array" | "object";
  description?: string;
  const?: string | number | boolean;
  enum?: readonly (string | number | boolean)[];
  anyOf?: readonly JsonSchema[];
  allOf?: readonly JsonSchema[];
  items?: JsonSchema;
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  additionalProperties?: boolean | JsonSchema;
  patternProperties?: Readonly<Record<string, JsonSchema>>;
  pattern?: string;
  format?: string;
  default?: unknown;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minimum?: number;
  maximum?: number;
};

export type ObjectSchema = JsonSchema & { type: "object"; properties: Readonly<Record<string, JsonSchema>> };

const keywords: ReadonlySet<string> = new Set([
  "$ref",
  "type",
  "description",
  "const",
  "enum",
  "anyOf",
  "allOf",
  "items",
  "properties",
  "required",
  "additionalProperties",
  "patternProperties",
  "pattern",
  "format",
  "default",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minimum",
  "maximum",
] satisfies (keyof JsonSchema)[]);

/** A TypeBox schema as plain JSON Schema: TypeBox keeps its own marks where JSON does not see them. */
export function toJsonSchema(schema: object, where: string): ObjectSchema {
  const json = JSON.parse(JSON.stringify(schema)) as ObjectSchema;
  refuseUnknownKeywords(json, where);
  if (json.type !== "object") throw new Error(`${where} is not an object schema`);
  return { ...json, properties: json.properties ?? {} };
}

function refuseUnknownKeywords(schema: JsonSchema, where: string): void {
  for (const keyword of Object.keys(schema)) {
    if (!keywords.has(keyword)) throw new Error(`${where} uses \`${keyword}\`, which the generator does not know`);
  }
  const children = [...(schema.anyOf ?? []), ...(schema.allOf ?? []), ...Object.values(schema.patternProperties ?? {})];
  if (schema.items !== undefined) children.push(schema.items);
  if (typeof schema.additionalProperties === "object") children.push(schema.additionalProperties);
  for (const child of children) refuseUnknownKeywords(child, where);
  for (const [name, child] of Object.entries(schema.properties ?? {})) refuseUnknownKeywords(child, `${where}.${name}`);
}

export function isRequired(schema: JsonSchema, property: string): boolean {
  return schema.required?.includes(property) ?? false;
}
