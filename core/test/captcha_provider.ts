/**
 * A stand-in for a captcha provider: a real HTTP server that answers as Turnstile's `siteverify` does. A token counts once, or again under
 * the same idempotency key.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export type CaptchaProvider = {
  settings: { secret: string; verifyUrl: string };
  /** A person solves one; the token that the page gets. */
  solve(): string;
  /** What was posted, in this order. */
  readonly asked: URLSearchParams[];
  /** The next answer is this instead. */
  answerNext(answer: { status?: number; body: string; contentType?: string }): void;
  close(): Promise<void>;
};

export async function startCaptchaProvider(secret = "s3cret"): Promise<CaptchaProvider> {
  /** By token, the key that it was used under. */
  const tokens = new Map<string, string | undefined>();
  const asked: URLSearchParams[] = [];
  const answers: { status?: number; body: string; contentType?: string }[] = [];
  let solved = 0;

  function judge(form: URLSearchParams): object {
    const no = (code: string) => ({ success: false, "error-codes": [code], messages: [] });
    if (form.get("secret") !== secret) return no("invalid-input-secret");
    const token = form.get("response") ?? "";
    const key = form.get("idempotency_key") ?? "";
    if (!tokens.has(token)) return no("invalid-input-response");
    const before = tokens.get(token);
    if (before !== undefined && (key === "" || key !== before)) return no("timeout-or-duplicate");
    tokens.set(token, key);
    return { success: true, "error-codes": [], challenge_ts: new Date(0).toISOString(), hostname: "app.example.com" };
  }

  async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
  }

  const server = createServer(async (request, response) => {
    const form = await readForm(request);
    asked.push(form);
    const {
      status = 200,
      body,
      contentType = "application/json",
    } = answers.shift() ?? {
      body: JSON.stringify(judge(form)),
    };
    response.writeHead(status, { "content-type": contentType }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    settings: { secret, verifyUrl: `http://127.0.0.1:${port}/siteverify` },
    solve() {
      solved += 1;
      tokens.set(`token-${solved}`, undefined);
      return `token-${solved}`;
    },
    asked,
    answerNext: (answer) => void answers.push(answer),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
