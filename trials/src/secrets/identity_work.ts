/** What people do with identities at other issuers and at OAuth 2.0 providers, so that tokens and client secrets pass by wherever they do. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { loopbackIssuer } from "@keystead/e2e/identity/loopback_issuer.ts";
import { createKey } from "@keystead/e2e/key_pairs.ts";
import { ownClient } from "@keystead/e2e/keys/own_client.ts";
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import { encryptOauth2ClientSecret } from "@turnkey/crypto";
import { type StandInProvider, startOauth2Provider } from "../../../core/test/oauth2_provider.ts";
import type { Secret } from "./known_secrets.ts";

export const identityActivitiesPerRound = 5;

const redirectUri = "https://app.example.com/back";

export type IdentityWork = {
  env: Record<string, string>;
  /** Of each round five activities: an identity registered, a login by it, its end, a client secret stored, and a code exchanged with it. */
  run(server: KeysteadServer, rounds: number): Promise<number>;
  /** What signer and courier alone may ever have. */
  secrets(): Secret[];
};

export async function startIdentityWork(): Promise<IdentityWork> {
  const clientSecret = randomBytes(24).toString("base64url");
  const provider = await startOauth2Provider({ clientSecret });
  return {
    env: {
      KEYSTEAD_OAUTH2_PROVIDERS: JSON.stringify({ OAUTH2_PROVIDER_ALPHA: provider.addresses }),
      KEYSTEAD_PUBLIC_URL: "https://keys.example.com",
    },
    async run(server, rounds) {
      for (let round = 0; round < rounds; round++) await identityRound(server, provider, clientSecret);
      assert.equal(provider.bearerTokens.length, rounds);
      return rounds * identityActivitiesPerRound;
    },
    secrets: () => [
      { name: "client secret", bytes: Buffer.from(clientSecret) },
      ...provider.bearerTokens.map((token, n) => ({ name: `provider's token ${n}`, bytes: Buffer.from(token) })),
    ],
  };
}

async function identityRound(server: KeysteadServer, provider: StandInProvider, secret: string): Promise<void> {
  const { sdk, userId } = await ownClient(server);
  const { token } = await loopbackIssuer();
  const sub = randomUUID();
  const { providerIds } = await sdk.createOauthProviders({
    userId,
    oauthProviders: [{ providerName: "Issuer", oidcToken: token({ sub }) }],
  });
  const { publicKey } = createKey();
  await sdk.oauthLogin({ oidcToken: token({ sub }, publicKey), publicKey });
  // A user has few of them.
  await sdk.deleteOauthProviders({ userId, providerIds });

  const { publicKeys } = (await (await fetch(`${server.url}/.well-known/keystead.json`)).json()) as {
    publicKeys: Record<string, string>;
  };
  const encryptedClientSecret = await encryptOauth2ClientSecret(secret, publicKeys.clientSecretEncryption);
  const { oauth2CredentialId } = await sdk.createOauth2Credential({
    provider: "OAUTH2_PROVIDER_ALPHA",
    clientId: randomUUID(),
    encryptedClientSecret,
  });
  const codeVerifier = randomBytes(32).toString("base64url");
  await sdk.oauth2Authenticate({
    oauth2CredentialId,
    authCode: provider.signIn({ id: "2244994945" }, codeVerifier, redirectUri),
    redirectUri,
    codeVerifier,
    nonce: "00".repeat(32),
  });
}
