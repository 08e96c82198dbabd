/** One connection: the request that is being answered, and those that arrived behind it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export type Exchange = { request: IncomingMessage; response: ServerResponse };

/** A request behind others, and the memory it holds. */
export type PipelinedRequest = Exchange & { bytes: number };

export type Connection = {
  readonly socket: Socket;
  current: Exchange | undefined;
  pipelined: readonly PipelinedRequest[];
  pipelinedBytes: number;
  /** A whole response, written after the current answer; nothing is read after it. */
  lastResponse: string | undefined;
  /** While the current request's large body is read: lets others be read. */
  endReading: (() => void) | undefined;
  /** While the current request is a large one that is worked on: lets its organization's next be. */
  leaveLane: (() => void) | undefined;
  /** Of the current request's body. */
  bodyBytes: number;
  /** Of answers that the client has not read. */
  unreadBytes: number;
};

export function newConnection(socket: Socket): Connection {
  return {
    socket,
    current: undefined,
    pipelined: [],
    pipelinedBytes: 0,
    lastResponse: undefined,
    endReading: undefined,
    leaveLane: undefined,
    bodyBytes: 0,
    unreadBytes: 0,
  };
}
