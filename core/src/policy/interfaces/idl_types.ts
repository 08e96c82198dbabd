/**
 * The argument types of Anchor IDLs, which are Borsh's. Both ways of writing are read: `publicKey` and `pubkey`,
 * `{defined: "A"}` and `{defined: {name: "A"}}`, aliases as `type` and as `alias`. A type that we do not read refuses the
 * interface if an instruction needs it.
 */
import { createPace, type Work } from "../../work.ts";
import { quote } from "../position.ts";
import { addName, asList, asName, asObject, unusable } from "./interface_text.ts";

export type IdlInteger = { kind: "integer"; bits: number; signed: boolean };

export type IdlType =
  | { kind: "bool" | "bytes" | "string" | "publicKey" }
  | IdlInteger
  | { kind: "float"; bits: 32 | 64 }
  | { kind: "vec" | "option"; of: IdlType }
  | { kind: "array"; of: IdlType; length: number }
  | IdlFields
  | { kind: "enum"; variants: readonly IdlVariant[] };

/** Of a struct or a variant: by name, or by place. */
export type IdlFields =
  | { kind: "named"; fields: readonly { name: string; type: IdlType }[] }
  | { kind: "tuple"; types: readonly IdlType[] };

/** Without fields it is only a name. */
export type IdlVariant = { name: string; fields: IdlFields | undefined };

/** Types that are defined in terms of each other: more levels than this are refused. */
const maxNesting = 10;

const simple = new Map<string, IdlType>([
  ["bool", { kind: "bool" }],
  ["bytes", { kind: "bytes" }],
  ["string", { kind: "string" }],
  ["publicKey", { kind: "publicKey" }],
  ["pubkey", { kind: "publicKey" }],
  ["f32", { kind: "float", bits: 32 }],
  ["f64", { kind: "float", bits: 64 }],
]);
for (const bits of [8, 16, 32, 64, 128]) {
  simple.set(`u${bits}`, { kind: "integer", bits, signed: false });
  simple.set(`i${bits}`, { kind: "integer", bits, signed: true });
}

type Definition = Readonly<Record<string, unknown>>;
type Definitions = ReadonlyMap<string, Definition>;

/** Gives the type that some JSON of an IDL describes. `where` is for the refusal. */
export type TypeReader = (json: unknown, where: string) => IdlType;

/** Reads `types`, refuses definitions that lead back to themselves, and gives a reader of types that may use them. */
export function* creatingTypeReader(types: readonly unknown[]): Work<TypeReader> {
  const definitions = new Map<string, Definition>();
  const names = new Set<string>();
  for (const [i, item] of types.entries()) {
    const definition = asObject(item, `type ${i}`);
    // Types of modules may have their path in front.
    const { name } = definition;
    if (typeof name !== "string" || name === "" || name.length > 256) throw unusable(`type ${i} has no name`);
    addName(names, name, "`types`");
    definitions.set(name, definition);
  }
  const depths = yield* findingDepths(definitions);
  const known = new Map<string, IdlType>();

  const readDefined = (name: string, where: string): IdlType => {
    const made = known.get(name);
    if (made !== undefined) return made;
    const definition = definitions.get(name);
    if (definition === undefined) throw unusable(`${where} has the type \`${name}\`, which is not in \`types\``);
    if ((depths.get(name) ?? 0) > maxNesting)
      throw unusable(`the type \`${name}\` is nested deeper than ${maxNesting}`);
    const type = readDefinition(readType, definition, `the type \`${name}\``);
    known.set(name, type);
    return type;
  };

  const readType: TypeReader = (json, where) => {
    if (typeof json === "string") return simple.get(json) ?? unsupported(where, json);
    const entries = Object.entries(asObject(json, `the type of ${where}`));
    const [[kind, value] = ["", undefined]] = entries;
    if (entries.length !== 1) return unsupported(where);
    if (kind === "vec" || kind === "option") return { kind, of: readType(value, where) };
    if (kind === "array") return readArray(readType, value, where);
    return kind === "defined" ? readDefined(definedName(value) ?? unsupported(where), where) : unsupported(where, kind);
  };
  return readType;
}

function unsupported(where: string, type?: string): never {
  throw unusable(`${where} has ${type === undefined ? "a type" : `the type ${quote(type)}`} that is not supported`);
}

function readArray(readType: TypeReader, value: unknown, where: string): IdlType {
  const [of, length, ...rest] = asList(value, `the array of ${where}`);
  if (typeof length !== "number" || !Number.isSafeInteger(length) || length < 0 || rest.length > 0) {
    return unsupported(where);
  }
  return { kind: "array", of: readType(of, where), length };
}

/** The name behind `defined`; undefined for types with parameters, which we do not read. */
function definedName(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  const { name, generics = [] } = asObject(value, "a defined type");
  return typeof name === "string" && asList(generics, "`generics`").length === 0 ? name : undefined;
}

function readDefinition(readType: TypeReader, definition: Definition, where: string): IdlType {
  const { type, serialization = "borsh", generics = [] } = definition;
  if (serialization !== "borsh" || asList(generics, `the generics of ${where}`).length > 0) return unsupported(where);
  const { kind, fields, variants, alias, value } = asObject(type, where);
  if (kind === "struct") return readFields(readType, fields ?? [], where);
  if (kind === "enum") return readEnum(readType, asList(variants, `the variants of ${where}`), where);
  if (kind === "type" || kind === "alias") return readType(alias ?? value, where);
  return unsupported(where);
}

/** Named fields are objects with a name; all else is a tuple's types. */
function readFields(readType: TypeReader, json: unknown, where: string): IdlFields {
  const fields = asList(json, `the fields of ${where}`);
  const isNamed = (field: unknown) => typeof field === "object" && field !== null && Object.hasOwn(field, "name");
  if (fields.length > 0 && !fields.some(isNamed)) {
    return { kind: "tuple", types: fields.map((field, i) => readType(field, `field ${i} of ${where}`)) };
  }
  return { kind: "named", fields: readNamed(readType, fields, where) };
}

/** Fields of a struct or arguments of an instruction: no name twice. */
export function readNamed(
  readType: TypeReader,
  fields: readonly unknown[],
  where: string,
): readonly { name: string; type: IdlType }[] {
  const names = new Set<string>();
  return fields.map((item, i) => {
    const field = asObject(item, `field ${i} of ${where}`);
    const name = asName(field.name, `the name of field ${i} of ${where}`);
    addName(names, name, where);
    return { name, type: readType(field.type, `\`${name}\` of ${where}`) };
  });
}

function readEnum(readType: TypeReader, variants: readonly unknown[], where: string): IdlType {
  // The tag is one byte.
  if (variants.length > 256) throw unusable(`${where} has more than 256 variants`);
  const names = new Set<string>();
  return {
    kind: "enum",
    variants: variants.map((item, i) => {
      const { name: own, fields } = asObject(item, `variant ${i} of ${where}`);
      const name = asName(own, `the name of variant ${i} of ${where}`);
      addName(names, name, where);
      const isBare = fields === undefined || fields === null || (Array.isArray(fields) && fields.length === 0);
      return { name, fields: isBare ? undefined : readFields(readType, fields, `\`${name}\` of ${where}`) };
    }),
  };
}

/** How many definitions deep each one is, itself included. One that leads back to itself has no end and is refused. */
function* findingDepths(definitions: Definitions): Work<ReadonlyMap<string, number>> {
  const depths = new Map<string, number>();
  const open = new Set<string>();
  const depthOf = (name: string): number => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    const definition = definitions.get(name);
    if (definition === undefined) return 0;
    if (open.has(name)) throw unusable(`the type \`${name}\` contains itself`);
    // Deeper than this is refused anyway if it is used; without a bound, a chain of thousands would exhaust the stack.
    if (open.size > maxDefinitionChain) throw unusable(`the type \`${name}\` is nested deeper than ${maxNesting}`);
    open.add(name);
    let depth = 1;
    for (const next of referencesIn(definition.type)) depth = Math.max(depth, 1 + depthOf(next));
    open.delete(name);
    depths.set(name, depth);
    return depth;
  };
  const pace = createPace(definitionsAtOnce);
  for (const name of definitions.keys()) {
    depthOf(name);
    if (pace(1)) yield;
  }
  return depths;
}

const maxDefinitionChain = 100;
/** Definitions that are looked into between two pauses. */
const definitionsAtOnce = 20;

/** The names behind every `defined` inside, whether or not we read what is around it. */
function referencesIn(json: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, part] of Object.entries(value)) {
      const isName = key === "defined" && typeof part === "string";
      const name = isName ? part : key === "defined" ? (part as { name?: unknown } | null)?.name : undefined;
      if (typeof name === "string") names.add(name);
      walk(part);
    }
  };
  walk(json);
  return names;
}
