/**
 * A second opinion on tokens, client signatures and attested stamps, for the mutants: the same rules, worked out with other means. JSON by
 * its tokens, base64 by Buffer, keys as JWK, signatures by OpenSSL. It shares no code with what it judges.
 */
import { createPublicKey, ECDH, type KeyObject, verify } from "node:crypto";
import { isStrictJson } from "../webauthn/strict_json.ts";

class Refused extends Error {}

function demand(holds: boolean, why: string): asserts holds {
  if (!holds) throw new Refused(why);
}

/** What is read, or undefined when the bytes do not verify. */
function judged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

const keys = new Map<string, KeyObject>();

/** `publicKey`: a point in hex, in either form. */
function keyOf(publicKey: string): KeyObject {
  const known = keys.get(publicKey);
  if (known !== undefined) return known;
  const point = Buffer.from(ECDH.convertKey(publicKey, "prime256v1", "hex", "hex", "uncompressed") as string, "hex");
  const [x, y] = [point.subarray(1, 33).toString("base64url"), point.subarray(33).toString("base64url")];
  const key = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  if (keys.size < 1_000) keys.set(publicKey, key);
  return key;
}

function verifies(publicKey: string, message: Uint8Array, rs: Uint8Array): boolean {
  try {
    return verify("sha256", message, { key: keyOf(publicKey), dsaEncoding: "ieee-p1363" }, rs);
  } catch {
    return false;
  }
}

function objectOf(bytes: Uint8Array, maxBytes: number, maxMarks: number): Record<string, unknown> {
  demand(bytes.length <= maxBytes && isStrictJson(Buffer.from(bytes), maxMarks), "not strict JSON");
  const value: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
  demand(typeof value === "object" && value !== null && !Array.isArray(value), "not an object");
  return value as Record<string, unknown>;
}

/** The compressed point in lower-case hex. */
function pointOf(text: unknown): string {
  demand(typeof text === "string" && /^(0[23][0-9a-f]{64}|04[0-9a-f]{128})$/i.test(text), "not a point");
  try {
    return ECDH.convertKey(text, "prime256v1", "hex", "hex", "compressed") as string;
  } catch {
    throw new Refused("not on the curve");
  }
}

/** SEQUENCE of two INTEGERs with one-byte lengths; zeros in front of them are tolerated, signs are not. */
function rsOfDer(hex: string): Uint8Array {
  const bytes = Buffer.from(hex, "hex");
  demand(bytes[0] === 0x30 && bytes[1] === bytes.length - 2 && bytes[2] === 2, "sequence");
  const rLength = bytes[3] ?? 0;
  const sLength = bytes[5 + rLength] ?? 0;
  demand(bytes[4 + rLength] === 2 && 6 + rLength + sLength === bytes.length, "integers");
  const integers = [bytes.subarray(4, 4 + rLength), bytes.subarray(6 + rLength)];
  return Buffer.concat(
    integers.map((integer) => {
      demand(integer.length >= 1 && integer.length <= 33 && (integer[0] ?? 0xff) < 0x80, "integer");
      const digits = integer.toString("hex").replace(/^(00)*/, "");
      demand(digits.length <= 64, "too large");
      return Buffer.from(digits.padStart(64, "0"), "hex");
    }),
  );
}

const lowerUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export type SecondClaims = {
  tokenId: string;
  expiresAtMs: number;
  organizationId: string;
  verificationType: string;
  contact: string;
  publicKey: string | undefined;
};

function readToken(otpKey: string, token: string): SecondClaims {
  demand(token.length <= 4_096, "too long");
  const match = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/.exec(token);
  demand(match !== null && match[0] === token, "not three parts");
  const [, header = "", payload = "", signature = ""] = match;
  demand(Buffer.from(header, "base64url").toString("latin1") === '{"typ":"JWT","alg":"ES256"}', "header");
  for (const part of [header, payload, signature]) {
    demand(Buffer.from(part, "base64url").toString("base64url") === part, "not canonical");
  }
  const rs = Buffer.from(signature, "base64url");
  demand(rs.length === 64, "signature length");
  const claims = objectOf(Buffer.from(payload, "base64url"), 4_096, 20);
  const names = Object.keys(claims).sort().join();
  const unbound = "contact,exp,id,organization_id,verification_type";
  demand(names === unbound || names === "contact,exp,id,organization_id,public_key,verification_type", "claims");
  const texts = Object.fromEntries(
    Object.entries(claims).map(([name, value]) => {
      demand(typeof value === "string", name);
      return [name, value];
    }),
  );
  const { exp = "", id = "", organization_id = "", verification_type = "", contact = "", public_key } = texts;
  demand(/^[1-9]\d*$/.test(exp) && exp.length <= 15, "exp");
  demand(lowerUuid.test(id) && lowerUuid.test(organization_id), "ids");
  demand(["OTP_TYPE_EMAIL", "OTP_TYPE_SMS"].includes(verification_type) && contact.length > 0, "contact");
  demand(public_key === undefined || /^0[23][0-9a-f]{64}$/.test(public_key), "key");
  demand(verifies(otpKey, Buffer.from(`${header}.${payload}`), rs), "signature");
  return {
    tokenId: id,
    expiresAtMs: Number(exp),
    organizationId: organization_id,
    verificationType: verification_type,
    contact,
    publicKey: public_key,
  };
}

/** `otpKey`: compressed hex. */
export function readTokenAgain(otpKey: string, token: string): SecondClaims | undefined {
  return judged(() => readToken(otpKey, token));
}

export type SecondClientSignature = { publicKey: string; scheme: string; message: string; signature: string };

type Part = { name: "login" | "signup" | "signupV2" | "updateContact"; content: Record<string, unknown> };

/** A JSON value with sorted keys and without nulls: equal texts are equal meanings. */
function meaning(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(meaning).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return `{${members
    .map(([key, member]) => `${JSON.stringify(key)}:${meaning(member)}`)
    .sort()
    .join()}}`;
}

function normalised({ name, content }: Part): string {
  const present = Object.fromEntries(
    Object.entries(content).filter(([, value]) => value !== null && value !== undefined),
  );
  if (name === "login") return meaning({ ...present, publicKey: pointOf(present.publicKey) });
  if (name === "updateContact") return meaning(present);
  return meaning({ apiKeys: [], authenticators: [], oauthProviders: [], email: "", phoneNumber: "", ...present });
}

export function readClientSignatureAgain(
  token: { tokenId: string; publicKey: string | undefined },
  { publicKey, scheme, message, signature }: SecondClientSignature,
  expected: Part,
): boolean {
  const read = judged(() => {
    demand(scheme === "CLIENT_SIGNATURE_SCHEME_API_P256", "scheme");
    demand(token.publicKey !== undefined && pointOf(publicKey) === token.publicKey, "key");
    demand(/^([0-9a-f]{2})*$/i.test(signature), "hex");
    const lower = signature.toLowerCase();
    const rs = lower.length === 128 ? Buffer.from(lower, "hex") : rsOfDer(lower);
    const bytes = Buffer.from(message, "utf8");
    demand(verifies(token.publicKey, bytes, rs), "signature");
    const all = objectOf(bytes, 256 * 1024, 20_000);
    const present = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
    demand(Object.keys(present).sort().join() === [expected.name, "tokenId", "type"].sort().join(), "parts");
    demand(present.tokenId === token.tokenId, "token id");
    const uses = { login: "LOGIN", signup: "SIGNUP", signupV2: "SIGNUP", updateContact: "UPDATE_CONTACT" };
    demand(present.type === `USAGE_TYPE_${uses[expected.name]}`, "type");
    const content = present[expected.name];
    demand(typeof content === "object" && content !== null && !Array.isArray(content), "part");
    const part = { name: expected.name, content: content as Record<string, unknown> };
    demand(normalised(part) === normalised(expected), "meaning");
    return true;
  });
  return read === true;
}

/** The key and the token's claims. */
export function readAttestedAgain(
  otpKey: string,
  header: string,
  body: Uint8Array,
): { publicKey: string; tokenId: string } | undefined {
  return judged(() => {
    demand(header.length <= 32 * 1024, "too long");
    let json: Buffer = Buffer.from(header, "utf8");
    if (!header.startsWith("{")) {
      json = Buffer.from(header, "base64");
      const plain = json.toString("base64");
      const url = json.toString("base64url");
      demand([plain, plain.replace(/=*$/, ""), url, url.padEnd(plain.length, "=")].includes(header), "base64");
    }
    const { publicKeyAttestation, scheme, publicKey, signature } = objectOf(json, 32 * 1024, 1_000);
    demand(scheme === "STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN", "scheme");
    demand(typeof publicKeyAttestation === "string" && typeof signature === "string", "fields");
    demand(/^([0-9a-f]{2})*$/i.test(signature), "hex");
    const claims = readToken(otpKey, publicKeyAttestation);
    const key = pointOf(publicKey);
    demand(claims.publicKey === key, "binding");
    demand(verifies(key, body, rsOfDer(signature.toLowerCase())), "signature");
    return { publicKey: key, tokenId: claims.tokenId };
  });
}
