/** Holds JSON values against the published document, modulo the table of differences. Complains in full, never throws. */
import { type Loosened, loosened, renamedProperties, renamedValues, type Spelling } from "./differences.ts";
import type { Schema, SwaggerDocument } from "./document.ts";
import { patterns } from "./patterns.ts";

/** What is wrong, each with the place it is wrong at; empty when nothing is. */
export type Complaints = string[];

export type Direction = "request" | "response";

/** Words of the document that say nothing about values. */
const remarks = new Set(["description", "title", "x-nullable"]);
const words = new Set(["type", "$ref", "properties", "required", "items", "enum", "format", "additionalProperties"]);

export type Checker = {
  /** A value against a definition by its name. */
  definition(name: string, value: unknown, direction: Direction, spelling: Spelling): Complaints;
  /** A body sent to a path. */
  request(path: string, body: unknown, spelling: Spelling): Complaints;
  /** What a path answered with 200. */
  response(path: string, body: unknown, spelling: Spelling): Complaints;
};

export function createChecker(document: SwaggerDocument): Checker {
  const schemaOf = (path: string, direction: Direction): Schema | undefined => {
    const operation = document.paths[path]?.post;
    return direction === "request" ? operation?.parameters[0].schema : operation?.responses[200].schema;
  };
  const at = (path: string, body: unknown, direction: Direction, spelling: Spelling): Complaints => {
    const schema = schemaOf(path, direction);
    if (schema === undefined) return [`the document has no path ${path}`];
    return check({ document, direction, spelling, where: "", definition: "", free: false }, schema, body);
  };
  return {
    definition: (name, value, direction, spelling) =>
      check(
        { document, direction, spelling, where: "", definition: "", free: false },
        { $ref: `#/definitions/${name}` },
        value,
      ),
    request: (path, body, spelling) => at(path, body, "request", spelling),
    response: (path, body, spelling) => at(path, body, "response", spelling),
  };
}

type Place = {
  document: SwaggerDocument;
  direction: Direction;
  spelling: Spelling;
  where: string;
  /** The definition whose properties these are. */
  definition: string;
  /** Inside an intent, where ids are whatever a caller sent. */
  free: boolean;
};

function check(place: Place, schema: Schema, value: unknown): Complaints {
  for (const word of Object.keys(schema)) {
    if (!words.has(word) && !remarks.has(word)) return [`${place.where}: the checker does not know \`${word}\``];
  }
  if (value === null && schema["x-nullable"] === true) return [];
  if (schema.$ref !== undefined) return checkReference(place, schema.$ref, value);
  if (schema.enum !== undefined) return checkEnum(place, schema.enum, value);
  switch (schema.type) {
    case "object":
      return isRecord(value) ? checkObject(place, schema, value) : [complaint(place, "must be an object", value)];
    case "array":
      if (!Array.isArray(value)) return [complaint(place, "must be an array", value)];
      return value.flatMap((item, index) => check(deeper(place, String(index)), schema.items ?? {}, item));
    case "string":
      return checkText(place, schema.format, value);
    case "integer":
      return checkInteger(place, schema.format, value);
    case "boolean":
    case "number":
      return typeof value === schema.type ? [] : [complaint(place, `must be a ${schema.type}`, value)];
    default:
      return [];
  }
}

function checkReference(place: Place, reference: string, value: unknown): Complaints {
  const definition = reference.slice("#/definitions/".length);
  const schema = place.document.definitions[definition];
  if (schema === undefined) return [`${place.where}: the document has no definition ${definition}`];
  return check({ ...place, definition, free: place.free || definition === "Intent" }, schema, value);
}

function checkEnum(place: Place, published: readonly string[], value: unknown): Complaints {
  const renamed = renamedValues.filter(({ definition }) => definition === place.definition);
  const own = published.map((name) => renamed.find((row) => row.published === name)?.own ?? name);
  const allowed = allowedNames(place, published, own);
  return typeof value === "string" && allowed.includes(value)
    ? []
    : [complaint(place, `must be one of ${allowed.slice(0, 5).join(", ")}…`, value)];
}

/** Inputs accept both spellings always; answers keep to the one that was asked for. */
function allowedNames({ direction, spelling }: Place, published: readonly string[], own: readonly string[]) {
  if (direction === "request") return [...new Set([...published, ...own])];
  return spelling === "published" ? published : own;
}

function checkObject(place: Place, { properties, required, additionalProperties }: Schema, value: object): Complaints {
  const ours = (published: string) => spelt(place, published);
  const schemas = new Map(Object.entries(properties ?? {}).map(([name, schema]) => [ours(name), schema]));
  const missing = (required ?? [])
    .map(ours)
    .filter((name) => !Object.hasOwn(value, name) && !loosenedRow(place, name)?.accepts(undefined))
    .map((name) => `${deeper(place, name).where}: missing`);
  const wrong = Object.entries(value).flatMap(([name, member]) => {
    const inside = deeper(place, name);
    const row = loosenedRow(place, name);
    if (row?.accepts(member)) return [];
    if (row?.isInstead) return [complaint(inside, `must be otherwise (${row.why})`, member)];
    const schema = schemas.get(name) ?? additionalProperties;
    if (schema === undefined) return [`${inside.where}: the document has no such field in ${place.definition}`];
    return [...check(inside, schema, member), ...checkPattern(place, name, member)];
  });
  return [...missing, ...wrong];
}

function spelt({ definition, spelling }: Place, published: string): string {
  if (spelling === "published") return published;
  const row = renamedProperties.find((row) => row.definition === definition && row.published === published);
  return row?.own ?? published;
}

function loosenedRow({ definition, spelling }: Place, property: string): Loosened | undefined {
  return loosened.find(
    (row) =>
      row.definition === definition &&
      row.property === property &&
      (row.spelling === undefined || row.spelling === spelling),
  );
}

/** Only in answers: a caller may ask for any id, and hears that there is none. */
function checkPattern(place: Place, name: string, value: unknown): Complaints {
  if (place.direction === "request" || place.free) return [];
  const rules = patterns.filter(
    ({ definition, property }) => (definition === undefined || definition === place.definition) && property.test(name),
  );
  const texts = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === "string");
  return rules.flatMap(({ pattern }) =>
    texts
      .filter((text) => !pattern.test(text))
      .map((text) => complaint(deeper(place, name), `must match ${pattern}`, text)),
  );
}

const textFormats: Partial<Record<NonNullable<Schema["format"]>, RegExp>> = {
  uint64: /^(0|[1-9][0-9]{0,19})$/,
  int64: /^(0|-?[1-9][0-9]{0,18})$/,
  byte: /^[A-Za-z0-9+/]*={0,2}$/,
};

function checkText(place: Place, format: Schema["format"], value: unknown): Complaints {
  if (typeof value !== "string") return [complaint(place, "must be a string", value)];
  const pattern = format && textFormats[format];
  return pattern === undefined || pattern.test(value) ? [] : [complaint(place, `must be a ${format} in text`, value)];
}

function checkInteger(place: Place, format: Schema["format"], value: unknown): Complaints {
  const limit = format === "int32" ? 2 ** 31 - 1 : Number.MAX_SAFE_INTEGER;
  return Number.isInteger(value) && Math.abs(value as number) <= limit
    ? []
    : [complaint(place, `must be an ${format}`, value)];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function deeper(place: Place, name: string): Place {
  return { ...place, where: place.where === "" ? name : `${place.where}.${name}` };
}

function complaint({ where }: Place, why: string, value: unknown): string {
  return `${where === "" ? "the body" : where}: ${why}, and is ${JSON.stringify(value)?.slice(0, 100)}`;
}
