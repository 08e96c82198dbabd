/** JSON with one spelling for each value: keys sorted, no spaces; numbers are decimal texts already, bytes lower-case hex. */
import { sameBytes } from "../encoding/bytes.ts";
import { readJson } from "../encoding/json.ts";
import { Fault } from "../fault.ts";

export type CanonicalJson = string | readonly CanonicalJson[] | { readonly [key: string]: CanonicalJson | undefined };

const maxDepth = 8;

/** Fields that are undefined are left out. */
export function writeCanonicalJson(value: CanonicalJson): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(textOf(value, 0));
}

/** Reads what `writeCanonicalJson` writes, and nothing else that means the same. */
export function readCanonicalJson(bytes: Uint8Array): CanonicalJson {
  const value = readJson(bytes);
  refuseOthers(value);
  const canonical = value as CanonicalJson;
  if (!sameBytes(writeCanonicalJson(canonical), bytes)) throw malformed("another spelling than the canonical one");
  return canonical;
}

function textOf(value: CanonicalJson, depth: number): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (depth === maxDepth) throw malformed(`nested deeper than ${maxDepth}`);
  if (isList(value)) return `[${value.map((item) => textOf(item, depth + 1)).join(",")}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  const texts = entries.flatMap(([key, item]) =>
    item === undefined ? [] : [`${JSON.stringify(key)}:${textOf(item, depth + 1)}`],
  );
  return `{${texts.join(",")}}`;
}

function isList(value: CanonicalJson): value is readonly CanonicalJson[] {
  return Array.isArray(value);
}

function refuseOthers(value: unknown): void {
  if (typeof value === "string") return;
  if (typeof value !== "object" || value === null) throw malformed("a value that is no text, list or object");
  for (const item of Object.values(value)) refuseOthers(item);
}

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed canonical JSON: ${why}`);
}
