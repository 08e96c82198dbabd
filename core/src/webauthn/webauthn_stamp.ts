/**
 * The `X-Stamp-Webauthn` header: JSON {authenticatorData, clientDataJson, credentialId, signature}, an assertion by a
 * passkey over the body's hash. As with API keys, reading it costs no curve arithmetic and nothing of the assertion is
 * parsed, because nothing is known yet about whoever sent it; refusals use the published texts.
 */
import { fromBase64url, toBase64url } from "../encoding/base64url.ts";
import { toHex } from "../encoding/hex.ts";
import { readJson } from "../encoding/json.ts";
import { Fault } from "../fault.ts";
import type { Assertion } from "./verify_assertion.ts";

/** A stamp whose parts are well-formed base64url. Whose passkey it is, and whether it verifies, is still open. */
export type WebauthnStamp = Assertion & {
  /** Base64url of the raw id: the spelling under which passkeys are stored and looked up. */
  credentialId: string;
};

/** The published refusal of an assertion that does not verify, `why` for the log. */
export function unverifiedAssertion(why: string): Fault {
  return refusal("could not verify WebAuthN signature", why);
}

/** An assertion with an RSA signature takes about 1,500 characters; client data may be 4 KiB. */
const maxHeaderLength = 12 * 1024;
/** Four fields, and what later clients may add. */
const maxMarks = 1_000;
const fields = ["authenticatorData", "clientDataJson", "credentialId", "signature"] as const;

const utf8 = new TextEncoder();

/** Reads an `X-Stamp-Webauthn` header, or throws `unauthenticated` with a published text. */
export function parseWebauthnStamp(headerValue: string): WebauthnStamp {
  if (headerValue.length > maxHeaderLength) throw unreadable("header too long");
  try {
    const { credentialId, ...assertion } = readFields(headerValue);
    if (credentialId.length === 0) throw new Fault("invalid_argument", "the credential id is empty");
    return { credentialId: toBase64url(credentialId), ...assertion };
  } catch (cause) {
    throw unreadable(cause);
  }
}

/** Unknown extra keys are tolerated, as clients may grow; duplicated or mistyped ones are not. */
function readFields(headerValue: string): Record<(typeof fields)[number], Uint8Array> {
  const value = readJson(utf8.encode(headerValue), maxHeaderLength, maxMarks);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Fault("invalid_argument", "not an object");
  }
  const read = (name: (typeof fields)[number]): Uint8Array => {
    const text = (value as Record<string, unknown>)[name];
    if (typeof text !== "string") throw new Fault("invalid_argument", `${name} is missing or not a string`);
    return fromBase64url(text);
  };
  return {
    authenticatorData: read("authenticatorData"),
    clientDataJson: read("clientDataJson"),
    credentialId: read("credentialId"),
    signature: read("signature"),
  };
}

/**
 * The challenge over a body, from the SHA-256 of its bytes: base64url of the 64 hex digits as text, not of the 32 bytes.
 * That is what the published clients hand to the browser.
 */
export function stampChallenge(bodyDigest: Uint8Array): string {
  return toBase64url(utf8.encode(toHex(bodyDigest)));
}

function unreadable(cause: unknown): Fault {
  return refusal("could not extract webauthn stamp", cause instanceof Error ? cause.message : String(cause));
}

function refusal(message: string, detail: string): Fault {
  return new Fault("unauthenticated", message, { errorCode: "SIGNATURE_INVALID", detail });
}
