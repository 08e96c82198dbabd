/**
 * The keys of an issuer. The courier reads what an issuer publishes and keeps the keys that we would verify with; the signer reads only what
 * the courier writes. So an issuer may publish keys of any kind, and the signer still knows one spelling of one kind of list.
 */
import { checkRsaPublicKey, toSpki } from "../crypto/rsa_public_key.ts";
import { toBase64url } from "../encoding/base64url.ts";
import { Fault } from "../fault.ts";
import { maxKeySetBytes } from "./issuer_statement.ts";
import { hasRocaFingerprint } from "./roca.ts";
import {
  isTokenAlgorithm,
  type KeyType,
  type TokenAlgorithm,
  tokenAlgorithms,
  usualAlgorithms,
} from "./token_algorithms.ts";
import { asObject, memberOf, readObject, strictBase64url } from "./token_json.ts";

export type IssuerKey = {
  kid: string | undefined;
  algorithm: TokenAlgorithm;
  /** RSA: as `toSpki` writes it. EC: the uncompressed point; whether it lies on P-256 is seen when it is used. OKP: 32 bytes. */
  publicKey: Uint8Array;
  /** As it is written again: members in this order and no others. */
  jwk: Readonly<Record<string, string>>;
};

/** No issuer publishes so many; a set with more says something else than which keys sign now. */
const maxKeys = 64;
/** What may be fetched. Key sets that carry certificates have some KiB for each key. */
const maxPublishedBytes = 256 * 1024;
const maxPublishedMarks = 20_000;
/** Two marks for the set, and at most twelve members in a key. */
const maxMarks = 4 + maxKeys * 32;
const maxKidLength = 256;

type Jwk = Readonly<Record<string, unknown>>;
type Material = { publicKey: Uint8Array; members: Record<string, string> };

/** What an issuer has published: the keys that can be used, in their order. Throws `invalid_argument` for what is no key set. */
export function readPublishedKeys(bytes: Uint8Array): IssuerKey[] {
  const set = readObject(bytes, maxPublishedBytes, maxPublishedMarks);
  const keys = set && memberOf(set, "keys");
  if (!Array.isArray(keys)) throw new Fault("invalid_argument", "no JSON Web Key Set");
  const usable = keys.flatMap((jwk) => findUsable(jwk) ?? []);
  if (usable.length > maxKeys) throw new Fault("invalid_argument", `a key set of more than ${maxKeys} keys`);
  return usable;
}

/** The text that a statement carries. Throws `invalid_argument` when it is longer than a statement may be. */
export function writeKeySet(keys: readonly IssuerKey[]): string {
  const text = JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
  if (new TextEncoder().encode(text).length > maxKeySetBytes) {
    throw new Fault("invalid_argument", `a key set of more than ${maxKeySetBytes} bytes`);
  }
  return text;
}

/** Reads what `writeKeySet` wrote, and throws `invalid_argument` for every other text. */
export function parseKeySet(text: string): IssuerKey[] {
  const set = readObject(new TextEncoder().encode(text), maxKeySetBytes, maxMarks);
  const sent = set && memberOf(set, "keys");
  const keys = Array.isArray(sent) ? sent.flatMap((jwk) => findUsable(jwk) ?? []) : [];
  if (keys.length > maxKeys || writeKeySet(keys) !== text) {
    throw new Fault("invalid_argument", "not a key set as the courier writes it");
  }
  return keys;
}

/** The key, if it is public, for signatures, of an algorithm that we verify, and strong. */
function findUsable(value: unknown): IssuerKey | undefined {
  const jwk = asObject(value);
  if (jwk === undefined || isPrivate(jwk) || !isForSignatures(jwk)) return undefined;
  const keyType = memberOf(jwk, "kty");
  const reader = typeof keyType === "string" && Object.hasOwn(materials, keyType) ? (keyType as KeyType) : undefined;
  if (reader === undefined) return undefined;
  const algorithm = memberOf(jwk, "alg") ?? usualAlgorithms[reader];
  if (!isTokenAlgorithm(algorithm) || tokenAlgorithms[algorithm].keyType !== reader) return undefined;
  const kid = memberOf(jwk, "kid");
  if (kid !== undefined && !isKid(kid)) return undefined;
  const material = materials[reader](jwk);
  if (material === undefined) return undefined;
  return {
    kid,
    algorithm,
    publicKey: material.publicKey,
    jwk: { kty: reader, ...(kid !== undefined && { kid }), alg: algorithm, ...material.members },
  };
}

function isKid(kid: unknown): kid is string {
  return typeof kid === "string" && kid.length > 0 && kid.length <= maxKidLength && kid.isWellFormed();
}

/** A private key that was published is everybody's. */
function isPrivate(jwk: Jwk): boolean {
  return ["d", "p", "q", "dp", "dq", "qi", "oth", "k"].some((name) => Object.hasOwn(jwk, name));
}

function isForSignatures(jwk: Jwk): boolean {
  const use = memberOf(jwk, "use");
  const operations = memberOf(jwk, "key_ops");
  if (use !== undefined && use !== "sig") return false;
  return operations === undefined || (Array.isArray(operations) && operations.includes("verify"));
}

const materials: Readonly<Record<KeyType, (jwk: Jwk) => Material | undefined>> = {
  RSA(jwk) {
    const modulus = bytesOf(jwk, "n");
    const exponent = bytesOf(jwk, "e");
    if (modulus === undefined || exponent === undefined || !isStrongRsa(modulus, exponent)) return undefined;
    const members = { n: toBase64url(modulus), e: toBase64url(exponent) };
    return { publicKey: toSpki({ modulus, exponent }), members };
  },
  EC(jwk) {
    const x = bytesOf(jwk, "x");
    const y = bytesOf(jwk, "y");
    if (memberOf(jwk, "crv") !== "P-256" || x?.length !== 32 || y?.length !== 32) return undefined;
    return { publicKey: Uint8Array.of(4, ...x, ...y), members: { crv: "P-256", x: toBase64url(x), y: toBase64url(y) } };
  },
  OKP(jwk) {
    const x = bytesOf(jwk, "x");
    if (memberOf(jwk, "crv") !== "Ed25519" || x?.length !== 32) return undefined;
    return { publicKey: x, members: { crv: "Ed25519", x: toBase64url(x) } };
  },
};

function bytesOf(jwk: Jwk, name: string): Uint8Array | undefined {
  const text = memberOf(jwk, name);
  return typeof text === "string" ? strictBase64url(text) : undefined;
}

function isStrongRsa(modulus: Uint8Array, exponent: Uint8Array): boolean {
  try {
    checkRsaPublicKey({ modulus, exponent });
  } catch {
    return false;
  }
  return !hasRocaFingerprint(modulus);
}
