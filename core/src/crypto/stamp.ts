/**
 * The `X-Stamp` header: base64url of JSON {publicKey, scheme, signature}, a signature over the exact body bytes.
 * This runs on every request before anything is known about the caller, so it does no curve arithmetic that an
 * unregistered key could make us pay for; refusals use the published texts, because clients match them.
 */
import { fromBase64url } from "../encoding/base64url.ts";
import { parseEcdsaDer } from "../encoding/der.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { readJson } from "../encoding/json.ts";
import { Fault } from "../fault.ts";
import { type ApiKeyCurve, type ApiKeyCurveRow, apiKeyCurves } from "./api_key.ts";
import type { Curves, PointCompression } from "./curves.ts";

export type StampScheme =
  | "SIGNATURE_SCHEME_TK_API_P256"
  | "SIGNATURE_SCHEME_TK_API_SECP256K1"
  | "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191"
  | "SIGNATURE_SCHEME_TK_API_ED25519";

/** A stamp whose parts are well-formed. Whose key it is, and whether it verifies, is still open. */
export type Stamp = {
  scheme: StampScheme;
  curve: ApiKeyCurve;
  /** The stored spelling of the key: look it up together with `curve`, never with `scheme`. */
  publicKey: string;
  publicKeyBytes: Uint8Array;
  /** 64 bytes: r‖s, or the Ed25519 signature. */
  signature: Uint8Array;
};

export type StampSchemeRow = {
  curve: ApiKeyCurve;
  parseSignature(bytes: Uint8Array): Uint8Array;
  verify(curves: Curves, publicKey: Uint8Array, body: Uint8Array, signature: Uint8Array): boolean;
};

/** One row per scheme. Both secp256k1 schemes speak for the same registered key; they differ in what they digest. */
export const stampSchemes = {
  SIGNATURE_SCHEME_TK_API_P256: {
    curve: "API_KEY_CURVE_P256",
    parseSignature: parseEcdsaDer,
    verify: (curves, key, body, signature) => curves.verifyP256(key, body, signature),
  },
  SIGNATURE_SCHEME_TK_API_SECP256K1: {
    curve: "API_KEY_CURVE_SECP256K1",
    parseSignature: parseEcdsaDer,
    verify: (curves, key, body, signature) => curves.verifySecp256k1(key, curves.sha256(body), signature),
  },
  SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191: {
    curve: "API_KEY_CURVE_SECP256K1",
    parseSignature: parseEcdsaDer,
    verify: (curves, key, body, signature) => curves.verifySecp256k1(key, eip191Digest(curves, body), signature),
  },
  SIGNATURE_SCHEME_TK_API_ED25519: {
    curve: "API_KEY_CURVE_ED25519",
    parseSignature: (bytes) => bytes, // Raw, not DER.
    verify: (curves, key, body, signature) => curves.verifyEd25519(key, body, signature),
  },
} as const satisfies Record<StampScheme, StampSchemeRow>;

/** A whole OIDC token may travel inside an attested stamp, so headers are longer than one would guess. */
const maxHeaderLength = 32 * 1024;
/** Three fields, and what later clients may add. */
const maxMarks = 1_000;

const utf8 = new TextEncoder();

/** What an Ethereum wallet signs when it is shown the body as a message (EIP-191, version 0x45). */
export function eip191Digest(curves: Pick<Curves, "keccak256">, body: Uint8Array): Uint8Array {
  const prefix = utf8.encode(`\x19Ethereum Signed Message:\n${body.length}`);
  const message = new Uint8Array(prefix.length + body.length);
  message.set(prefix);
  message.set(body, prefix.length);
  return curves.keccak256(message);
}

/** Reads an `X-Stamp` header, or throws `unauthenticated` with a published text. */
export function parseStamp(curves: PointCompression, headerValue: string): Stamp {
  const { publicKey, scheme, signature } = readFields(headerValue);
  if (!isStampScheme(scheme)) throw refusal("malformed activity stamp", "unknown scheme");
  const row: StampSchemeRow = stampSchemes[scheme];
  try {
    const publicKeyBytes = storedForm(curves, apiKeyCurves[row.curve], fromHex(publicKey));
    const signatureBytes = row.parseSignature(fromHex(signature));
    if (signatureBytes.length !== 64) throw new Fault("invalid_argument", "a signature has 64 bytes");
    return {
      scheme,
      curve: row.curve,
      publicKey: publicKeyBytes.length * 2 === publicKey.length ? publicKey.toLowerCase() : toHex(publicKeyBytes),
      publicKeyBytes,
      signature: signatureBytes,
    };
  } catch (cause) {
    throw unreadable(cause);
  }
}

/** Whether the stamp's key signed exactly these body bytes. The caller has found the key in the organization first. */
export function verifyStamp(curves: Curves, stamp: Stamp, body: Uint8Array): boolean {
  return stampSchemes[stamp.scheme].verify(curves, stamp.publicKeyBytes, body, stamp.signature);
}

/**
 * A compressed key is taken as it is: it means nothing until it is found among the registered ones, which were checked.
 * An uncompressed one must be on the curve first, else a false y could be compressed into a registered key.
 */
function storedForm(curves: PointCompression, row: ApiKeyCurveRow, bytes: Uint8Array): Uint8Array {
  return row.isStoredForm(bytes) ? bytes : row.normalise(curves, bytes);
}

function isStampScheme(scheme: string): scheme is StampScheme {
  return Object.hasOwn(stampSchemes, scheme);
}

type Fields = { publicKey: string; scheme: string; signature: string };

/** Unknown extra keys are tolerated, as clients may grow; duplicated or mistyped ones are not. */
function readFields(headerValue: string): Fields {
  if (headerValue.length > maxHeaderLength) throw unreadable("header too long");
  let value: unknown;
  try {
    value = readJson(fromBase64url(headerValue), maxHeaderLength, maxMarks);
  } catch (cause) {
    throw unreadable(cause);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw unreadable("not an object");
  const { publicKey, scheme, signature } = value as Partial<Record<keyof Fields, unknown>>;
  if (typeof publicKey !== "string" || typeof scheme !== "string" || typeof signature !== "string") {
    throw unreadable("a field is missing or not a string");
  }
  return { publicKey, scheme, signature };
}

function unreadable(cause: unknown): Fault {
  return refusal("could not extract api key stamp", cause instanceof Error ? cause.message : String(cause));
}

function refusal(message: string, detail: string): Fault {
  return new Fault("unauthenticated", message, { errorCode: "SIGNATURE_INVALID", detail });
}
