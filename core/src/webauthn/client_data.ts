/**
 * Client data (WebAuthn Level 3, section 5.8.1): what the browser says about a ceremony. It is parsed, never compared as
 * text: browsers add keys to it at random, so unknown keys pass, and `tokenBinding` with them.
 */
import { readJson } from "../encoding/json.ts";
import { Fault } from "../fault.ts";

export type ClientData = {
  type: string;
  challenge: string;
  origin: string;
  /** The page around the frame that asked; empty where nothing says which, and undefined where there was no frame of another origin. */
  topOrigin: string | undefined;
};

/** About 250 bytes are usual; it goes into the log with every stamp. */
const maxBytes = 4096;
const maxMarks = 200;

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed client data: ${why}`);
}

/** Reads the JSON that the browser made; a doubled key, at any depth, is refused. */
export function parseClientData(bytes: Uint8Array): ClientData {
  const value = readDocument(bytes);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed("not an object");
  const { type, challenge, origin, ...frame } = value as Partial<Record<string, unknown>>;
  if (typeof type !== "string" || typeof challenge !== "string" || typeof origin !== "string") {
    throw malformed("type, challenge or origin is missing or not text");
  }
  return { type, challenge, origin, topOrigin: topOriginOf(frame) };
}

/** A browser says `crossOrigin` true or false. Anything else is taken for a frame: a list of origins then refuses it. */
function topOriginOf({ crossOrigin, topOrigin }: Partial<Record<string, unknown>>): string | undefined {
  const page = topOrigin ?? undefined;
  if (page === undefined && (crossOrigin ?? false) === false) return undefined;
  return typeof page === "string" ? page : "";
}

function readDocument(bytes: Uint8Array): unknown {
  try {
    return readJson(bytes, maxBytes, maxMarks);
  } catch (cause) {
    // Its message speaks of the request's body, which this is not.
    throw malformed(cause instanceof Fault && cause.detail !== undefined ? cause.detail : "not JSON");
  }
}

/**
 * Challenges are compared as text, because one published client sends hex digits where base64url belongs. Browsers write
 * base64url without padding; other clients pad or use the plain alphabet.
 */
export function isSameChallenge(one: string, other: string): boolean {
  return one === other || unpaddedUrl(one) === unpaddedUrl(other);
}

function unpaddedUrl(text: string): string {
  return text
    .replace(/={1,2}$/, "")
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}
