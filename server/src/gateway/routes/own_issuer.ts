/** This deployment as an issuer of identity tokens: OpenID Connect Discovery, as far as verifying its tokens needs it. */
import type { Curves } from "@keystead/core/crypto/curves.ts";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { ownIssuerKey } from "@keystead/core/oidc/own_issuer.ts";
import { nothingAt } from "../http/request_check.ts";
import { jsonContent, type Route } from "../http/route.ts";

export type OwnIssuerDependencies = {
  curves: Pick<Curves, "sha256">;
  /** What its tokens have in `iss`; undefined: it issues none. */
  publicUrl: string | undefined;
  publicKeys(): Readonly<Record<string, string>>;
};

const keysPath = "/.well-known/jwks.json";

export function ownIssuerRoutes({ curves, publicUrl, publicKeys }: OwnIssuerDependencies): Route[] {
  const published = (path: string, document: (issuer: string, key: string) => object): Route => ({
    method: "GET",
    path,
    limits: { bodyBytes: 0 },
    handle(request, send) {
      const { identity } = publicKeys();
      if (publicUrl === undefined || identity === undefined) throw nothingAt(request);
      send(jsonContent(200, document(publicUrl, identity)));
    },
  });
  return [
    published("/.well-known/openid-configuration", (issuer) => ({
      issuer,
      jwks_uri: `${issuer}${keysPath}`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
      claims_supported: ["iss", "sub", "aud", "exp", "iat", "nonce", "encrypted_bearer_token"],
    })),
    published(keysPath, (_, key) => ({ keys: [{ ...ownIssuerKey(curves, fromHex(key)).jwk, use: "sig" }] })),
  ];
}
