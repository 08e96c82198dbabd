/**
 * How parameters and answers are declared: in TypeBox's words and with its types, but without TypeBox. The validators are written
 * ahead by `npm run generate`, so at run time a declaration only describes: one small file instead of 370 foreign modules in the
 * process with the keys, and servers that start sooner.
 */
import type TypeBox from "typebox";

export type { Static, TObject, TSchema, TUnsafe } from "typebox";

type Words =
  | ("Array" | "Boolean" | "Enum" | "Integer" | "Literal" | "Null" | "Number" | "Object" | "Optional" | "Record")
  | ("String" | "Union" | "Unknown" | "Unsafe");
type Schema = object;

/** In a declaration an optional field looks like any other; the object around it says which are required. */
const optionals = new WeakSet<Schema>();

const words: Record<Words, (...given: never[]) => Schema> = {
  Array: (items: Schema, options?: object) => ({ type: "array", items, ...options }),
  Boolean: (options?: object) => ({ type: "boolean", ...options }),
  Enum: (values: readonly string[], options?: object) => {
    // As an object, which TypeBox knows too, it would become a check that lets everything through.
    if (!Array.isArray(values)) throw new Error("an enumeration is declared as a list");
    return { enum: values, ...options };
  },
  Integer: (options?: object) => ({ type: "integer", ...options }),
  Literal: (value: string | number | boolean, options?: object) => ({ type: typeof value, const: value, ...options }),
  Null: (options?: object) => ({ type: "null", ...options }),
  Number: (options?: object) => ({ type: "number", ...options }),
  Object: (properties: Record<string, Schema>, options?: object) => ({
    type: "object",
    ...requiredOf(properties),
    properties,
    ...options,
  }),
  Optional: (schema: Schema) => {
    const optional = { ...schema };
    optionals.add(optional);
    return optional;
  },
  Record: (key: Schema, value: Schema, options?: object) => {
    if (JSON.stringify(key) !== '{"type":"string"}') throw new Error("the keys of a record are declared as any text");
    return { type: "object", patternProperties: { "^.*$": value }, ...options };
  },
  String: (options?: object) => ({ type: "string", ...options }),
  Union: (anyOf: readonly Schema[], options?: object) => ({ anyOf, ...options }),
  Unknown: (options?: object) => ({ ...options }),
  Unsafe: (schema: Schema) => schema,
};

export const Type = words as unknown as Pick<typeof TypeBox, Words>;

function requiredOf(properties: Record<string, Schema>): { required?: string[] } {
  const required = Object.keys(properties).filter((name) => !optionals.has(properties[name] as Schema));
  return required.length === 0 ? {} : { required };
}
