/** Valid tokens, client signatures and attested stamps for mutants to be made of, with the keys that made them. */
import { createECDH, createPrivateKey, type KeyObject, sign } from "node:crypto";
import type { BundleSigner } from "../../src/crypto/bundles.ts";
import { toEcdsaDer } from "../../src/encoding/der.ts";
import { toHex } from "../../src/encoding/hex.ts";
import type { ClientSignature, TokenUsage } from "../../src/otp/client_signature.ts";
import { makeVerificationToken, type TokenClaims } from "../../src/otp/verification_token.ts";
import type { Random } from "../seeded_random.ts";

export type P256Key = {
  /** Compressed, hex. */
  publicKey: string;
  /** Uncompressed, hex. */
  longPublicKey: string;
  sign(message: Uint8Array): Uint8Array;
};

/** A key from a seed, so that a printed seed brings the same bases back. */
export function p256Key(random: Random): P256Key {
  const scalar = Buffer.from(Array.from({ length: 32 }, () => 1 + random.below(254)));
  const ecdh = createECDH("prime256v1");
  ecdh.setPrivateKey(scalar);
  const longPublicKey = ecdh.getPublicKey("hex");
  const [x, y] = [ecdh.getPublicKey().subarray(1, 33), ecdh.getPublicKey().subarray(33)];
  const jwk = { kty: "EC", crv: "P-256", d: scalar.toString("base64url") };
  const key: KeyObject = createPrivateKey({
    key: { ...jwk, x: x.toString("base64url"), y: y.toString("base64url") },
    format: "jwk",
  });
  return {
    publicKey: ecdh.getPublicKey("hex", "compressed"),
    longPublicKey,
    sign: (message) => new Uint8Array(sign("sha256", message, { key, dsaEncoding: "ieee-p1363" })),
  };
}

export function signerOf({ longPublicKey, sign: signBytes }: P256Key): BundleSigner {
  return { publicKey: Uint8Array.from(Buffer.from(longPublicKey, "hex")), sign: signBytes };
}

const hexDigits = (random: Random, count: number) =>
  Array.from({ length: count }, () => random.below(16).toString(16)).join("");

export function randomUuid(random: Random): string {
  const hex = hexDigits(random, 32);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

const contacts = ["user@example.com", "a~b?c>d@example.com", "ünï@exämple.com", 'we"ird\\@example.com'];

export type TokenBase = { claims: TokenClaims; token: string; holder: P256Key };

export function tokenBase(random: Random, otp: P256Key, isBound = random.next() < 0.8): TokenBase {
  const holder = p256Key(random);
  const isEmail = random.next() < 0.7;
  const claims: TokenClaims = {
    tokenId: randomUuid(random),
    expiresAtMs: 1_800_000_000_000 + random.below(1_000_000),
    organizationId: randomUuid(random),
    verificationType: isEmail ? "OTP_TYPE_EMAIL" : "OTP_TYPE_SMS",
    contact: isEmail ? random.pick(contacts) : "+15551234567",
    publicKey: isBound ? holder.publicKey : undefined,
  };
  return { claims, token: makeVerificationToken(otp, claims), holder };
}

export type ClientSignatureBase = {
  token: TokenClaims;
  holder: P256Key;
  usage: TokenUsage;
  /** What the message says, before it is written as JSON. */
  message: Record<string, unknown>;
};

export function clientSignatureBase(random: Random, otp: P256Key): ClientSignatureBase {
  const { claims, holder } = tokenBase(random, otp, true);
  const head = { tokenId: claims.tokenId };
  const draw = random.next();
  if (draw < 0.2) {
    const updateContact = { userId: randomUuid(random), contact: random.pick(contacts) };
    const message = { ...head, type: "USAGE_TYPE_UPDATE_CONTACT", updateContact };
    return { token: claims, holder, usage: { kind: "contact", ...updateContact }, message };
  }
  if (draw < 0.6) {
    const { publicKey } = random.next() < 0.5 ? holder : p256Key(random);
    const message = { login: { publicKey }, ...head, type: "USAGE_TYPE_LOGIN" };
    return { token: claims, holder, usage: { kind: "login", publicKey }, message };
  }
  const form = random.pick(["signup", "signupV2"] as const);
  const signUp = {
    apiKeys: random.pick([[], [{ apiKeyName: "a", publicKey: holder.publicKey, curveType: "API_KEY_CURVE_P256" }]]),
    authenticators: random.pick([[], [{ authenticatorName: "b", attestation: { transports: ["x", "y"] } }]]),
    oauthProviders: [],
    email: "user@example.com",
  };
  const message = { [form]: signUp, ...head, type: "USAGE_TYPE_SIGNUP" };
  return { token: claims, holder, usage: { kind: "signup", form, ...signUp }, message };
}

export function signMessage(holder: P256Key, message: string): ClientSignature {
  const signature = toHex(holder.sign(Buffer.from(message, "utf8")));
  return { publicKey: holder.publicKey, scheme: "CLIENT_SIGNATURE_SCHEME_API_P256", message, signature };
}

export type AttestedFields = Record<"publicKeyAttestation" | "scheme" | "publicKey" | "signature", string>;

export function attestedFields({ token, holder }: TokenBase, body: Uint8Array): AttestedFields {
  return {
    publicKeyAttestation: token,
    scheme: "STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN",
    publicKey: holder.publicKey,
    signature: toHex(toEcdsaDer(holder.sign(body))),
  };
}

const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The other signature that verifies: n - s. */
export function twinOf(rs: Uint8Array): Uint8Array {
  const s = BigInt(`0x${Buffer.from(rs.subarray(32)).toString("hex")}`);
  const twin = (order - s).toString(16).padStart(64, "0");
  return Uint8Array.from(Buffer.concat([rs.subarray(0, 32), Buffer.from(twin, "hex")]));
}
