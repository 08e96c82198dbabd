/**
 * An OpenID provider in a process of its own: `oidc-provider` with its own login page, in memory. It prints its issuer as one line of
 * JSON, and replaces its keys when its parent says so.
 */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";

const [, , redirectUri = "", clientId = ""] = process.argv;

type Key = Record<string, unknown> & { kid: string };

/** The first signs, all are published. */
let keys: Key[] = [];

function makeKey(): Key {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), alg: "RS256", use: "sig", kid: randomUUID() };
}

function makeProvider(issuer: string): Provider {
  return new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        redirect_uris: [redirectUri],
        response_types: ["code"],
        grant_types: ["authorization_code"],
        token_endpoint_auth_method: "none",
      },
    ],
    jwks: { keys },
    cookies: { keys: ["test"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    conformIdTokenClaims: false,
    // Applications without a server change their codes for tokens in the page.
    clientBasedCORS: () => true,
    features: { devInteractions: { enabled: true } },
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@example.com`, email_verified: true }),
    }),
  });
}

/** Connections stay open: on a busy machine a client may send its next request just when a shorter time is over. */
const server = createServer({ keepAliveTimeout: 600_000 });
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let answer = replaceKeys(true);

  function replaceKeys(dropsOld: boolean) {
    keys = [makeKey(), ...(dropsOld ? [] : keys)];
    return makeProvider(issuer).callback();
  }

  server.on("request", (request, response) => void answer(request, response));
  process.on("message", ({ dropsOld }: { dropsOld: boolean }) => {
    answer = replaceKeys(dropsOld);
    process.send?.({ kids: keys.map(({ kid }) => kid) });
  });
  process.on("disconnect", () => process.exit(0));
  process.send?.({ issuer, kids: keys.map(({ kid }) => kid) });
});
