/**
 * Why a value does not fit its schema, in the words clients know: the first reason alone. A body is as large as its sender
 * likes, so nothing behind that reason is looked at, and of a list that is too long not even its first element.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { TSchema } from "../fields/schema.ts";
import { codePointCount } from "../fields/text_length.ts";

/** What declarations of requests are made of; a test fails when one uses more. */
type Schema = {
  type?: keyof typeof isOfType;
  required?: readonly string[];
  properties?: Readonly<Record<string, Schema>>;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
};

const isOfType = {
  object: isObject,
  array: Array.isArray,
  string: (value: unknown) => typeof value === "string",
  boolean: (value: unknown) => typeof value === "boolean",
  integer: Number.isInteger,
  number: Number.isFinite,
  null: (value: unknown) => value === null,
};

/** Published texts for a value outside its enumeration, by the name of the field. */
const enumRefusals: Readonly<Record<string, string>> = {
  curve: "invalid curve",
  pathFormat: "invalid path format",
  addressFormat: "invalid address format",
  addressFormats: "invalid address format",
  encoding: "invalid payload encoding",
  hashFunction: "invalid hash function",
};

/** And for a field that is missing. */
const missingRefusals: Readonly<Record<string, string>> = {
  curve: "curve required",
  walletName: "missing wallet params",
  accounts: "missing wallet params",
  attestation: "missing parameter: user authenticator attestation",
};

/** For values whose validators were not written ahead: throws what `explainMismatch` says. */
export function checkSchema(schema: TSchema, value: unknown): void {
  if (firstMismatch(schema as Schema, value, "") !== undefined) throw explainMismatch(schema, value, "");
}

export function explainMismatch(schema: TSchema, value: unknown, prefix: string): Fault {
  const mismatch = firstMismatch(schema as Schema, value, prefix) ?? field(prefix, "does not fit");
  return new Fault("invalid_argument", `${beginningOf(mismatch)}: ${mismatch}`);
}

function beginningOf(mismatch: string): string {
  const missing = /^missing field `([^`]*)`$/.exec(mismatch)?.[1];
  if (missing !== undefined) return published(missingRefusals, missing);
  const path = /^field `([^`]*)` must be one of /.exec(mismatch)?.[1] ?? "";
  const name = path.split(".").findLast((part) => !/^[0-9]+$/.test(part)) ?? "";
  return published(enumRefusals, name);
}

function published(refusals: Readonly<Record<string, string>>, name: string): string {
  return (Object.hasOwn(refusals, name) ? refusals[name] : undefined) ?? "invalid request body";
}

function firstMismatch(schema: Schema, value: unknown, path: string): string | undefined {
  if (schema.type !== undefined && !isOfType[schema.type](value)) return field(path, `must be ${schema.type}`);
  return inside(schema, value, path) ?? amongChoices(schema, value, path);
}

function inside(schema: Schema, value: unknown, path: string): string | undefined {
  if (Array.isArray(value)) return inArray(schema, value, path);
  if (isObject(value)) return inObject(schema, value, path);
  if (typeof value === "string") return inText(schema, value, path);
  if (typeof value === "number") return inNumber(schema, value, path);
  return undefined;
}

function inObject({ required = [], properties = {} }: Schema, value: Record<string, unknown>, path: string) {
  const missing = required.find((name) => !(name in value));
  if (missing !== undefined) return `missing field \`${missing}\``;
  for (const [name, schema] of Object.entries(properties)) {
    const mismatch = value[name] === undefined ? undefined : firstMismatch(schema, value[name], below(path, name));
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}

function inArray({ minItems = 0, maxItems = Infinity, items }: Schema, value: readonly unknown[], path: string) {
  if (value.length < minItems) return field(path, `must not have fewer than ${minItems} items`);
  if (value.length > maxItems) return field(path, `must not have more than ${maxItems} items`);
  if (items === undefined) return undefined;
  for (const [index, element] of value.entries()) {
    const mismatch = firstMismatch(items, element, below(path, index));
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}

function inText({ minLength = 0, maxLength = Infinity, pattern }: Schema, value: string, path: string) {
  const length = codePointCount(value);
  if (length < minLength) return field(path, `must not have fewer than ${minLength} characters`);
  if (length > maxLength) return field(path, `must not have more than ${maxLength} characters`);
  if (pattern === undefined || new RegExp(pattern, "u").test(value)) return undefined;
  return field(path, "has characters that are not allowed");
}

function inNumber({ minimum = -Infinity, maximum = Infinity }: Schema, value: number, path: string) {
  if (value < minimum) return field(path, `must be >= ${minimum}`);
  return value > maximum ? field(path, `must be <= ${maximum}`) : undefined;
}

function amongChoices(schema: Schema, value: unknown, path: string): string | undefined {
  if ("const" in schema && value !== schema.const) return field(path, "must be equal to constant");
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    return field(path, `must be one of ${schema.enum.join(", ")}`);
  }
  const [first, ...others] = schema.anyOf ?? [];
  const mismatch = first && firstMismatch(first, value, path);
  if (mismatch === undefined || others.some((other) => firstMismatch(other, value, path) === undefined))
    return undefined;
  return mismatch;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function field(path: string, problem: string): string {
  return `field \`${path}\` ${problem}`;
}

function below(path: string, name: string | number): string {
  return path === "" ? `${name}` : `${path}.${name}`;
}
