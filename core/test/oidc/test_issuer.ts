/** An issuer of identity tokens for tests: keys of every algorithm, tokens as real issuers write them, and its published key set. */
import { constants, createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { toBase64url } from "../../src/encoding/base64url.ts";
import type { TokenAlgorithm } from "../../src/oidc/token_algorithms.ts";

export type TestIssuerKey = {
  kid: string;
  algorithm: TokenAlgorithm;
  privateKey: KeyObject;
  jwk: Record<string, unknown>;
};

export type TestClaims = Record<string, unknown>;

const padding = { PS256: constants.RSA_PKCS1_PSS_PADDING };
const hashes = { RS256: "sha256", RS384: "sha384", RS512: "sha512", PS256: "sha256", ES256: "sha256", EdDSA: null };

export function makeIssuerKey(algorithm: TokenAlgorithm, kid: string): TestIssuerKey {
  const { privateKey, publicKey } =
    algorithm === "ES256"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : algorithm === "EdDSA"
        ? generateKeyPairSync("ed25519")
        : generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    kid,
    algorithm,
    privateKey,
    jwk: { ...publicKey.export({ format: "jwk" }), kid, alg: algorithm, use: "sig" },
  };
}

/** The JSON text that the issuer publishes. */
export function publishedKeys(keys: readonly TestIssuerKey[]): string {
  return JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
}

/** Signs any header and payload text. */
export function signCompact(
  key: Pick<TestIssuerKey, "algorithm" | "privateKey">,
  header: string,
  payload: string,
): string {
  const signed = [header, payload].map((part) => toBase64url(Buffer.from(part, "utf8"))).join(".");
  return `${signed}.${toBase64url(signatureOf(key, Buffer.from(signed)))}`;
}

export function signatureOf(
  { algorithm, privateKey }: Pick<TestIssuerKey, "algorithm" | "privateKey">,
  signed: Uint8Array,
) {
  const signature = sign(hashes[algorithm], signed, {
    key: privateKey,
    ...(algorithm === "ES256" && { dsaEncoding: "ieee-p1363" as const }),
    ...(algorithm === "PS256" && { padding: padding.PS256, saltLength: 32 }),
  });
  return new Uint8Array(signature);
}

/** A token as an issuer would write it. `header` replaces or adds members. */
export function issueToken(key: TestIssuerKey, claims: TestClaims, header: Record<string, unknown> = {}): string {
  const sent = { alg: key.algorithm, typ: "JWT", kid: key.kid, ...header };
  return signCompact(key, JSON.stringify(sent), JSON.stringify(claims));
}

/** The nonce that binds a token to a key, by the text of its hex. */
export function nonceFor(publicKeyText: string): string {
  return createHash("sha256").update(publicKeyText, "utf8").digest("hex");
}

/** Claims of a token that is good now. */
export function freshClaims(nowMs: number, changes: TestClaims = {}): TestClaims {
  const now = Math.floor(nowMs / 1000);
  return {
    iss: "https://issuer.example",
    sub: "subject-1",
    aud: "client-1",
    iat: now,
    exp: now + 3600,
    ...changes,
  };
}
