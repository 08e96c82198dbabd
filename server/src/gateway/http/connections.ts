/**
 * Connections and their limits. Each is answered one request at a time, in order; an organization's large requests are worked on one at
 * a time; refusals of stamps and of spent budgets leave one by one; and when there are too many connections, the one whose client was
 * waited for longest is closed, whether it says nothing, never ends its request or does not read its answer. So no client gets more of
 * this process than its share by asking faster, asking more, holding on or never reading. What came on a connection before is never held
 * against what comes next: behind a proxy that is somebody else's.
 */
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createConcurrencyLimit } from "../bounds/concurrency_limit.ts";
import { type BodyWorkLimits, createBodyWork, type FindOwner } from "./body_work.ts";
import { type Connection, type Handler, newConnection } from "./connection.ts";
import { endSoon, endWith } from "./end_connection.ts";
import { createPipelinedRequests, type PipelineLimits } from "./pipelined_requests.ts";
import { expectsMore, parserErrorResponse, refuseExpectation, tunnelResponse } from "./raw_response.ts";
import { createRequestOrder, type RequestOrder } from "./request_order.ts";
import { createUnreadAnswers } from "./unread_answers.ts";

export type ConnectionLimits = PipelineLimits &
  BodyWorkLimits & {
    connections: number;
    /** Nobody who announces more is told to go on. */
    bodyBytes: number;
    /** Of all answers that their clients have not read. */
    answersBytes: number;
    /** How long a connection may stand still while it is answered; a client that does not read is cut off. */
    stillMs: number;
  };

export type Connections = {
  /** A server whose requests come one by one. */
  createServer(options: ServerOptions, handler: Handler): Server;
  /** For bytes that are not HTTP, or too slow: refused when everything before them has been answered. */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void;
  /** Before anything costly is done for a request: undefined when it may begin at once. Throws, or is refused, when too many wait. */
  beginWork(socket: Socket, bodyBytes: number, findOwner?: FindOwner): Promise<void> | undefined;
  /** The request's body is parsed. */
  bodyIsRead(socket: Socket): void;
  /**
   * Before a stamp is refused, or a request whose budget is spent: undefined when the refusal may leave at once. Many refusals leave one
   * by one, so that clients that wait for one answer before they ask again ask no faster than that. Nobody else waits with them. Those of
   * longer bodies leave more slowly, because reading them was work: in a queue of their own, so that none of the others waits for it.
   */
  paceRefusal(socket: Socket, bodyBytes: number): Promise<void> | undefined;
  /** The same for refusals because too much waits: a client that asks again at once must not cost as much as if it were served. */
  paceOverload(socket: Socket): Promise<void> | undefined;
  /** An answer is written as fast as its client reads: so many bytes are left of it. Those of short answers need not be told. */
  leftToRead(socket: Socket, bytes: number): void;
  /** Bytes of requests behind others, of bodies whose requests are worked on, and of answers that nobody has read. */
  heldBytes(): { pipelined: number; bodies: number; answers: number };
};

/** Between two refusals of stamps or spent budgets: some 900 in a second, which is a small part of what this process can do. */
const refusalPauseMs = 1;

/** Of bodies up to here: a longer one pauses once for each such part of it. What is longer by far has rested in its lane (`body_work.ts`). */
const refusalBytes = 8 * 1024;
const mostRefusalPauses = 8;

/** Between two refusals because too much waits: each was read and validated before. */
const overloadPauseMs = 10;

export function createConnections(limits: ConnectionLimits): Connections {
  const open = new Map<Socket, Connection>();
  /**
   * Connections whose client is waited for, to ask, to end its request or to read its answer: since longest first. A connection is
   * missing here only while its request is worked on.
   */
  const awaitingClient = new Set<Socket>();
  const pipelined = createPipelinedRequests(limits);
  const unreadAnswers = createUnreadAnswers(limits.answersBytes);
  const bodyWork = createBodyWork(limits);
  const order = createRequestOrder({ pipelined, unreadAnswers, bodyWork, awaitingClient });
  const refusals = createPacing(limits.connections);
  const longRefusals = createPacing(limits.connections);
  const overloads = createPacing(limits.connections);

  function accept(socket: Socket): void {
    const connection = newConnection(socket);
    open.set(socket, connection);
    socket.once("close", () => {
      pipelined.replace(connection, []);
      unreadAnswers.set(connection, 0);
      bodyWork.end(connection);
      open.delete(socket);
      awaitingClient.delete(socket);
    });
    // Node takes its own listener away when a client asks for a tunnel, and an error that nobody hears ends the process.
    socket.on("error", () => undefined);
    if (open.size > limits.connections) closeIdlest(socket);
    if (!socket.destroyed) awaitingClient.add(socket);
  }

  function closeIdlest(newcomer: Socket): void {
    const [longest = newcomer] = awaitingClient;
    awaitingClient.delete(longest);
    longest.destroy();
  }

  return {
    createServer(options, handler) {
      const server = createOrderedServer({ options, handler, order, limits, find: (socket) => open.get(socket) });
      server.on("connection", accept);
      return server;
    },
    refuse: (error, socket) => refuseUnreadable(order, open.get(socket), error, socket),
    beginWork(socket, bodyBytes, findOwner = async () => undefined) {
      const connection = open.get(socket);
      if (connection === undefined) return undefined;
      awaitingClient.delete(socket);
      return bodyWork.begin(connection, bodyBytes, () => open.has(socket), findOwner);
    },
    bodyIsRead(socket) {
      const connection = open.get(socket);
      if (connection !== undefined) bodyWork.bodyIsRead(connection);
    },
    leftToRead(socket, bytes) {
      const connection = open.get(socket);
      if (connection !== undefined) order.leftToRead(connection, bytes);
    },
    heldBytes: () => ({ pipelined: pipelined.bytes(), bodies: bodyWork.bytes(), answers: unreadAnswers.bytes() }),
    paceOverload: (socket) => overloads(socket, overloadPauseMs),
    paceRefusal(socket, bodyBytes) {
      // Nothing is done for it any more: others may have its connection, its lane and the room of its body.
      const connection = open.get(socket);
      if (connection !== undefined) {
        awaitingClient.add(socket);
        bodyWork.end(connection);
      }
      const pauses = Math.min(Math.ceil(bodyBytes / refusalBytes), mostRefusalPauses);
      return pauses > 1 ? longRefusals(socket, pauses * refusalPauseMs) : refusals(socket, refusalPauseMs);
    },
  };
}

type OrderedServer = {
  options: ServerOptions;
  handler: Handler;
  order: RequestOrder;
  limits: ConnectionLimits;
  find(socket: Socket): Connection | undefined;
};

function createOrderedServer({ options, handler, order, limits, find }: OrderedServer): Server {
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = find(request.socket);
    if (connection !== undefined) order.take(handler, connection, { request, response });
  };
  const server = createServer(options, take);
  server.timeout = limits.stillMs;
  // A client that has nothing more to say may still want to read the answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    if (expectsMore(request)) {
      refuseExpectation(request, response);
      return;
    }
    if (!(Number(request.headers["content-length"]) > limits.bodyBytes)) response.writeContinue();
    take(request, response);
  });
  server.on("checkExpectation", refuseExpectation);
  server.on("connect", (_request: IncomingMessage, socket: Socket) => {
    const connection = find(socket);
    if (connection?.current === undefined) endWith(socket, tunnelResponse());
    else if (connection.lastResponse === undefined) order.endAfter(connection, connection.pipelined, tunnelResponse());
  });
  return server;
}

/** Answers under way belong to requests before the one that cannot be read, and come first. */
function refuseUnreadable(
  order: RequestOrder,
  connection: Connection | undefined,
  error: NodeJS.ErrnoException,
  socket: Socket,
): void {
  if (error.code === "ECONNRESET" || !socket.writable || connection?.lastResponse !== undefined) return;
  // It said that nothing would follow: its answer ends the connection.
  if (error.code === "HPE_CLOSED_CONNECTION") return;
  const current = connection?.current;
  if (current?.response.headersSent === true && !current.request.complete) {
    // It has its answer already: the rest of it was not waited for.
    endSoon(socket);
    return;
  }
  if (connection === undefined || current?.request.complete !== true) {
    endWith(socket, parserErrorResponse(error));
    return;
  }
  const whole = connection.pipelined.filter(({ request }) => request.complete);
  order.endAfter(connection, whole, parserErrorResponse(error));
}

/** Lets through one at a time with a pause after each. */
function createPacing(waiting: number): (socket: Socket, pauseMs: number) => Promise<void> | undefined {
  const limit = createConcurrencyLimit({ slots: 1, waiting, refusal: "too many requests at once" });
  return (socket, pauseMs) => {
    const waited = limit.enter(() => socket.destroyed);
    if (waited !== undefined) return waited.then(() => limit.leave(pauseMs));
    limit.leave(pauseMs);
    return undefined;
  };
}
