/** Answers the requests of each connection one at a time, in order, however many arrive at once. */
import type { Socket } from "node:net";
import type { BodyWork } from "./body_work.ts";
import type { Connection, Exchange, Handler, PipelinedRequest } from "./connection.ts";
import { endWith, hasBody, stopReading } from "./end_connection.ts";
import type { PipelinedRequests } from "./pipelined_requests.ts";
import { rawResponse } from "./raw_response.ts";
import type { UnreadAnswers } from "./unread_answers.ts";

export type RequestOrder = {
  /** Answers the request now, or after those before it on its connection. */
  take(handler: Handler, connection: Connection, exchange: Exchange): void;
  /** The current request is answered, and its client has so many bytes of the answer left to read. */
  leftToRead(connection: Connection, bytes: number): void;
  /** Answers the current request and these, writes `response` and ends the connection. */
  endAfter(connection: Connection, requests: readonly PipelinedRequest[], response: string): void;
};

type Parts = {
  pipelined: PipelinedRequests;
  unreadAnswers: UnreadAnswers;
  bodyWork: BodyWork;
  /** Connections that wait for their client. */
  awaitingClient: Set<Socket>;
};

/** An unread rest of an answer up to this is not counted. */
const smallAnswer = 16 * 1024;

export function createRequestOrder({ pipelined, unreadAnswers, bodyWork, awaitingClient }: Parts): RequestOrder {
  function serve(handler: Handler, connection: Connection, exchange: Exchange): void {
    const { request, response } = exchange;
    const { socket } = connection;
    connection.current = exchange;
    if (!hasBody(request)) awaitingClient.delete(socket);
    response.on("prefinish", () => leftToRead(connection, socket.writableLength));
    response.on("close", () => {
      bodyWork.end(connection);
      unreadAnswers.set(connection, 0);
      serveNext(handler, connection);
    });
    handler(request, response);
  }

  /** The answer is there: reading it is the client's business, and takes as long as the client likes. */
  function leftToRead(connection: Connection, bytes: number): void {
    const { socket } = connection;
    bodyWork.end(connection);
    if (socket.destroyed) return;
    awaitingClient.delete(socket);
    awaitingClient.add(socket);
    // Nearly always nothing is left by then.
    unreadAnswers.set(connection, bytes > smallAnswer ? bytes : 0);
  }

  function serveNext(handler: Handler, connection: Connection): void {
    const { socket, lastResponse } = connection;
    const [next, ...others] = socket.destroyed ? [] : connection.pipelined;
    connection.current = next;
    pipelined.replace(connection, others);
    // Other connections come first: served at once, a series of requests would block the process as one long piece of work.
    if (next !== undefined) setImmediate(() => serve(handler, connection, next));
    else if (lastResponse !== undefined && !socket.destroyed) endWith(socket, lastResponse);
  }

  function endAfter(connection: Connection, requests: readonly PipelinedRequest[], response: string): void {
    pipelined.replace(connection, requests);
    connection.lastResponse = response;
    stopReading(connection.socket);
    // Node would end the connection with the last answer if the client has closed its own side.
    connection.socket.destroySoon = () => undefined;
  }

  return {
    take(handler, connection, exchange) {
      if (connection.lastResponse !== undefined) return;
      if (connection.current === undefined) {
        serve(handler, connection, exchange);
        return;
      }
      pipelined.add(connection, exchange);
      const where = pipelined.excess(connection);
      if (where === undefined) return;
      // None of them has begun, so all may be sent again.
      const message = `too many requests at once on ${where}`;
      endAfter(connection, [], rawResponse("429 Too Many Requests", "resource_exhausted", message));
    },
    leftToRead,
    endAfter,
  };
}
