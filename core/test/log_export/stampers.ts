/** Users in tests, each with one credential of some kind: what a leaf keeps of their stamps, by real keys. */
import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { nobleCurves } from "../../src/crypto/noble_curves.ts";
import { eip191Digest } from "../../src/crypto/stamp.ts";
import type { EvidenceContent, LeafEvidence } from "../../src/log/leaf_evidence.ts";
import { attestedTokenScheme } from "../../src/otp/attested_stamp.ts";
import { stampChallenge } from "../../src/webauthn/webauthn_stamp.ts";
import type { Random } from "../seeded_random.ts";
import {
  assertion,
  assertionParts,
  rs256Passkey,
  rsaKeyPair,
  sha256,
  type TestPasskey,
} from "../webauthn/authenticator.ts";

export type TestUser = { userId: Uint8Array; evidence(body: Uint8Array): LeafEvidence };

type Make = () => { needsCredential: boolean; content(body: Uint8Array): EvidenceContent };

/** Kinds of credentials whose stamps anyone can check. */
export const stampKinds = ["p256", "secp256k1", "eip191", "ed25519", "es256", "rs256"] as const;
export type StampKind = (typeof stampKinds)[number] | "attested" | "authProxy";

const p1363 = (key: KeyObject, body: Uint8Array): Uint8Array =>
  new Uint8Array(sign("sha256", body, { key, dsaEncoding: "ieee-p1363" }));

function rawKey(key: KeyObject): { x: Uint8Array; y: Uint8Array } {
  const { x = "", y = "" } = key.export({ format: "jwk" });
  return { x: Uint8Array.from(Buffer.from(x, "base64url")), y: Uint8Array.from(Buffer.from(y, "base64url")) };
}

function compressed(key: KeyObject): Uint8Array {
  const { x, y } = rawKey(key);
  return Uint8Array.of(2 + ((y.at(-1) ?? 0) % 2), ...x);
}

function ecKey(namedCurve: "P-256" | "secp256k1") {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve });
  return { privateKey, publicKey: compressed(privateKey) };
}

function apiKey(scheme: string, publicKey: Uint8Array, signature: Uint8Array): EvidenceContent {
  return { kind: "apiKey", value: { scheme, publicKey, signature } };
}

/** Slow to make, so all share one. */
let rsaKey: KeyObject | undefined;

const kinds: Record<StampKind, Make> = {
  p256() {
    const { privateKey, publicKey } = ecKey("P-256");
    const content = (body: Uint8Array) => apiKey("SIGNATURE_SCHEME_TK_API_P256", publicKey, p1363(privateKey, body));
    return { needsCredential: true, content };
  },
  secp256k1() {
    const { privateKey, publicKey } = ecKey("secp256k1");
    const scheme = "SIGNATURE_SCHEME_TK_API_SECP256K1";
    return { needsCredential: true, content: (body) => apiKey(scheme, publicKey, p1363(privateKey, body)) };
  },
  eip191() {
    const secret = secp256k1.utils.randomSecretKey();
    const publicKey = secp256k1.getPublicKey(secret, true);
    const scheme = "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191";
    const signature = (body: Uint8Array) =>
      secp256k1.sign(eip191Digest(nobleCurves, body), secret, { prehash: false, lowS: true });
    return { needsCredential: true, content: (body) => apiKey(scheme, publicKey, signature(body)) };
  },
  ed25519() {
    const { privateKey } = generateKeyPairSync("ed25519");
    const publicKey = rawKey(privateKey).x;
    const scheme = "SIGNATURE_SCHEME_TK_API_ED25519";
    const content = (body: Uint8Array) => apiKey(scheme, publicKey, new Uint8Array(sign(null, body, privateKey)));
    return { needsCredential: true, content };
  },
  es256() {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { x, y } = rawKey(privateKey);
    const passkey: TestPasskey = {
      algorithm: "ES256",
      rpId: "example.com",
      credentialId: new Uint8Array(randomBytes(16)),
      coseKey: [],
      sign: (message) => new Uint8Array(sign("sha256", message, privateKey)),
    };
    return passkeyOf(passkey, { kind: "ES256", value: { point: Uint8Array.of(4, ...x, ...y) } });
  },
  rs256() {
    rsaKey ??= rsaKeyPair();
    const { n = "", e = "" } = createPrivateKey(rsaKey.export({ format: "pem", type: "pkcs8" })).export({
      format: "jwk",
    });
    const [modulus, exponent] = [n, e].map((text) => Uint8Array.from(Buffer.from(text, "base64url")));
    if (modulus === undefined || exponent === undefined) throw new Error("no RSA key");
    const passkey = rs256Passkey(rsaKey, "example.com", new Uint8Array(randomBytes(16)));
    return passkeyOf(passkey, { kind: "RS256", value: { modulus, exponent } });
  },
  attested() {
    const { privateKey, publicKey } = ecKey("P-256");
    const [tokenId, tokenDigest] = [new Uint8Array(randomBytes(16)), new Uint8Array(randomBytes(32))];
    return {
      needsCredential: false,
      content(body) {
        const signature = p1363(privateKey, body);
        return { kind: "attested", value: { scheme: attestedTokenScheme, publicKey, signature, tokenId, tokenDigest } };
      },
    };
  },
  authProxy() {
    const configId = new Uint8Array(randomBytes(16));
    return { needsCredential: false, content: () => ({ kind: "authProxy", value: { configId } }) };
  },
};

type PasskeyKey = Extract<EvidenceContent, { kind: "webauthn" }>["value"]["publicKey"];

function passkeyOf(passkey: TestPasskey, publicKey: PasskeyKey): ReturnType<Make> {
  return {
    needsCredential: true,
    content(body) {
      const { authenticatorData, clientDataJson, signature } = assertion(
        passkey,
        assertionParts(passkey, stampChallenge(sha256(body))),
      );
      const rawId = passkey.credentialId;
      return { kind: "webauthn", value: { rawId, authenticatorData, clientDataJson, signature, publicKey } };
    },
  };
}

export function createUser(kind: StampKind, random: Random): TestUser {
  const { needsCredential, content } = kinds[kind]();
  const [userId, credentialId] = [bytesOf(random, 16), bytesOf(random, 16)];
  return {
    userId,
    evidence: (body) => ({
      userId,
      credentialId: needsCredential ? credentialId : undefined,
      body: sha256(body),
      content: content(body),
    }),
  };
}

export function bytesOf(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256));
}
