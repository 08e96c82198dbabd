/** A second opinion for tests: ABI types from their text, and values written by the specification's own recursive rule. */
import assert from "node:assert/strict";
import { EvmText, type Value } from "../src/policy/values/values.ts";

export type Parameter = { name: string; type: string; components?: readonly Parameter[] };

/** `(address,uint8[2])[]` → the parameter that JSON has for it. */
export function parameterOf(text: string, name = ""): Parameter {
  if (!text.startsWith("(")) return { name, type: text };
  const end = text.lastIndexOf(")");
  return {
    name,
    type: `tuple${text.slice(end + 1)}`,
    components: splitTypes(text.slice(1, end)).map((part) => parameterOf(part)),
  };
}

/** The types of a list, without splitting those inside parentheses. */
export function splitTypes(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = "";
  for (const letter of text) {
    if (letter === "," && depth === 0) {
      parts.push(part);
      part = "";
      continue;
    }
    if (letter === "(") depth++;
    if (letter === ")") depth--;
    part += letter;
  }
  return part === "" ? parts : [...parts, part];
}

function isDynamic({ type, components = [] }: Parameter): boolean {
  if (type.endsWith("[]")) return true;
  const [, item] = /^(.*)\[\d+\]$/.exec(type) ?? [];
  if (item !== undefined) return isDynamic({ name: "", type: item, components });
  return type === "string" || type === "bytes" || (type === "tuple" && components.some(isDynamic));
}

const word = (value: bigint) => BigInt.asUintN(256, value).toString(16).padStart(64, "0");
const padded = (hex: string) => hex.padEnd(64 * Math.ceil(hex.length / 64), "0");

/** Hex of values behind each other. */
export function encodeAll(parameters: readonly Parameter[], values: readonly Value[]): string {
  const parts = parameters.map((parameter, i) => ({
    isDynamic: isDynamic(parameter),
    hex: encode(parameter, values[i] as Value),
  }));
  let offset = parts.reduce((sum, { isDynamic, hex }) => sum + (isDynamic ? 32 : hex.length / 2), 0);
  let heads = "";
  let tails = "";
  for (const { isDynamic, hex } of parts) {
    heads += isDynamic ? word(BigInt(offset)) : hex;
    if (!isDynamic) continue;
    tails += hex;
    offset += hex.length / 2;
  }
  return heads + tails;
}

function encode({ type, components = [] }: Parameter, value: Value): string {
  const [, item, digits] = /^(.*)\[(\d*)\]$/.exec(type) ?? [];
  if (item !== undefined) {
    const items = value as readonly Value[];
    const inner = encodeAll(
      items.map(() => ({ name: "", type: item, components })),
      items,
    );
    if (digits !== "") assert.equal(items.length, Number(digits));
    return digits === "" ? word(BigInt(items.length)) + inner : inner;
  }
  if (type === "tuple") return encodeAll(components, value as readonly Value[]);
  if (type === "bool") return word(value === true ? 1n : 0n);
  if (/^u?int/.test(type)) return word(value as bigint);
  if (type === "string") return counted(Buffer.from(value as string, "utf8").toString("hex"));
  assert.ok(value instanceof EvmText);
  const hex = value.text.slice(2);
  if (type === "bytes") return counted(hex);
  return type === "address" ? hex.padStart(64, "0") : padded(hex);
}

function counted(hex: string): string {
  return word(BigInt(hex.length / 2)) + padded(hex);
}
