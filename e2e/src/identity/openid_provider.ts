/** Starts a real OpenID provider, and signs in there as a browser would. */
import { type ChildProcess, fork } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const entry = fileURLToPath(new URL("provider_process.ts", import.meta.url));
const nowhere = "https://app.example/callback";
const clientId = "example-app";

export type OpenIdProvider = {
  issuer: string;
  clientId: string;
  /** The ids of its keys, the one that signs first. */
  kids(): readonly string[];
  /** From now on another key signs; the others are published as before, or not any more. */
  rotate(options: { dropsOld: boolean }): Promise<void>;
  /** Signs a user in at its login page; the identity token. */
  signIn(user: string, nonce: string): Promise<string>;
  stop(): void;
};

/** `redirectUri` is the page that people come back to in a real browser; `signIn` needs none. */
export async function startOpenIdProvider(redirectUri = nowhere): Promise<OpenIdProvider> {
  const child = fork(entry, [redirectUri, clientId], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const first = await heard(child);
  const issuer = first.issuer ?? "";
  let { kids } = first;
  return {
    issuer,
    clientId,
    kids: () => kids,
    async rotate(options) {
      child.send(options);
      ({ kids } = await heard(child));
    },
    signIn: (user, nonce) => signIn({ issuer, redirectUri }, user, nonce),
    stop: () => void child.kill(),
  };
}

async function heard(child: ChildProcess): Promise<{ issuer?: string; kids: readonly string[] }> {
  const ended = once(child, "exit").then(([code]) => Promise.reject(new Error(`the provider ended with code ${code}`)));
  const [message] = await Promise.race([once(child, "message"), ended]);
  ended.catch(() => undefined);
  return message;
}

type SignInPlaces = { issuer: string; redirectUri: string };

/** The authorization code flow with PKCE: the provider's pages for login and consent, then its token endpoint. */
async function signIn({ issuer, redirectUri }: SignInPlaces, user: string, nonce: string): Promise<string> {
  const verifier = randomBytes(32).toString("base64url");
  const browser = createBrowser(issuer);
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "openid email",
    nonce,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const loginPage = await browser.go(`/auth?${query}`);
  const consentPage = await browser.go(loginPage, { prompt: "login", login: user, password: "any" });
  const back = await browser.go(consentPage, { prompt: "consent" });
  const code = new URL(back).searchParams.get("code") ?? "";
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: clientId,
      redirect_uri: redirectUri,
      code,
      code_verifier: verifier,
    }),
  });
  const { id_token: token } = (await response.json()) as { id_token?: string };
  if (token === undefined) throw new Error(`the provider gave no token (${response.status})`);
  return token;
}

/** Keeps cookies and follows redirects, up to a page of the provider or the way back to the application. */
function createBrowser(issuer: string) {
  const cookies = new Map<string, string>();
  return {
    async go(address: string, form?: Record<string, string>): Promise<string> {
      let url = new URL(address, issuer).href;
      let body = form === undefined ? undefined : new URLSearchParams(form);
      while (url.startsWith(issuer)) {
        const response: Response = await fetch(url, {
          method: body === undefined ? "GET" : "POST",
          redirect: "manual",
          headers: { cookie: Array.from(cookies, ([name, value]) => `${name}=${value}`).join("; ") },
          ...(body !== undefined && { body }),
        });
        for (const line of response.headers.getSetCookie()) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          cookies.set(name, value);
        }
        await response.arrayBuffer();
        const location = response.headers.get("location");
        if (location === null) {
          if (response.status !== 200) throw new Error(`the provider answers ${response.status} at ${url}`);
          return url;
        }
        url = new URL(location, url).href;
        body = undefined;
      }
      return url;
    },
  };
}
