/** The door: HTTP in, JSON out. Sizes, headers and times are bounded here; what a request means is decided elsewhere. */
import { readFileSync } from "node:fs";
import type { Curves } from "@keystead/core/crypto/curves.ts";
import { Fault } from "@keystead/core/fault.ts";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type HTTPMethods } from "fastify";
import type { AnyActivity } from "../endpoints/define_activity.ts";
import type { AnyQuery } from "../endpoints/define_query.ts";
import { readBody, readOrganizationId } from "../endpoints/envelope.ts";
import { explainMismatch } from "../endpoints/explain_schema.ts";
import { activities } from "../generated/activities.ts";
import { queries } from "../generated/queries.ts";
import { queryValidators } from "../generated/query_validators.ts";
import { dialectOf } from "../views/dialect.ts";
import { errorBody, type Failure, statusOf, toFailure } from "../views/error_body.ts";
import { authenticateQuery } from "./authenticate_query.ts";
import type { SubmitRoom } from "./execute.ts";
import { readKey } from "./idempotency.ts";
import type { Metrics } from "./metrics.ts";
import { readStampHeader } from "./stamp_header.ts";
import { submit } from "./submit.ts";

export type HttpRoom = SubmitRoom & {
  metrics: Metrics;
  /** What keeps the service from being ready, or nothing. */
  unready(): Promise<string | undefined>;
  /** The deployment's public keys, for anyone to pin. */
  publicKeys(): Record<string, string>;
  log(message: string, error: unknown): void;
};

/** security.md §9, with room for the 32 KiB of an attested stamp. */
const limits = {
  bodyBytes: 1024 * 1024,
  headerBytes: 48 * 1024,
  headersMs: 10_000,
  requestMs: 20_000,
  checkMs: 5_000,
  keepAliveMs: 15_000,
  requestsPerSocket: 1_000,
  connections: 10_000,
  headers: 100,
} as const;

const allowedHeaders = [
  "content-type",
  "x-stamp",
  "x-stamp-webauthn",
  "x-stamp-attested",
  "x-session",
  "x-client-version",
  "x-auth-proxy-config-id",
  "x-captcha-token",
  "idempotency-key",
].join(", ");

/** What every answer but a preflight's tells a browser: any page may read it, the limits included. */
const openness = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ratelimit-limit, ratelimit-remaining",
} as const;

const answerHeaders = Object.entries({ ...openness, "content-type": "application/json" }).flat();

/** Those an API path answers only to refuse them. */
const otherMethods: HTTPMethods[] = ["GET", "PUT", "PATCH", "DELETE"];

export function createHttp(room: HttpRoom): FastifyInstance {
  const app = fastify({
    bodyLimit: limits.bodyBytes,
    connectionTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    requestTimeout: limits.requestMs,
    maxRequestsPerSocket: limits.requestsPerSocket,
    // Clients build URLs by plain concatenation.
    routerOptions: { ignoreDuplicateSlashes: true, maxParamLength: 100 },
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: limits.checkMs,
    },
    clientErrorHandler: refuseUnreadable,
    // A path that is not even a path: without this it would be answered in the framework's own words.
    frameworkErrors: (error, request, reply) => sendFault(room, request, reply, error),
    logger: false,
    // While closing, what still arrives on open connections is answered as ever, and each connection ends with its answer.
    return503OnClosing: false,
  });

  app.server.maxConnections = limits.connections;
  app.server.maxHeadersCount = limits.headers;

  // The body's bytes are what was signed, so nothing here may read them but us, whatever the header says they are.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));

  app.addHook("onRequest", (request, reply, done) => {
    if (request.method === "OPTIONS") {
      reply
        .code(204)
        .header("access-control-allow-origin", "*")
        .header("access-control-allow-methods", "POST, GET, OPTIONS")
        .header("access-control-allow-headers", allowedHeaders)
        .header("access-control-max-age", "86400")
        .send();
      return;
    }
    reply.headers(openness);
    // The framework refuses a content type that it cannot parse before it asks any parser.
    if (request.raw.headers["content-type"] !== undefined) request.raw.headers["content-type"] = "application/json";
    done();
  });

  for (const activity of Object.values(activities) as AnyActivity[]) {
    app.post(`/public/v1/submit/${activity.path}`, (request, reply) => handleSubmit(room, activity, request, reply));
    app.route({ method: otherMethods, url: `/public/v1/submit/${activity.path}`, handler: methodNotAllowed });
  }
  for (const query of Object.values(queries) as AnyQuery[]) {
    app.post(`/public/v1/query/${query.path}`, (request, reply) =>
      handleQuery(room, room.curves, query, request, reply),
    );
    app.route({ method: otherMethods, url: `/public/v1/query/${query.path}`, handler: methodNotAllowed });
  }

  const openapi = readFileSync(new URL("../generated/openapi.json", import.meta.url));
  app.get("/openapi.json", (_request, reply) => sendBytes(reply, 200, openapi));
  app.get("/healthz", (_request, reply) => sendJson(reply, 200, { status: "alive" }));
  app.get("/readyz", async (_request, reply) => {
    const why = await room.unready();
    return sendJson(
      reply,
      why === undefined ? 200 : 503,
      why === undefined ? { status: "ready" } : { status: "not ready", why },
    );
  });
  app.get("/metrics", async (_request, reply) => {
    reply.header("content-type", "text/plain; version=0.0.4; charset=utf-8").send(await room.metrics.text());
    return reply;
  });
  app.get("/.well-known/keystead.json", (_request, reply) => sendJson(reply, 200, { publicKeys: room.publicKeys() }));

  app.setNotFoundHandler((request, reply) =>
    sendFault(
      room,
      request,
      reply,
      new Fault("not_found", `there is nothing at ${request.method} \`${pathOf(request)}\``),
    ),
  );
  app.setErrorHandler((error, request, reply) => sendFault(room, request, reply, error));
  return app;
}

async function handleSubmit(room: HttpRoom, activity: AnyActivity, request: FastifyRequest, reply: FastifyReply) {
  const finish = room.metrics.start("submit", activity.path);
  try {
    const body = bodyOf(request);
    const stamp = readStampHeader(request.raw.rawHeaders, "submit");
    const dialect = dialectOf(clientVersion(request));
    const idempotencyKey = readKey(request.headers["idempotency-key"]);
    const answer = await submit(room, activity, { body, stamp, idempotencyKey }, dialect);
    if ("failure" in answer) {
      finish(statusOf(answer.failure));
      return sendFailure(request, reply, answer.failure);
    }
    finish(200);
    return sendAnswer(reply, answer);
  } catch (error) {
    finish(sendFault(room, request, reply, error).statusCode);
    return reply;
  }
}

async function handleQuery(
  room: HttpRoom,
  curves: Curves,
  query: AnyQuery,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const finish = room.metrics.start("query", query.path);
  try {
    const body = bodyOf(request);
    const stamp = readStampHeader(request.raw.rawHeaders, "query");
    const value = readBody(body);
    const organizationId = readOrganizationId(value);
    const caller = await authenticateQuery(
      room.store,
      curves,
      organizationId,
      stamp,
      body,
      query.findsSubOrganization === true ? "sub-organization" : "named",
    );
    if (Object.hasOwn(value, "parameters") || Object.hasOwn(value, "timestampMs")) throw activityAsQuery();
    if (queryValidators[query.path]?.(value) !== true) throw explainMismatch(query.request, value, "");
    const answer = await query.run(
      room.store,
      caller,
      { ...value, organizationId } as never,
      dialectOf(clientVersion(request)),
    );
    finish(200);
    return sendAnswer(reply, answer);
  } catch (error) {
    finish(sendFault(room, request, reply, error).statusCode);
    return reply;
  }
}

/**
 * The stamps of activities are kept in their votes for every reader to check. One that passed for the stamp of a query would be a
 * key to everything its owner can read, for whoever has seen it.
 */
function activityAsQuery(): Fault {
  return new Fault("invalid_argument", "bad request body: the body of an activity is not a query");
}

function bodyOf(request: FastifyRequest): Uint8Array {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new Fault("invalid_argument", `bad request body: content encoding \`${encoding}\` is not accepted`);
  }
  if (!Buffer.isBuffer(request.body)) throw new Fault("invalid_argument", "bad request body: empty");
  return request.body;
}

function clientVersion(request: FastifyRequest): string | undefined {
  const value = request.headers["x-client-version"];
  return typeof value === "string" ? value : undefined;
}

/** Clients exist that reject any other spelling of the content type, a charset included. */
function sendBytes(reply: FastifyReply, status: number, bytes: Uint8Array): FastifyReply {
  return reply.code(status).header("content-type", "application/json").send(bytes);
}

function sendJson(reply: FastifyReply, status: number, value: unknown): FastifyReply {
  return sendBytes(reply, status, Buffer.from(JSON.stringify(value)));
}

/**
 * What was asked for, written past the framework: that would add a charset to the type of a text, and the same text as bytes
 * costs a copy and a write of its own.
 */
function sendAnswer(reply: FastifyReply, value: unknown): void {
  const text = JSON.stringify(value);
  const length = String(Buffer.byteLength(text));
  reply.hijack();
  reply.raw.writeHead(200, [...answerHeaders, "content-length", length]).end(text);
}

function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  failure: Failure,
  status = statusOf(failure),
): FastifyReply {
  return sendJson(reply, status, dialectOf(clientVersion(request)).error(errorBody(failure)));
}

function sendFault(room: HttpRoom, request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const fault = toFault(room, error);
  const status = error instanceof Error && "statusCode" in error && error.statusCode === 413 ? 413 : undefined;
  return sendFailure(request, reply, toFailure(fault), status);
}

/** What is not a refusal of ours is our mistake: the caller learns a reference, the log learns the rest. */
function toFault(room: HttpRoom, error: unknown): Fault {
  if (error instanceof Fault) {
    if (error.code === "internal") return internal(room, error);
    if (error.cause !== undefined) room.log(error.message, error.cause);
    return error;
  }
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  if (status === 413) return new Fault("invalid_argument", `bad request body: larger than ${limits.bodyBytes} bytes`);
  if (status >= 400 && status < 500) return new Fault("invalid_argument", "bad request body");
  return internal(room, error);
}

function internal(room: HttpRoom, error: unknown): Fault {
  const reference = crypto.randomUUID();
  room.log(`internal server error (${reference})`, error);
  return new Fault("internal", `internal server error (${reference})`);
}

async function methodNotAllowed(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.header("allow", "POST, OPTIONS");
  return sendFailure(request, reply, toFailure(new Fault("unimplemented", "only POST is accepted here")), 405);
}

function pathOf(request: FastifyRequest): string {
  return request.url.split("?", 1)[0]?.slice(0, 200) ?? "";
}

/** Bytes that are not HTTP, headers beyond the limit, a sender that is too slow: answered without a request object. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: import("node:net").Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return;
  const known: Record<string, [string, string]> = {
    HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "request headers are too large"],
    ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "the request took too long"],
  };
  const [status, message] = known[error.code ?? ""] ?? ["400 Bad Request", "malformed HTTP request"];
  const body = JSON.stringify(errorBody(toFailure(new Fault("invalid_argument", message))));
  socket.write(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\naccess-control-allow-origin: *\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  // Not merely ended: a client that never closes its side would keep the socket for ever.
  socket.destroySoon();
}
