/**
 * An issuer of identity tokens on this machine, for servers that are started with KEYSTEAD_DEV_EGRESS=loopback. It has one key, publishes
 * it as OpenID Connect Discovery says, and issues whatever a test asks for.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  freshClaims,
  issueToken,
  makeIssuerKey,
  nonceFor,
  publishedKeys,
  type TestClaims,
} from "../../../core/test/oidc/test_issuer.ts";

export type LoopbackIssuer = {
  issuer: string;
  /** A token that is good now; with `boundTo`, for signing in with that key. */
  token(claims?: TestClaims, boundTo?: string): string;
};

let started: Promise<LoopbackIssuer> | undefined;

/** One for all tests of a process, which it does not keep alive. */
export function loopbackIssuer(): Promise<LoopbackIssuer> {
  started ??= start();
  return started;
}

async function start(): Promise<LoopbackIssuer> {
  const key = makeIssuerKey("RS256", "loopback");
  let issuer = "";
  const documents: Record<string, () => string> = {
    "/.well-known/openid-configuration": () => JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }),
    "/keys": () => publishedKeys([key]),
  };
  const server = createServer((request, response) => {
    const document = documents[request.url ?? ""];
    response.writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(document?.() ?? "{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    token: (claims = {}, boundTo) => {
      const nonce = boundTo === undefined ? {} : { nonce: nonceFor(boundTo) };
      return issueToken(key, freshClaims(Date.now(), { iss: issuer, ...nonce, ...claims }));
    },
  };
}
