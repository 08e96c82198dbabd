/**
 * What every request goes through, whichever module answers it: its body is read within the route's limit, it waits for its turn, it is
 * counted, and whatever is thrown becomes an error body. Refusals that are cheap to provoke leave one by one.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BudgetSpent } from "../bounds/budget_spent.ts";
import { Overloaded } from "../bounds/overloaded.ts";
import { clientVersion, type FaultLog, sendAnswer, sendFault, statusOfAnswer } from "./answers.ts";
import type { Bodies } from "./bodies.ts";
import { callerAddress, forwardedFor, type TrustedProxies } from "./caller_address.ts";
import type { Connections } from "./connections.ts";
import type { Metrics } from "./metrics.ts";
import { checkBody } from "./request_check.ts";
import type { Answer, Route, RouteRequest } from "./route.ts";

export type Guards = {
  connections: Connections;
  bodies: Bodies;
  metrics: Metrics;
  faultLog: FaultLog;
  trustedProxies: TrustedProxies;
};

const noBody = new Uint8Array(0);
const notCounted = (): void => undefined;

export function guardedHandler(guards: Guards, route: Route) {
  const { connections, bodies, metrics, faultLog, trustedProxies } = guards;
  const { limits, metric, handle } = route;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { socket } = request.raw;
    const readsBody = limits.bodyBytes > 0;
    let body = readsBody ? await bodies.read(request.raw, reply.raw, limits.bodyBytes) : noBody;
    const asked = toRouteRequest(request, reply, body, trustedProxies);
    if (readsBody) {
      const turn = connections.beginWork(socket, body.length, async () => route.findOwner?.(asked));
      if (turn !== undefined) await turn;
    }
    const count = metric === undefined ? notCounted : metrics.start(metric.kind, metric.path);
    let isSent = false;
    const send = (answer: Answer): void => {
      isSent = true;
      count(statusOfAnswer(answer));
      sendAnswer(request, reply, answer, (bytes) => connections.leftToRead(socket, bytes));
    };
    try {
      if (readsBody) checkBody(request.headers, body, limits.mayBeEmpty);
      const handled = handle(asked, send);
      connections.bodyIsRead(socket);
      await handled;
      if (!isSent) throw new Error("the route sent no answer");
    } catch (error) {
      if (isCheapToProvoke(error)) {
        // It waits without its body.
        const bodyBytes = body.length;
        asked.body = noBody;
        body = noBody;
        bodies.letGo(reply.raw);
        await connections.paceRefusal(socket, bodyBytes);
      }
      if (error instanceof Overloaded) await connections.paceOverload(socket);
      count(sendFault(faultLog, request, reply, error).statusCode);
    }
  };
}

function toRouteRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  body: Uint8Array,
  trustedProxies: TrustedProxies,
): RouteRequest {
  const { method, url, headers, params, raw } = request;
  const { rawHeaders } = raw;
  const way = { peer: raw.socket.remoteAddress, forwardedFor: forwardedFor(rawHeaders) };
  return {
    method,
    url,
    params: params as Record<string, string>,
    headers,
    rawHeaders,
    clientVersion: clientVersion(request),
    callerAddress: callerAddress(way, trustedProxies),
    setHeaders(given) {
      for (const [name, value] of Object.entries(given)) {
        if (value === undefined) reply.removeHeader(name);
        else reply.header(name, value);
      }
    },
    body,
  };
}

/** Stamps and spent budgets: refused before much was done, so a client that asks again at once could ask thousands of times a second. */
function isCheapToProvoke(error: unknown): boolean {
  return error instanceof BudgetSpent || (error instanceof Fault && error.code === "unauthenticated");
}
