/** Requests as bytes: what the SDK would never send must be sent here too. */
import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import type { StampScheme } from "@keystead/core/crypto/stamp.ts";
import { fromBase64url, toBase64url } from "@keystead/core/encoding/base64url.ts";
import { patienceMs } from "../../core/test/patience.ts";
import { type KeyPair, schemeOf } from "./key_pairs.ts";

export type Answer = {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
  /** Parsed when the content type says JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what the server sent, whatever it is.
  json: any;
};

export type Headers = readonly (readonly [name: string, value: string])[];

export type Message = { method?: string; path: string; headers?: Headers; body?: Uint8Array | string };

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
/** When a connection was used last. */
const lastUsed = new WeakMap<object, number>();
/** The server ends connections that nobody has used for fifteen seconds; a request may cross that. */
const maxIdleMs = 10_000;
const utf8 = new TextEncoder();

export function bytesOf(body: unknown): Uint8Array {
  return body instanceof Uint8Array ? body : utf8.encode(typeof body === "string" ? body : JSON.stringify(body));
}

/**
 * On a machine that is short of time the signer may be late, or be replaced because it was, and a request may have waited for its turn
 * for too long. The same bytes are the same request, so they are sent again. A test about just that looks at the first answer.
 */
export function isLate({ status, json }: Pick<Answer, "status" | "json">): boolean {
  const message = json?.message ?? "";
  if (status === 429) return /^too many requests (of this organization )?wait; try again$/.test(message);
  if (status !== 503) return false;
  return /^the (signer (did not answer in time|is not running)|request waited too long for its turn)/.test(message);
}

/** Sends exactly these headers, in this order and as often as they stand here, and besides only those of HTTP itself. */
export async function send(url: string, message: Message): Promise<Answer> {
  for (const until = Date.now() + patienceMs; ; await pause(50)) {
    const answer = await sendOnce(url, message);
    if (!isLate(answer) || Date.now() > until) return answer;
  }
}

/** As `send`, and whatever comes is the answer. */
export function sendOnce(url: string, { method = "POST", path, headers = [], body }: Message): Promise<Answer> {
  const { hostname, port, host } = new URL(url);
  const bytes = body === undefined ? undefined : bytesOf(body);
  const own: Headers = [
    ["Host", host],
    ...(bytes === undefined ? [] : [["Content-Length", String(bytes.length)] as const]),
  ];
  return new Promise((resolve, reject) => {
    let wasIdleMs = 0;
    const outgoing = request(
      { agent, hostname, port, method, path, headers: [...own, ...headers].flat() },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          const isJson = incoming.headers["content-type"] === "application/json" && text !== "";
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            text,
            json: isJson ? JSON.parse(text) : undefined,
          });
        });
      },
    );
    outgoing.on("socket", (socket) => {
      wasIdleMs = Date.now() - (lastUsed.get(socket) ?? Date.now());
      outgoing.on("close", () => lastUsed.set(socket, Date.now()));
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      // As every client does that keeps connections. One that was used a moment ago is not ended by an honest server.
      const isEnded = error.code === "ECONNRESET" || error.code === "EPIPE";
      const isCrossed = outgoing.reusedSocket && isEnded && wasIdleMs >= maxIdleMs;
      if (isCrossed) resolve(sendOnce(url, { method, path, headers, ...(body !== undefined && { body }) }));
      else reject(error);
    });
    outgoing.end(bytes);
  });
}

/** One connection, these bytes, and everything that comes back until the server closes it. */
export function sendRaw(url: string, bytes: Uint8Array | string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let received = "";
    socket.setTimeout(patienceMs, () => socket.destroy());
    socket.on("data", (chunk) => (received += chunk));
    // A server that refuses early may reset a connection that still sends; what it said before counts.
    socket.on("error", (error) => (received === "" ? reject(error) : undefined));
    socket.on("close", () => resolve(received));
    socket.write(bytes);
  });
}

export type StampFields = { publicKey: string; scheme: string; signature: string };

/** The parts of a valid stamp, to be bent. */
export function stampFields(key: KeyPair, body: Uint8Array, scheme: StampScheme = schemeOf[key.curve]): StampFields {
  return JSON.parse(Buffer.from(fromBase64url(signStamp(key.privateKey, scheme, body))).toString("utf8"));
}

export function stampOf(fields: object): string {
  return toBase64url(utf8.encode(JSON.stringify(fields)));
}

export type CallOptions = {
  scheme?: StampScheme;
  /** Instead of the stamp the key would make. */
  stamp?: string;
  headers?: Headers;
};

/** A stamped POST of `body`, as any client would send it. */
export function call(
  url: string,
  path: string,
  key: KeyPair,
  body: unknown,
  options: CallOptions = {},
): Promise<Answer> {
  const bytes = bytesOf(body);
  const stamp = options.stamp ?? signStamp(key.privateKey, options.scheme ?? schemeOf[key.curve], bytes);
  return send(url, {
    path,
    headers: [["Content-Type", "application/json"], ["X-Stamp", stamp], ...(options.headers ?? [])],
    body: bytes,
  });
}

export type Refusal = {
  status: number;
  code: number;
  message: string | RegExp;
  errorCode?: string;
  /** Entries besides the one that names the error code, or what looks at them. */
  details?: readonly unknown[] | ((details: readonly Answer["json"][]) => void);
};

/** Sent by a client that calls itself so, and answered in its spelling. */
export const publishedClient: Headers = [["X-Client-Version", "@turnkey/http@6.6.0"]];

/** The whole of a refusal: status, content type, and a body with exactly these four fields, five for published clients. */
export function assertRefused(
  answer: Answer,
  { status, code, message, errorCode = "", details = [] }: Refusal,
  spelling: "own" | "published" = "own",
): void {
  const named = {
    "@type": "type.googleapis.com/errors.v1.TurnkeyErrorDetail",
    turnkeyErrorCode: errorCode,
  };
  assert.equal(answer.headers["content-type"], "application/json", answer.text);
  const { message: said, ...rest } = answer.json;
  const names = errorCode === "" ? [] : [named];
  if (typeof details === "function") details(rest.details);
  assert.deepEqual(
    { status: answer.status, ...rest },
    {
      status,
      code,
      details: typeof details === "function" ? rest.details : [...details, ...names],
      errorCode,
      ...(spelling === "published" && { turnkeyErrorCode: errorCode }),
    },
    answer.text,
  );
  if (typeof message === "string") assert.equal(said, message);
  else assert.match(said, message);
}

/** An accepted request. */
export function assertAccepted(answer: Answer): void {
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers["content-type"], "application/json");
}

/** Answered as this caller. */
export function assertIs(answer: Answer, { organizationId, userId }: { organizationId: string; userId: string }): void {
  assertAccepted(answer);
  assert.equal(answer.json.organizationId, organizationId);
  assert.equal(answer.json.userId, userId);
}
