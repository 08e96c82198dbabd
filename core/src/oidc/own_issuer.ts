/** This deployment as an issuer: the key that its own identity tokens are signed with, as it is published and verified. */
import type { Curves } from "../crypto/curves.ts";
import { toBase64url } from "../encoding/base64url.ts";
import { toHex } from "../encoding/hex.ts";
import type { IssuerKey } from "./key_set.ts";

/** `publicKey`: the uncompressed P-256 point. */
export function ownIssuerKey({ sha256 }: Pick<Curves, "sha256">, publicKey: Uint8Array): IssuerKey {
  const kid = toHex(sha256(publicKey)).slice(0, 16);
  const [x, y] = [publicKey.subarray(1, 33), publicKey.subarray(33)].map(toBase64url) as [string, string];
  return { kid, algorithm: "ES256", publicKey, jwk: { kty: "EC", kid, alg: "ES256", crv: "P-256", x, y } };
}
