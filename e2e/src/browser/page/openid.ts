/**
 * Signing up and in with an OpenID provider: `@turnkey/core` makes the key and uses the token; in between the person is at the provider's
 * own pages, and comes back here with a code.
 */
import { client, createSubOrgParams, signedInSteps } from "./proxy_client.ts";
import { offerSteps } from "./steps.ts";

const redirectUri = `${location.origin}/openid`;

/** What this page remembers while the person is away. */
type Waiting = { issuer: string; clientId: string; publicKey: string; verifier: string };

const sha256 = async (text: string) =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

const steps = {
  ...signedInSteps,
  /** The address of the provider's login page. */
  async start(issuer: string, clientId: string) {
    const publicKey = await client.createApiKeyPair();
    const verifier = crypto.randomUUID() + crypto.randomUUID();
    const waiting: Waiting = { issuer, clientId, publicKey, verifier };
    sessionStorage.setItem("waiting", JSON.stringify(waiting));
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: "code",
      scope: "openid email",
      nonce: (await sha256(publicKey)).toHex(),
      code_challenge: (await sha256(verifier)).toBase64({ alphabet: "base64url", omitPadding: true }),
      code_challenge_method: "S256",
    });
    return `${issuer}/auth?${query}`;
  },
  /** Back from there. */
  async token() {
    const waiting: Waiting = JSON.parse(sessionStorage.getItem("waiting") ?? "{}");
    const answer = await fetch(`${waiting.issuer}/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code",
        client_id: waiting.clientId,
        redirect_uri: redirectUri,
        code: new URLSearchParams(location.search).get("code") ?? "",
        code_verifier: waiting.verifier,
      }),
    });
    const { id_token: oidcToken } = (await answer.json()) as { id_token: string };
    return { oidcToken, publicKey: waiting.publicKey };
  },
  async complete(oidcToken: string, publicKey: string) {
    const { action, sessionToken } = await client.completeOauth({ oidcToken, publicKey, createSubOrgParams });
    return { action, sessionToken };
  },
  signUp: (oidcToken: string, publicKey: string) =>
    client.signUpWithOauth({ oidcToken, publicKey, createSubOrgParams }),
  logIn: (oidcToken: string, publicKey: string) => client.loginWithOauth({ oidcToken, publicKey }),
  newKey: () => client.createApiKeyPair(),
};

export type OpenidSteps = typeof steps;
offerSteps(steps);
