/** Small changes that mutators of every stage make. */
import type { Random } from "../../../core/test/seeded_random.ts";

export function flipBit(bytes: Buffer, { below }: Random): Buffer {
  const bent = Buffer.from(bytes);
  const at = below(bent.length);
  bent[at] = (bent[at] ?? 0) ^ (1 << below(8));
  return bent;
}

export function putIn(bytes: Buffer, at: number, what: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, at), what, bytes.subarray(at)]);
}

export function putInText(text: string, at: number, what: string): string {
  return text.slice(0, at) + what + text.slice(at);
}

/** Where a key or a value of a JSON text begins: behind a bracket, comma or colon that is not in a string. */
export function placesIn(text: string, marks: string): number[] {
  const places: number[] = [];
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    if (inString && char === "\\") at++;
    else if (char === '"') inString = !inString;
    else if (!inString && marks.includes(char)) places.push(at + 1);
  }
  return places;
}

/** All places inside a value, as the holder and the key under which it is there. */
// biome-ignore lint/suspicious/noExplicitAny: any JSON.
export function slotsOf(value: any): [holder: any, key: string][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[value, key] as [unknown, string], ...slotsOf(inner)]);
}
