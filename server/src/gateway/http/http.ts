/** The HTTP server: sizes, headers and times are bounded here; route modules decide what a request means. */
import { Fault } from "@keystead/core/fault.ts";
import fastify, { type FastifyInstance } from "fastify";
import { type FaultLog, sendFault } from "./answers.ts";
import { createBodies } from "./bodies.ts";
import type { TrustedProxies } from "./caller_address.ts";
import { type Connections, createConnections } from "./connections.ts";
import { corsHeaders, sendPreflight } from "./cors.ts";
import { hasBody, leaveUnread } from "./end_connection.ts";
import { type Guards, guardedHandler } from "./guarded_handler.ts";
import { bodyLimits, connectionLimits, serverLimits } from "./http_limits.ts";
import type { Metrics } from "./metrics.ts";
import { explainMalformed, nothingAt } from "./request_check.ts";
import type { Route } from "./route.ts";

export type HttpDependencies = {
  routes: readonly Route[];
  metrics: Metrics;
  faultLog: FaultLog;
  /** Whose `X-Forwarded-For` counts. */
  trustedProxies?: TrustedProxies;
};

export type Http = {
  /** The framework's server, for `listen`, `close` and tests. While it closes, open connections end with their next answers. */
  app: FastifyInstance;
  /** Bytes that connections hold, by the names of `memory_bounds.ts`. */
  heldBytes: Connections["heldBytes"];
};

export function createHttp({ routes, metrics, faultLog, trustedProxies = [] }: HttpDependencies): Http {
  const connections = createConnections(connectionLimits);
  const guards: Guards = { connections, bodies: createBodies(bodyLimits), metrics, faultLog, trustedProxies };
  const app = createApp(connections, faultLog);
  checkBeforeRouting(app, faultLog);
  for (const route of routes) {
    app.route({ method: route.method, url: route.path, handler: guardedHandler(guards, route) });
  }
  app.setNotFoundHandler(async (request, reply) => {
    if (request.method === "POST") await guards.bodies.read(request.raw, reply.raw);
    return sendFault(faultLog, request, reply, nothingAt(request));
  });
  app.setErrorHandler((error, request, reply) => sendFault(faultLog, request, reply, error));
  return { app, heldBytes: connections.heldBytes };
}

function createApp(connections: Connections, faultLog: FaultLog): FastifyInstance {
  const app = fastify({
    // Clients build URLs by plain concatenation.
    routerOptions: { ignoreDuplicateSlashes: true, maxParamLength: 100 },
    serverFactory(handler) {
      const server = connections.createServer(
        {
          maxHeaderSize: serverLimits.headerBytes,
          headersTimeout: serverLimits.headersMs,
          requestTimeout: serverLimits.requestMs,
          connectionsCheckingInterval: serverLimits.checkMs,
          keepAliveTimeout: serverLimits.keepAliveMs,
          // Refused by `explainMalformed`, in our own words.
          requireHostHeader: false,
        },
        handler,
      );
      server.maxRequestsPerSocket = serverLimits.requestsPerSocket;
      server.maxHeadersCount = serverLimits.headers;
      return server;
    },
    clientErrorHandler: connections.refuse,
    // A path that is not even a path: without this it would be answered in the framework's own words.
    frameworkErrors(error, request, reply) {
      if (hasBody(request.raw)) leaveUnread(request.raw, reply.raw);
      sendFault(faultLog, request, reply, error);
    },
    logger: false,
    // Our own validators are written ahead; the framework's compilers would be a hundred modules at every start.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    // While closing, requests that still arrive on open connections are answered as ever, and each connection ends with its answer.
    return503OnClosing: false,
  });
  // The stamp signs the body's bytes, so the framework must not read them, whatever the header says they are.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  return app;
}

function noCompiler(): never {
  throw new Error("endpoints have no schemas of the framework's");
}

function checkBeforeRouting(app: FastifyInstance, faultLog: FaultLog): void {
  app.addHook("onRequest", (request, reply, done) => {
    // Only POST bodies are read; a client that sends another one is not waited for.
    if (request.method !== "POST" && hasBody(request.raw)) leaveUnread(request.raw, reply.raw);
    const why = explainMalformed(request.raw);
    if (why !== undefined) {
      leaveUnread(request.raw, reply.raw);
      sendFault(faultLog, request, reply, new Fault("invalid_argument", why));
      return;
    }
    if (request.method === "OPTIONS") {
      sendPreflight(reply);
      return;
    }
    reply.headers(corsHeaders);
    // The framework refuses a content type that it cannot parse before it asks any parser.
    if (request.raw.headers["content-type"] !== undefined) request.raw.headers["content-type"] = "application/json";
    done();
  });
}
