/** The least value that fits a schema of requests: enough to get past the validators, and for nothing else. */
import type { TSchema } from "../src/fields/schema.ts";

type Schema = {
  type?: string;
  required?: readonly string[];
  properties?: Readonly<Record<string, Schema>>;
  minItems?: number;
  items?: Schema;
  minLength?: number;
  pattern?: string;
  minimum?: number;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
};

/** Texts that fit the patterns of ids, hex, fingerprints and names. */
const texts = ["a", "00", "0f4c7c2e-6a52-4f6e-9d0e-7d5d3d8d1c11", `sha256:${"0".repeat(64)}`, "1", "m/0"];

export function sampleOf(schema: TSchema): unknown {
  return sample(schema as Schema);
}

function sample(schema: Schema): unknown {
  if ("const" in schema) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return sample(schema.anyOf[0] ?? {});
  if (schema.type === "object") {
    const { required = [], properties = {} } = schema;
    return Object.fromEntries(required.map((name) => [name, sample(properties[name] ?? {})]));
  }
  if (schema.type === "array") return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items ?? {}));
  if (schema.type === "string") return text(schema);
  if (schema.type === "boolean") return false;
  if (schema.type === "null") return null;
  return Math.max(schema.minimum ?? 0, 1);
}

function text({ minLength = 0, pattern }: Schema): string {
  const fits = (value: string) => value.length >= minLength && (!pattern || new RegExp(pattern, "u").test(value));
  return texts.find(fits) ?? "a".repeat(minLength);
}
