/** Counts what requests hold that wait behind others on their connections, on each connection and on all together. */
import type { IncomingMessage } from "node:http";
import { getDefaultHighWaterMark } from "node:stream";
import type { Connection, Exchange, PipelinedRequest } from "./connection.ts";

export type PipelineLimits = {
  /** Requests that may wait on one connection while the one before them is answered. */
  waiting: number;
  /** Of their headers, and of what may have arrived of their bodies. */
  waitingBytes: number;
  /** The same on all connections together, and what a request weighs besides. */
  allWaitingBytes: number;
};

export type PipelinedRequests = {
  add(connection: Connection, exchange: Exchange): void;
  /** From now on only these wait on the connection. */
  replace(connection: Connection, requests: readonly PipelinedRequest[]): void;
  /** Where too much waits, in the words for the client; undefined while it does not. */
  excess(connection: Connection): string | undefined;
  bytes(): number;
};

/** What Node keeps for a request whatever it says. */
const requestBytes = 4 * 1024;

/** Of a body that nobody reads yet. */
const maxBuffered = getDefaultHighWaterMark(false);

export function createPipelinedRequests(limits: PipelineLimits): PipelinedRequests {
  let allBytes = 0;

  function replace(connection: Connection, requests: readonly PipelinedRequest[]): void {
    allBytes -= connection.pipelinedBytes + connection.pipelined.length * requestBytes;
    connection.pipelined = requests;
    connection.pipelinedBytes = requests.reduce((sum, { bytes }) => sum + bytes, 0);
    allBytes += connection.pipelinedBytes + requests.length * requestBytes;
  }

  return {
    add: (connection, exchange) =>
      replace(connection, [...connection.pipelined, { ...exchange, bytes: bytesHeldBy(exchange.request) }]),
    replace,
    excess({ pipelined, pipelinedBytes }) {
      if (pipelined.length > limits.waiting || pipelinedBytes > limits.waitingBytes) return "a connection";
      return allBytes > limits.allWaitingBytes ? "connections with several" : undefined;
    },
    bytes: () => allBytes,
  };
}

/** Of a body, as much arrives as Node buffers before it stops reading; the announced length may be a lie. */
function bytesHeldBy({ url = "", rawHeaders, headers }: IncomingMessage): number {
  const length = headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : maxBuffered;
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length + Math.min(length, maxBuffered));
}
