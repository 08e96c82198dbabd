/**
 * Connections, and whose turn it is. Each is answered one request at a time, in order, however many arrive at once; those whose last
 * stamp was refused share a narrow lane, and so do large requests; and when there are too many, the one that has been idle longest
 * makes room. So nobody gets more of this process than their share by asking faster, asking more, holding on or never reading.
 */
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Fault } from "@keystead/core/fault.ts";
import { errorBody, toFailure } from "../views/error_body.ts";
import { createLane } from "./lane.ts";

export type ConnectionLimits = {
  connections: number;
  /** Nobody who announces more is told to go on. */
  bodyBytes: number;
  /** Requests that may wait on one connection while the one before them is answered. */
  waiting: number;
  /** Requests that are worked on at once for connections whose last stamp was refused. */
  doubtful: number;
  /** Bodies from here on are large. They are worked on one at a time, with a rest in between. */
  largeBytes: number;
  /** How long a connection may stand still while it is answered; whoever does not read is cut off. */
  stillMs: number;
};

export type Connections = {
  /** A server whose requests come one by one. */
  createServer(options: ServerOptions, handler: Handler): Server;
  /** What is not HTTP, or too slow: refused when everything before it has been answered. */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void;
  /** Before anything costly is done for a request with such a body: undefined when it is its turn already. */
  turn(socket: Socket, bodyBytes: number): Promise<void> | undefined;
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

type Exchange = { request: IncomingMessage; response: ServerResponse };

type Line = {
  current: Exchange | undefined;
  waiting: Exchange[];
  /** To be said when the current answer is out; nothing is read after it. */
  lastWords: string | undefined;
  /** The last stamp was refused. */
  isDoubtful: boolean;
  /** Gives back the place in a lane that the current request has. */
  leave: (() => void) | undefined;
};

/** Three times as long as the work took, so that large requests have a quarter of the time, unless they only waited for others. */
const restTimes = 3;
const mostRestMs = 300;

/** Long enough to read an answer while still sending. */
const partingMs = 2_000;

export function createConnections(limits: ConnectionLimits): Connections {
  const lines = new Map<Socket, Line>();
  /** Without a request, the one that has been so longest first. */
  const idle = new Set<Socket>();
  const doubtful = createLane(limits.doubtful);
  const large = createLane(1);

  function take(handler: Handler, exchange: Exchange): void {
    const line = lines.get(exchange.request.socket);
    if (line === undefined || line.lastWords !== undefined) return;
    if (line.current === undefined) {
      serve(handler, line, exchange);
      return;
    }
    line.waiting.push(exchange);
    if (line.waiting.length <= limits.waiting) return;
    // None of them has begun, so all may be sent again.
    const many = "too many requests at once on a connection";
    endWith(line, exchange.request.socket, [], refusal("429 Too Many Requests", "resource_exhausted", many));
  }

  function endWith(line: Line, socket: Socket, waiting: Exchange[], words: string): void {
    line.waiting = waiting;
    line.lastWords = words;
    stopReading(socket);
    // Node would end the connection with the last answer if the other side has closed its own.
    socket.destroySoon = () => undefined;
  }

  function serve(handler: Handler, line: Line, exchange: Exchange): void {
    const { request, response } = exchange;
    const { socket } = request;
    line.current = exchange;
    idle.delete(socket);
    response.once("close", () => {
      settle(line, response);
      line.current = socket.destroyed ? undefined : line.waiting.shift();
      const next = line.current;
      // Everybody else comes first: without a breath, a row of requests would be one long piece of work.
      if (next !== undefined) setImmediate(() => serve(handler, line, next));
      else if (line.lastWords !== undefined && !socket.destroyed) part(socket, line.lastWords);
      else if (!socket.destroyed) idle.add(socket);
    });
    handler(request, response);
  }

  /** What an answer says about its connection. */
  function settle(line: Line, { statusCode }: Pick<ServerResponse, "statusCode">): void {
    line.isDoubtful = statusCode === 401;
    line.leave?.();
    line.leave = undefined;
  }

  function admit(socket: Socket): void {
    lines.set(socket, {
      current: undefined,
      waiting: [],
      lastWords: undefined,
      isDoubtful: false,
      leave: undefined,
    });
    socket.once("close", () => {
      lines.delete(socket);
      idle.delete(socket);
    });
    if (lines.size > limits.connections) (findIdlest() ?? socket).destroy();
    idle.add(socket);
  }

  /** Whoever has been waited for longest: without a request, or else in the middle of one. */
  function findIdlest(): Socket | undefined {
    for (const socket of idle) return socket;
    for (const [socket, { current }] of lines) if (current?.request.complete === false) return socket;
    return undefined;
  }

  return {
    createServer(options, handler) {
      const server = createServer(options, (request, response) => take(handler, { request, response }));
      server.timeout = limits.stillMs;
      // Whoever has nothing more to say may still want to hear the answer.
      Object.assign(server, { httpAllowHalfOpen: true });
      server.on("connection", admit);
      server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
        if (!(Number(request.headers["content-length"]) > limits.bodyBytes)) response.writeContinue();
        take(handler, { request, response });
      });
      server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
        leaveUnread(request, response);
        const body = bodyOf("invalid_argument", "only `Expect: 100-continue` is understood");
        const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
        response.writeHead(417, headers).end(body);
      });
      server.on("connect", (_request: IncomingMessage, socket: Socket) => {
        part(socket, refusal("405 Method Not Allowed", "unimplemented", "this is not a proxy", "allow: POST, OPTIONS"));
      });
      return server;
    },
    refuse(error, socket) {
      const line = lines.get(socket);
      if (error.code === "ECONNRESET" || !socket.writable || line?.lastWords !== undefined) return;
      // It said that nothing would follow: its answer ends the connection.
      if (error.code === "HPE_CLOSED_CONNECTION") return;
      const [status, message] = unreadable[error.code ?? ""] ?? ["400 Bad Request", "malformed HTTP request"];
      const words = refusal(status, "invalid_argument", message);
      if (line?.current?.response.headersSent === true && !line.current.request.complete) {
        // It has its answer already: the rest of it was not waited for.
        endSoon(socket);
        return;
      }
      // Answers under way belong to requests before the one that cannot be read, and come first.
      if (line?.current?.request.complete !== true) {
        part(socket, words);
        return;
      }
      const whole = line.waiting.filter(({ request }) => request.complete);
      endWith(line, socket, whole, words);
    },
    turn(socket, bodyBytes) {
      const line = lines.get(socket);
      const isLarge = bodyBytes >= limits.largeBytes;
      if (line === undefined || !(isLarge || line.isDoubtful)) return undefined;
      const lane = isLarge ? large : doubtful;
      const begin = (): void => {
        const begunAt = performance.now();
        line.leave = () => lane.leave(isLarge ? Math.min(restTimes * (performance.now() - begunAt), mostRestMs) : 0);
        // Gone in the moment it was its turn: nobody else would give the place back.
        if (!lines.has(socket)) settle(line, { statusCode: 0 });
      };
      const waited = lane.enter(() => socket.destroyed);
      if (waited !== undefined) return waited.then(begin);
      begin();
      return undefined;
    },
  };
}

const unreadable: Readonly<Record<string, [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "request headers are too large"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ["413 Payload Too Large", "bad request body: chunk extensions are too large"],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "the request took too long"],
};

function bodyOf(code: ConstructorParameters<typeof Fault>[0], message: string): string {
  return JSON.stringify(errorBody(toFailure(new Fault(code, message))));
}

/** A whole answer for who has no request object. */
function refusal(
  status: string,
  code: ConstructorParameters<typeof Fault>[0],
  message: string,
  ...more: string[]
): string {
  const body = bodyOf(code, message);
  const lines = [
    `HTTP/1.1 ${status}`,
    "content-type: application/json",
    "access-control-allow-origin: *",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
    ...more,
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

function part(socket: Socket, words: string): void {
  socket.write(words);
  endSoon(socket);
}

/**
 * Ends a connection whose other side may still be sending. Closed at once, it would be reset, and the other side might never
 * read why; and one that never closes its side must not keep it.
 */
function endSoon(socket: Socket): void {
  stopReading(socket);
  socket.end();
  setTimeout(() => socket.destroy(), partingMs).unref();
}

/** For good: Node would go on reading after each message, and for as long as a request wants its body. */
function stopReading(socket: Socket & { parser?: { pause?(): void } | null }): void {
  socket.parser?.pause?.();
  socket.pause();
  socket.resume = () => socket;
}

/** The rest of this request's body is not read: the connection ends with the answer. */
export function leaveUnread(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  stopReading(socket);
  // Node's own mark of a body that nobody wants: without it, each chunk that has arrived already goes through the whole stream.
  Object.assign(request, { _dumped: true });
  response.shouldKeepAlive = false;
  socket.destroySoon = () => endSoon(socket);
}
