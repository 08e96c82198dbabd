/** Sign-ups and logins by identity tokens as bytes. The issuer of the tokens is this process, which the server asks for its keys. */
import { randomUUID } from "node:crypto";
import { loopbackIssuer } from "@keystead/e2e/identity/loopback_issuer.ts";
import { createKey } from "@keystead/e2e/key_pairs.ts";
import { authenticatorParams, createPasskey } from "@keystead/e2e/passkeys.ts";
import { ethereumAccount, type Presigner } from "./presign.ts";

/** The one person whom the issuer knows. */
const sub = "bench";

export async function createSignInPresigner(presigner: Presigner) {
  const { token } = await loopbackIssuer();
  return {
    /** Registers the person's identity for a user. */
    registration(timestampMs: number, userId: string): Buffer {
      const oauthProviders = [{ providerName: "bench", oidcToken: token({ sub }) }];
      const type = "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2";
      return presigner.submit("create_oauth_providers", type, timestampMs, { userId, oauthProviders });
    },
    login(timestampMs: number): Buffer {
      const { publicKey } = createKey();
      const parameters = { oidcToken: token({ sub }, publicKey), publicKey, expirationSeconds: "900" };
      return presigner.submit("oauth_login", "ACTIVITY_TYPE_OAUTH_LOGIN", timestampMs, parameters);
    },
    signUp(configId: string): Buffer {
      const wallet = { walletName: "bench", accounts: [ethereumAccount] };
      const authenticators = [authenticatorParams(createPasskey())];
      const userName = `bench ${randomUUID()}`;
      return presigner.proxied("signup_v2", configId, {
        ...{ apiKeys: [], authenticators, oauthProviders: [] },
        ...{ userName, wallet },
      });
    },
  };
}
