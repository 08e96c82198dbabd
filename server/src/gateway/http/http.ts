/** The door: HTTP in, JSON out. Sizes, headers and times are bounded here; what a request means is decided elsewhere. */
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Fault } from "@keystead/core/fault.ts";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type HTTPMethods } from "fastify";
import type { AnyActivity } from "../../endpoints/define_activity.ts";
import type { AnyQuery } from "../../endpoints/define_query.ts";
import { readBody, readOrganizationId } from "../../endpoints/envelope.ts";
import { explainMismatch } from "../../endpoints/explain_schema.ts";
import { activities } from "../../generated/activities.ts";
import { queries } from "../../generated/queries.ts";
import { queryValidators } from "../../generated/query_validators.ts";
import { passed } from "../../state/steps.ts";
import { inSnapshot } from "../../store/snapshot.ts";
import type { Store } from "../../store/store.ts";
import { dialectOf } from "../../views/dialect.ts";
import { statusOf, toFailure } from "../../views/error_body.ts";
import { Overloaded } from "../bounds/admission.ts";
import { memoryBounds } from "../bounds/memory_bounds.ts";
import { createQueryTurns, type QueryTurns } from "../bounds/query_turns.ts";
import { authenticateQuery } from "../evidence/authenticate_query.ts";
import { createDoubts } from "../evidence/doubts.ts";
import { readStampHeader } from "../evidence/stamp_header.ts";
import { readKey } from "../submit/idempotency.ts";
import { submit } from "../submit/submit.ts";
import type { SubmitDependencies } from "../submit/submit_dependencies.ts";
import {
  clientVersion,
  type FaultLog,
  openness,
  sendAnswer,
  sendBytes,
  sendFailure,
  sendFault,
  sendJson,
} from "./answers.ts";
import { type Bodies, createBodies } from "./bodies.ts";
import { type Connections, createConnections, hasBody, leaveUnread } from "./connections.ts";
import type { Metrics } from "./metrics.ts";

export type HttpRoom = SubmitDependencies &
  FaultLog & {
    metrics: Metrics;
    /** Bytes that wait elsewhere than at the door, by the names of `memory_bounds.ts`. */
    heldBytes?(): Readonly<Record<string, number>>;
    /** What keeps the service from being ready, or nothing. */
    unready(): Promise<string | undefined>;
    /** The deployment's public keys, for anyone to pin. */
    publicKeys(): Record<string, string>;
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
  largeBytes: 64 * 1024,
  /** While it is answered; nothing that is asked takes nearly as long. */
  stillMs: 60_000,
  /** Bodies that are refused for their stamps may be kept so long. */
  keptBytes: 16 * 1024,
  pipelined: 16,
  pipelinedBytes: 128 * 1024,
  largeWaiting: 16,
  doubts: { places: 2, waiting: 1_000, keys: 1_000, keptMs: 60_000 },
} as const;

/** Characters of a header that are repeated to who sent it: an answer is not made longer by asking longer. */
const quoted = 100;

/** What a request goes through before its endpoint is asked. */
type Entrance = { connections: Connections; bodies: Bodies; queryTurns: QueryTurns };

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

/** Those an API path answers only to refuse them. */
const otherMethods: HTTPMethods[] = ["GET", "PUT", "PATCH", "DELETE"];

export function createHttp(house: HttpRoom): FastifyInstance {
  const room = { ...house, doubts: createDoubts(limits.doubts) };
  const connections = createConnections({
    connections: limits.connections,
    bodyBytes: limits.bodyBytes,
    waiting: limits.pipelined,
    waitingBytes: limits.pipelinedBytes,
    // Clients of ours ask one at a time on a connection: only who floods comes near this.
    allWaitingBytes: memoryBounds.pipelined,
    largeBytes: limits.largeBytes,
    largeWaiting: limits.largeWaiting,
    stillMs: limits.stillMs,
    bodiesBytes: memoryBounds.bodies,
    answersBytes: memoryBounds.answers,
  });
  const entrance = {
    connections,
    bodies: createBodies({ bytes: limits.bodyBytes, together: memoryBounds.bodies }),
    queryTurns: createQueryTurns(),
  };
  const app = fastify({
    // Clients build URLs by plain concatenation.
    routerOptions: { ignoreDuplicateSlashes: true, maxParamLength: 100 },
    serverFactory(handler) {
      const server = connections.createServer(
        {
          maxHeaderSize: limits.headerBytes,
          headersTimeout: limits.headersMs,
          requestTimeout: limits.requestMs,
          connectionsCheckingInterval: limits.checkMs,
          keepAliveTimeout: limits.keepAliveMs,
          // Refused below, in our own words.
          requireHostHeader: false,
        },
        handler,
      );
      server.maxRequestsPerSocket = limits.requestsPerSocket;
      server.maxHeadersCount = limits.headers;
      return server;
    },
    clientErrorHandler: connections.refuse,
    // A path that is not even a path: without this it would be answered in the framework's own words.
    frameworkErrors(error, request, reply) {
      if (hasBody(request.raw)) leaveUnread(request.raw, reply.raw);
      sendFault(room, request, reply, error);
    },
    logger: false,
    // Our own validators are written ahead; the framework's compilers would be a hundred modules at every start.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    // While closing, what still arrives on open connections is answered as ever, and each connection ends with its answer.
    return503OnClosing: false,
  });

  // The body's bytes are what was signed, so nobody may read them but us, whatever the header says they are.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));

  app.addHook("onRequest", (request, reply, done) => {
    // Nobody reads a body there, and whoever sends one anyway is not waited for.
    if (request.method !== "POST" && hasBody(request.raw)) leaveUnread(request.raw, reply.raw);
    const why = misshapen(request.raw);
    if (why !== undefined) {
      leaveUnread(request.raw, reply.raw);
      sendFault(room, request, reply, new Fault("invalid_argument", why));
      return;
    }
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
    app.post(`/public/v1/submit/${activity.path}`, (request, reply) =>
      handleSubmit(room, entrance, activity, request, reply),
    );
  }
  for (const query of Object.values(queries) as AnyQuery[]) {
    app.post(`/public/v1/query/${query.path}`, (request, reply) => handleQuery(room, entrance, query, request, reply));
  }
  refuseOtherMethods(app, "submit", activities);
  refuseOtherMethods(app, "query", queries);

  const openapi = readFileSync(new URL("../../generated/openapi.json", import.meta.url));
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
    reply.header("content-type", "text/plain; version=0.0.4; charset=utf-8").send(
      await room.metrics.text({
        ...connections.held(),
        queries: entrance.queryTurns.waitingBytes(),
        ...room.heldBytes?.(),
      }),
    );
    return reply;
  });
  app.get("/.well-known/keystead.json", (_request, reply) => sendJson(reply, 200, { publicKeys: room.publicKeys() }));

  app.setNotFoundHandler(async (request, reply) => {
    if (request.method === "POST") await entrance.bodies.read(request.raw, reply.raw);
    return sendFault(
      room,
      request,
      reply,
      new Fault("not_found", `there is nothing at ${request.method} \`${pathOf(request)}\``),
    );
  });
  app.setErrorHandler((error, request, reply) => sendFault(room, request, reply, error));
  return app;
}

function noCompiler(): never {
  throw new Error("endpoints have no schemas of the framework's");
}

/**
 * Refused whatever it asks, because others on its way may have read it otherwise: a protocol that only the first line claims, no
 * or several hosts, a body in an encoding that we do not undo, or in chunks that its protocol does not have.
 */
function misshapen({ httpVersionMajor, httpVersionMinor, headers, rawHeaders }: IncomingMessage): string | undefined {
  if (httpVersionMajor !== 1) return "malformed HTTP request";
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  if (hosts > 1 || (hosts === 0 && httpVersionMinor === 1)) return "malformed HTTP request: exactly one Host header";
  const encoding = headers["transfer-encoding"];
  if (encoding === undefined) return undefined;
  if (encoding.toLowerCase() === "chunked" && httpVersionMinor === 1) return undefined;
  return `bad request body: transfer encoding \`${encoding.slice(0, quoted)}\` is not accepted`;
}

async function handleSubmit(
  room: HttpRoom,
  entrance: Entrance,
  activity: AnyActivity,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const body = await enter(entrance, request, reply);
  const finish = room.metrics.start("submit", activity.path);
  try {
    checkBody(request, body);
    const stamp = readStampHeader(request.raw.rawHeaders, "submit");
    const dialect = dialectOf(clientVersion(request));
    const idempotencyKey = readKey(request.headers["idempotency-key"]);
    passed("arrived");
    const answer = await reading(body, () => submit(room, activity, { body, stamp, idempotencyKey }, dialect));
    passed("answering");
    if ("failure" in answer) {
      finish(statusOf(answer.failure));
      return sendFailure(request, reply, answer.failure);
    }
    finish(200);
    entrance.queryTurns.seen(answer.activity.organizationId);
    sendAnswer(reply, answer);
    passed("answered");
    return;
  } catch (error) {
    if (isStranger(error, body)) await entrance.connections.refusalsTurn(request.raw.socket);
    if (error instanceof Overloaded) await entrance.connections.overloadsTurn(request.raw.socket);
    finish(sendFault(room, request, reply, error).statusCode);
    return reply;
  }
}

async function handleQuery(
  room: HttpRoom,
  entrance: Entrance,
  query: AnyQuery,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const body = await enter(entrance, request, reply);
  const finish = room.metrics.start("query", query.path);
  try {
    checkBody(request, body);
    const stamp = readStampHeader(request.raw.rawHeaders, "query");
    const value = readBody(body);
    const organizationId = readOrganizationId(value);
    const caller = await authenticateQuery(
      room,
      organizationId,
      stamp,
      body,
      query.findsSubOrganization === true ? "sub-organization" : "named",
    );
    if (Object.hasOwn(value, "parameters") || Object.hasOwn(value, "timestampMs")) throw activityAsQuery();
    if (queryValidators[query.path]?.(value) !== true) throw explainMismatch(query.request, value, "");
    const asked = { ...value, organizationId } as never;
    const dialect = dialectOf(clientVersion(request));
    const run = (store: Store) => query.run(store, caller, asked, dialect);
    return await entrance.queryTurns.answer(caller.organizationId, body.length, async () => {
      const answer = await reading(body, () =>
        query.inSnapshot === true ? inSnapshot(room.store, run) : run(room.store),
      );
      finish(200);
      return sendAnswer(reply, answer);
    });
  } catch (error) {
    if (isStranger(error, body)) await entrance.connections.refusalsTurn(request.raw.socket);
    if (error instanceof Overloaded) await entrance.connections.overloadsTurn(request.raw.socket);
    finish(sendFault(room, request, reply, error).statusCode);
    return reply;
  }
}

/**
 * Rows that cannot be read are most likely changed ones. The caller hears of a mistake of ours; the operator, whose rows they are
 * and what names them.
 */
async function reading<T>(body: Uint8Array, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Fault && error.code !== "internal") throw error;
    const organizationId = readOrganizationId(readBody(body));
    const what = `organization ${organizationId}: an answer failed; if rows were changed, \`npx keystead check-database\` names them`;
    throw new Fault("internal", what, { cause: error });
  }
}

/**
 * The stamps of activities are kept in their votes for every reader to check. One that passed for the stamp of a query would be a
 * key to everything its owner can read, for whoever has seen it.
 */
function activityAsQuery(): Fault {
  return new Fault("invalid_argument", "bad request body: the body of an activity is not a query");
}

/** The whole body, once it is this request's turn. */
async function enter(
  { bodies, connections }: Entrance,
  { raw }: FastifyRequest,
  reply: FastifyReply,
): Promise<Uint8Array> {
  const body = await bodies.read(raw, reply.raw);
  const turn = connections.turn(raw.socket, body.length);
  if (turn !== undefined) await turn;
  return body;
}

/** A large body has had to wait already, and must not be kept any longer. */
function isStranger(error: unknown, body: Uint8Array): boolean {
  return error instanceof Fault && error.code === "unauthenticated" && body.length < limits.keptBytes;
}

function checkBody(request: FastifyRequest, body: Uint8Array): void {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    const shown = encoding.slice(0, quoted);
    throw new Fault("invalid_argument", `bad request body: content encoding \`${shown}\` is not accepted`);
  }
  if (body.length === 0) throw new Fault("invalid_argument", "bad request body: empty");
}

/** One route for all endpoints: the router takes its time with each, at every start. */
function refuseOtherMethods(
  app: FastifyInstance,
  kind: "submit" | "query",
  endpoints: Record<string, { path: string }>,
) {
  const paths = new Set(Object.values(endpoints).map(({ path }) => path));
  app.route<{ Params: { path: string } }>({
    method: otherMethods,
    url: `/public/v1/${kind}/:path`,
    handler: (request, reply) =>
      paths.has(request.params.path) ? methodNotAllowed(request, reply) : reply.callNotFound(),
  });
}

async function methodNotAllowed(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.header("allow", "POST, OPTIONS");
  return sendFailure(request, reply, toFailure(new Fault("unimplemented", "only POST is accepted here")), 405);
}

function pathOf(request: FastifyRequest): string {
  return request.url.split("?", 1)[0]?.slice(0, 200) ?? "";
}
