/**
 * A stand-in for an OAuth 2.0 provider: a real HTTP server that exchanges codes as RFC 6749 and RFC 7636 say, and tells who has signed in
 * in the shapes of the real ones. Codes are good once.
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
  /** The next answers of the token endpoint are these instead. */
  failNext(answer: { status: number; body: unknown; contentType?: string }): void;
  close(): Promise<void>;
};

/** Without a client id any has this secret. */
export type StandInClient = { clientId?: string; clientSecret: string };

type Code = { user: ProviderUser; challenge: string; redirectUri: string };

const challengeOf = (verifier: string) => createHash("sha256").update(verifier).digest("base64url");

/** Name and secret as RFC 6749, section 2.3.1, has them: each encoded as in a form. */
function basicOf(header: string): (string | null)[] {
  const text = Buffer.from(header.replace(/^Basic /, ""), "base64").toString("utf8");
  return text.split(":").map((part) => new URLSearchParams(`part=${part}`).get("part"));
}

export async function startOauth2Provider(
  { clientId, clientSecret }: StandInClient,
  shape: (user: ProviderUser) => unknown = ({ id }) => ({ data: { id, name: "Ann", username: "ann" } }),
): Promise<StandInProvider> {
  const codes = new Map<string, Code>();
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
    const failure = failures.shift();
    if (failure !== undefined) return send(response, failure.status, failure.body, failure.contentType);
    const form = new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
    const [id, secret] = basicOf(request.headers.authorization ?? "");
    if ((clientId !== undefined && id !== clientId) || secret !== clientSecret)
      return send(response, 401, { error: "invalid_client" });
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const isRight =
      code !== undefined &&
      form.get("grant_type") === "authorization_code" &&
      form.get("redirect_uri") === code.redirectUri &&
      form.get("client_id") === id &&
      challengeOf(form.get("code_verifier") ?? "") === code.challenge;
    if (!isRight) return send(response, 400, { error: "invalid_grant", error_description: `code ${form.get("code")}` });
    const token = randomBytes(24).toString("base64url");
    tokens.set(token, code.user);
    send(response, 200, { token_type: "bearer", expires_in: 7200, access_token: token, scope: "users.read" });
  }

  function tell(request: IncomingMessage, response: ServerResponse): void {
    const user = tokens.get((request.headers.authorization ?? "").replace(/^Bearer /, ""));
    if (user === undefined) send(response, 401, { title: "Unauthorized", status: 401 });
    else send(response, 200, shape(user));
  }

  const server = createServer((request, response) => {
    if (request.method === "POST" && request.url === "/2/oauth2/token") void exchange(request, response);
    else if (request.method === "GET" && request.url === "/2/users/me") tell(request, response);
    else send(response, 404, { error: "not_found" });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // Whoever forgets to close it must not keep a test from ending.
  server.unref();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    addresses: { tokenUrl: `${url}/2/oauth2/token`, userUrl: `${url}/2/users/me` },
    signIn(user, codeVerifier, redirectUri) {
      const code = randomBytes(24).toString("base64url");
      codes.set(code, { user, challenge: challengeOf(codeVerifier), redirectUri });
      return code;
    },
    get exchanges() {
      return exchanges;
    },
    failNext: (answer) => void failures.push(answer),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
