/** JSON Schema to TypeScript text. */
import { isRequired, type JsonSchema, type ObjectSchema } from "./json_schema.ts";

export type TypeOptions = {
  /** What callers pass in takes any list; what they get back is theirs to change. */
  readonlyArrays: boolean;
};

export function typeDeclaration(name: string, schema: ObjectSchema, options: TypeOptions): string {
  return `${docComment(schema, "")}export type ${name} = ${typeText(schema, options, "")};\n`;
}

/** The type of a schema. `indent` is the indentation of the line it stands on. */
export function typeText(schema: JsonSchema, options: TypeOptions, indent = ""): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf !== undefined) return schema.anyOf.map((part) => typeText(part, options, indent)).join(" | ");
  if (schema.allOf !== undefined) {
    return schema.allOf.map((part) => parenthesised(typeText(part, options, indent))).join(" & ");
  }
  switch (schema.type) {
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "array": {
      const list = `${parenthesised(typeText(schema.items ?? {}, options, indent))}[]`;
      return options.readonlyArrays ? `readonly ${list}` : list;
    }
    case "object":
      return objectText(schema, options, indent);
    default:
      return "unknown";
  }
}

/** Unions and `readonly` lists bind less tightly than `[]` and `&`. */
function parenthesised(text: string): string {
  return /^readonly |^[^{]*\|/.test(text) ? `(${text})` : text;
}

function objectText(schema: JsonSchema, options: TypeOptions, indent: string): string {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) {
    const values = Object.values(schema.patternProperties ?? {});
    if (typeof schema.additionalProperties === "object") values.push(schema.additionalProperties);
    if (values.length > 0) {
      return `Record<string, ${values.map((value) => typeText(value, options, indent)).join(" | ")}>`;
    }
    return `Record<string, ${schema.additionalProperties === true ? "unknown" : "never"}>`;
  }
  const inner = `${indent}  `;
  const lines = properties.map(([name, property]) => {
    const optional = isRequired(schema, name) ? "" : "?";
    return `${docComment(property, inner)}${inner}${name}${optional}: ${typeText(property, options, inner)};`;
  });
  return `{\n${lines.join("\n")}\n${indent}}`;
}

function docComment({ description }: JsonSchema, indent: string): string {
  return description === undefined ? "" : `${indent}/** ${description.replaceAll("*/", "*\\/")} */\n`;
}
