/**
 * The types of contract ABIs. A type knows its canonical name, which selectors are hashes of, and how many words it takes
 * where it stands: a static type all of its own, a dynamic one an offset to the rest.
 */
import type { Fault } from "../../fault.ts";
import type { Pace, Work } from "../../work.ts";
import { quote } from "../position.ts";
import { asList, asObject, unusable } from "./interface_text.ts";

export type AbiAtom =
  | { kind: "uint" | "int"; bits: number }
  | { kind: "address" | "bool" }
  /** `bytes1` to `bytes32`, and `function`, which is an address and a selector. */
  | { kind: "fixedBytes"; length: number };

export type AbiType = {
  /** As selectors know it: aliases resolved, tuples as their parts in parentheses. */
  canonical: string;
  /** Undefined for dynamic types. */
  staticWords: number | undefined;
} & (
  | { kind: "atom"; atom: AbiAtom }
  | { kind: "bytes" | "string" }
  /** Without a length it says its own. */
  | { kind: "array"; of: AbiType; length: number | undefined }
  | { kind: "tuple"; of: readonly AbiType[] }
);

/** Calls beyond 1 MiB are not read, so a type that takes more where it stands has no value. */
const maxStaticWords = 32 * 1024;
/** Arrays in arrays and tuples in tuples: reading a call recurses this deep and no deeper, whatever the call says. */
const maxNesting = 16;

const atoms = new Map<string, AbiAtom>([
  ["address", { kind: "address" }],
  ["bool", { kind: "bool" }],
  ["function", { kind: "fixedBytes", length: 24 }],
]);
for (let length = 1; length <= 32; length++) {
  atoms.set(`bytes${length}`, { kind: "fixedBytes", length });
  atoms.set(`uint${8 * length}`, { kind: "uint", bits: 8 * length });
  atoms.set(`int${8 * length}`, { kind: "int", bits: 8 * length });
}

/** Compilers write the long names; people write these, and mean the same selector. */
const aliases = new Map([
  ["uint", "uint256"],
  ["int", "int256"],
]);

/** Reads a parameter's `type` and, for tuples, its `components`, with pauses. `where` is for the refusal. */
export function* readingAbiType(
  parameter: Readonly<Record<string, unknown>>,
  where: string,
  pace: Pace,
  depth = 0,
): Work<AbiType> {
  if (pace(1)) yield;
  const { type, components } = parameter;
  if (typeof type !== "string" || type.length > 256) throw unusable(`${where} has no type`);
  const bracket = type.indexOf("[");
  const base = bracket < 0 ? type : type.slice(0, bracket);
  const lengths = bracket < 0 ? [] : parseLengths(type, bracket, where);
  if (depth + lengths.length >= maxNesting) throw unusable(`${where} is nested deeper than ${maxNesting}`);
  if (base !== "tuple" && asList(components ?? [], `the components of ${where}`).length > 0) {
    throw unusable(`${where} has components, but is no tuple`);
  }
  const innermost =
    base === "tuple" ? yield* readingTuple(components, where, pace, depth + lengths.length) : parseBase(base, where);
  return lengths.reduce((of, length) => arrayOf(of, length, where), innermost);
}

function unknown(type: string, where: string): Fault {
  return unusable(`${where} has the unknown type ${quote(type)}`);
}

/** `[2][]` → 2, then none: what stands first is the innermost array. */
function parseLengths(type: string, bracket: number, where: string): readonly (number | undefined)[] {
  const brackets = type.slice(bracket);
  // Lengths of zero exist in no language; they would let a call claim a million items that take no space.
  if (!/^(?:\[(?:[1-9][0-9]{0,4})?\])+$/.test(brackets)) throw unknown(type, where);
  return [...brackets.matchAll(/\[([0-9]*)\]/g)].map(([, digits]) => (digits === "" ? undefined : Number(digits)));
}

function parseBase(base: string, where: string): AbiType {
  if (base === "bytes" || base === "string") return { kind: base, canonical: base, staticWords: undefined };
  const canonical = aliases.get(base) ?? base;
  const atom = atoms.get(canonical);
  if (atom === undefined) throw unknown(base, where);
  return { kind: "atom", atom, canonical, staticWords: 1 };
}

function* readingTuple(components: unknown, where: string, pace: Pace, depth: number): Work<AbiType> {
  const parts = asList(components, `the components of ${where}`);
  if (parts.length === 0) throw unusable(`${where} is a tuple of nothing`);
  // Policies count the parts of a tuple, so their names are neither needed nor shown.
  const types: AbiType[] = [];
  for (const [i, part] of parts.entries()) {
    types.push(yield* readingAbiType(asObject(part, where), `${where}[${i}]`, pace, depth + 1));
  }
  return tupleOf(types);
}

/** Several values behind each other: a tuple, or the inputs of a function. */
export function tupleOf(of: readonly AbiType[]): AbiType {
  const canonical = `(${of.map((part) => part.canonical).join(",")})`;
  const isStatic = of.every(({ staticWords }) => staticWords !== undefined);
  const staticWords = isStatic ? of.reduce((sum, part) => sum + (part.staticWords ?? 0), 0) : undefined;
  return { kind: "tuple", of, canonical, staticWords };
}

function arrayOf(of: AbiType, length: number | undefined, where: string): AbiType {
  const staticWords = length === undefined || of.staticWords === undefined ? undefined : length * of.staticWords;
  if ((staticWords ?? 0) > maxStaticWords) throw unusable(`${where} is larger than any call`);
  return { kind: "array", of, length, canonical: `${of.canonical}[${length ?? ""}]`, staticWords };
}
