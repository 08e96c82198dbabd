/**
 * A stand-in for an OAuth 2.0 provider: a real HTTP server that exchanges codes as RFC 6749 and RFC 7636 say, and tells who has signed in
 * in the shapes of the real ones. Codes are good once. A code says itself whose it is, so that a process beside the provider's can make one.
 */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type ProviderUser = { id: string };

export type StandInProvider = {
  url: string;
  /** For KEYSTEAD_OAUTH2_PROVIDERS. */
  addresses: { tokenUrl: string; userUrl: string };
  /** The user signs in and is sent back with this code. */
  signIn(user: ProviderUser, codeVerifier: string, redirectUri: string): string;
  /** How often a code was asked for a token. */
  readonly exchanges: number;
  /** The codes that were exchanged for a token, each as often as it was. */
  readonly granted: readonly string[];
  /** What they were exchanged for. */
  readonly bearerTokens: readonly string[];
  /** The next answers of the token endpoint are these instead. */
  failNext(answer: { status: number; body: unknown; contentType?: string }): void;
  close(): Promise<void>;
};

/** Without a client id any has this secret. */
export type StandInClient = { clientId?: string; clientSecret: string };

/** Where a sign-in stands at the provider. */
export type ProviderStep = "code asked for" | "code exchanged" | "user asked for";

type Code = { user: ProviderUser; challenge: string; redirectUri: string };

const challengeOf = (verifier: string) => createHash("sha256").update(verifier).digest("base64url");

function makeCode(code: Code): string {
  return Buffer.from(JSON.stringify({ ...code, unique: randomBytes(12).toString("hex") })).toString("base64url");
}

function readCode(text: string): Code | undefined {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as Code;
  } catch {
    return undefined;
  }
}

/** Name and secret as RFC 6749, section 2.3.1, has them: each encoded as in a form. */
function basicOf(header: string): (string | null)[] {
  const text = Buffer.from(header.replace(/^Basic /, ""), "base64").toString("utf8");
  return text.split(":").map((part) => new URLSearchParams(`part=${part}`).get("part"));
}

export async function startOauth2Provider(
  { clientId, clientSecret }: StandInClient,
  shape: (user: ProviderUser) => unknown = ({ id }) => ({ data: { id, name: "Ann", username: "ann" } }),
  /** Is waited for at each step. */
  reached: (step: ProviderStep) => Promise<void> = async () => undefined,
): Promise<StandInProvider> {
  const granted: string[] = [];
  const tokens = new Map<string, ProviderUser>();
  const failures: { status: number; body: unknown; contentType?: string }[] = [];
  let exchanges = 0;

  function send(response: ServerResponse, status: number, body: unknown, contentType = "application/json"): void {
    response.writeHead(status, { "content-type": contentType }).end(JSON.stringify(body));
  }

  async function exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    exchanges += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    await reached("code asked for");
    const failure = failures.shift();
    if (failure !== undefined) return send(response, failure.status, failure.body, failure.contentType);
    const form = new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
    const [id, secret] = basicOf(request.headers.authorization ?? "");
    if ((clientId !== undefined && id !== clientId) || secret !== clientSecret)
      return send(response, 401, { error: "invalid_client" });
    const text = form.get("code") ?? "";
    const code = readCode(text);
    const isRight =
      code !== undefined &&
      !granted.includes(text) &&
      form.get("grant_type") === "authorization_code" &&
      form.get("redirect_uri") === code.redirectUri &&
      form.get("client_id") === id &&
      challengeOf(form.get("code_verifier") ?? "") === code.challenge;
    if (!isRight) return send(response, 400, { error: "invalid_grant", error_description: `code ${text}` });
    granted.push(text);
    const token = randomBytes(24).toString("base64url");
    tokens.set(token, code.user);
    await reached("code exchanged");
    send(response, 200, { token_type: "bearer", expires_in: 7200, access_token: token, scope: "users.read" });
  }

  async function tell(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await reached("user asked for");
    const user = tokens.get((request.headers.authorization ?? "").replace(/^Bearer /, ""));
    if (user === undefined) send(response, 401, { title: "Unauthorized", status: 401 });
    else send(response, 200, shape(user));
  }

  const server = createServer((request, response) => {
    if (request.method === "POST" && request.url === "/2/oauth2/token") void exchange(request, response);
    else if (request.method === "GET" && request.url === "/2/users/me") void tell(request, response);
    else send(response, 404, { error: "not_found" });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // Whoever forgets to close it must not keep a test from ending.
  server.unref();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    addresses: { tokenUrl: `${url}/2/oauth2/token`, userUrl: `${url}/2/users/me` },
    signIn: (user, codeVerifier, redirectUri) => makeCode({ user, challenge: challengeOf(codeVerifier), redirectUri }),
    granted,
    get bearerTokens() {
      return [...tokens.keys()];
    },
    get exchanges() {
      return exchanges;
    },
    failNext: (answer) => void failures.push(answer),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
