/** Reading the parts of tokens and key sets: strict base64url and strict JSON, so that they mean the same to every reader. */
import { fromBase64url } from "../encoding/base64url.ts";
import { readJson } from "../encoding/json.ts";

const urlAlphabet = /^[A-Za-z0-9_-]*$/;

/** Base64url as RFC 7515 has it: no padding, no second alphabet, no bits left over. Undefined for anything else. */
export function strictBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!urlAlphabet.test(text)) return undefined;
  try {
    return fromBase64url(text);
  } catch {
    return undefined;
  }
}

/** The members of a JSON object; undefined for anything else, or for more of it than was bargained for. */
export function readObject(
  bytes: Uint8Array,
  maxBytes: number,
  maxMarks: number,
): Readonly<Record<string, unknown>> | undefined {
  try {
    return asObject(readJson(bytes, maxBytes, maxMarks));
  } catch {
    return undefined;
  }
}

export function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return value as Readonly<Record<string, unknown>>;
}

/** Own members only: names that every object has from JavaScript are no members of a token. */
export function memberOf(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
