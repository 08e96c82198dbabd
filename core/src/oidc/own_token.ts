/** Identity tokens of our own: what a sign-in at an OAuth 2.0 provider is worth here. SPEC.md has the claims. */
import type { BundleSigner } from "../crypto/bundles.ts";
import { toBase64url } from "../encoding/base64url.ts";

export type OwnTokenClaims = {
  issuer: string;
  /** The provider's short name, a colon and the user's id there. */
  subject: string;
  /** The client id of the application that the user signed in to. */
  audience: string;
  /** As the client gave it: it names the key that the token is for. */
  nonce: string;
  issuedAtSeconds: number;
  expiresAtSeconds: number;
  /** The provider's own token, encrypted to a key of the client's. */
  encryptedBearerToken?: string;
};

const utf8 = new TextEncoder();

/** A compact JWS under ES256. `kid` names the signer's key as it is published. */
export function makeOwnToken(signer: Pick<BundleSigner, "sign">, kid: string, claims: OwnTokenClaims): string {
  const header = { alg: "ES256", typ: "JWT", kid };
  const payload = {
    iss: claims.issuer,
    sub: claims.subject,
    aud: claims.audience,
    exp: claims.expiresAtSeconds,
    iat: claims.issuedAtSeconds,
    nonce: claims.nonce,
    ...(claims.encryptedBearerToken !== undefined && { encrypted_bearer_token: claims.encryptedBearerToken }),
  };
  const signed = [header, payload].map((part) => toBase64url(utf8.encode(JSON.stringify(part)))).join(".");
  return `${signed}.${toBase64url(signer.sign(utf8.encode(signed)))}`;
}
