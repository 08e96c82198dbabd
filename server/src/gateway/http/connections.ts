/**
 * Connections, and whose turn it is. Each is answered one request at a time, in order, however many arrive at once; large requests
 * share a narrow lane, and so do refusals of stamps on their way out; and when there are too many connections, the one whose client has
 * been waited for longest makes room, whether it says nothing, never ends its request or does not read its answer. So nobody gets more
 * of this process than their share by asking faster, asking more, holding on or never reading. What came on a connection before is
 * never held against what comes next: behind a proxy that is somebody else's.
 */
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { getDefaultHighWaterMark } from "node:stream";
import { Fault } from "@keystead/core/fault.ts";
import { errorBody, toFailure } from "../../views/error_body.ts";
import { createLane } from "../bounds/lane.ts";

export type ConnectionLimits = {
  connections: number;
  /** Nobody who announces more is told to go on. */
  bodyBytes: number;
  /** Requests that may wait on one connection while the one before them is answered. */
  waiting: number;
  /** Of their headers, and of what may have arrived of their bodies. */
  waitingBytes: number;
  /** The same on all connections together, and what a request weighs besides. */
  allWaitingBytes: number;
  /** Bodies from here on are large. They are worked on one at a time, with a rest in between. */
  largeBytes: number;
  /** Large requests that wait for that. */
  largeWaiting: number;
  /** Of all bodies whose requests are worked on. */
  bodiesBytes: number;
  /** Of all answers that their clients have not read: beyond it, those that have been waiting for longest are cut off. */
  answersBytes: number;
  /** How long a connection may stand still while it is answered; whoever does not read is cut off. */
  stillMs: number;
};

export type Connections = {
  /** A server whose requests come one by one. */
  createServer(options: ServerOptions, handler: Handler): Server;
  /** What is not HTTP, or too slow: refused when everything before it has been answered. */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void;
  /** Before anything costly is done for a request with such a body: undefined when it is its turn already. Throws when too many wait. */
  turn(socket: Socket, bodyBytes: number): Promise<void> | undefined;
  /**
   * Before a stamp is refused: undefined when that may be said at once. Many refusals leave one by one, so that those who wait for one
   * answer before they ask again ask no faster than that. Nobody else waits with them, on whatever connection they came.
   */
  refusalsTurn(socket: Socket): Promise<void> | undefined;
  /** Before it is said that too much waits: whoever asks again at once must not cost as much as if it were served. */
  overloadsTurn(socket: Socket): Promise<void> | undefined;
  /** Bytes of requests behind others, of bodies whose requests are worked on, and of answers that nobody has read. */
  held(): { pipelined: number; bodies: number; answers: number };
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

type Exchange = { request: IncomingMessage; response: ServerResponse };

type Line = {
  current: Exchange | undefined;
  waiting: (Exchange & { bytes: number })[];
  waitingBytes: number;
  /** To be said when the current answer is out; nothing is read after it. */
  lastWords: string | undefined;
  /** Gives back the place in the lane that the current request has. */
  leave: (() => void) | undefined;
  /** Of the current request's body. */
  bodyBytes: number;
  /** Of answers that the client has not read. */
  answerBytes: number;
};

/** Three times as long as the work took, so that large requests have a quarter of the time, unless they only waited for others. */
const restTimes = 3;
const mostRestMs = 300;

/** Between two refusals of stamps: some 900 in a second, which is a small part of what this process can do. */
const refusalRestMs = 1;

/** Between two refusals for too much that waits: each was read and validated before. */
const overloadRestMs = 10;

/** Long enough to read an answer while still sending. */
const partingMs = 2_000;

/** What Node keeps for a request whatever it says. */
const requestBytes = 4 * 1024;

/** What is not worth counting of an answer that is not read. */
const smallAnswer = 16 * 1024;

/** Of a body that nobody reads yet. */
const mostBuffered = getDefaultHighWaterMark(false);

export const tooManyLarge = "too many large requests at once; try again";

export function createConnections(limits: ConnectionLimits): Connections {
  const lines = new Map<Socket, Line>();
  /**
   * Those on which it is the client's turn, to ask, to end its request or to read its answer: since longest first. A connection is
   * missing here only while its request is worked on.
   */
  const clientsTurn = new Set<Socket>();
  let allWaitingBytes = 0;
  let allBodyBytes = 0;
  let allAnswerBytes = 0;
  /** Those with answers that are not read, since longest first. */
  const unread = new Set<Socket>();
  const large = createLane({ places: 1, waiting: limits.largeWaiting, refusal: tooManyLarge });
  const overloads = createLane({ places: 1, waiting: limits.connections, refusal: "too many requests at once" });
  const refusals = createLane({ places: 1, waiting: limits.connections, refusal: "too many requests at once" });

  function take(handler: Handler, exchange: Exchange): void {
    const line = lines.get(exchange.request.socket);
    if (line === undefined || line.lastWords !== undefined) return;
    if (line.current === undefined) {
      serve(handler, line, exchange);
      return;
    }
    keepWaiting(line, [...line.waiting, { ...exchange, bytes: bytesHeldBy(exchange.request) }]);
    const isTooMany = line.waiting.length > limits.waiting || line.waitingBytes > limits.waitingBytes;
    if (!isTooMany && allWaitingBytes <= limits.allWaitingBytes) return;
    // None of them has begun, so all may be sent again.
    const many = `too many requests at once on ${isTooMany ? "a connection" : "connections with several"}`;
    endWith(line, exchange.request.socket, [], refusal("429 Too Many Requests", "resource_exhausted", many));
  }

  function keepWaiting(line: Line, waiting: Line["waiting"]): void {
    allWaitingBytes -= line.waitingBytes + line.waiting.length * requestBytes;
    line.waiting = waiting;
    line.waitingBytes = waiting.reduce((sum, { bytes }) => sum + bytes, 0);
    allWaitingBytes += line.waitingBytes + waiting.length * requestBytes;
  }

  function endWith(line: Line, socket: Socket, waiting: Line["waiting"], words: string): void {
    keepWaiting(line, waiting);
    line.lastWords = words;
    stopReading(socket);
    // Node would end the connection with the last answer if the other side has closed its own.
    socket.destroySoon = () => undefined;
  }

  function serve(handler: Handler, line: Line, exchange: Exchange): void {
    const { request, response } = exchange;
    const { socket } = request;
    line.current = exchange;
    if (!hasBody(request)) clientsTurn.delete(socket);
    // The answer is written: reading it is the client's business, and takes as long as the client likes.
    response.on("prefinish", () => {
      leaveLane(line);
      if (socket.destroyed) return;
      clientsTurn.delete(socket);
      clientsTurn.add(socket);
      // Nearly always nothing is left by then.
      if (socket.writableLength > smallAnswer) holdAnswer(socket, line, socket.writableLength);
    });
    response.on("close", () => {
      leaveLane(line);
      holdAnswer(socket, line, 0);
      const [next, ...others] = socket.destroyed ? [] : line.waiting;
      line.current = next;
      keepWaiting(line, others);
      // Everybody else comes first: without a breath, a row of requests would be one long piece of work.
      if (next !== undefined) setImmediate(() => serve(handler, line, next));
      else if (line.lastWords !== undefined && !socket.destroyed) part(socket, line.lastWords);
    });
    handler(request, response);
  }

  function leaveLane(line: Line): void {
    line.leave?.();
    line.leave = undefined;
    allBodyBytes -= line.bodyBytes;
    line.bodyBytes = 0;
  }

  function holdAnswer(socket: Socket, line: Line, bytes: number): void {
    if (bytes === line.answerBytes) return;
    allAnswerBytes += bytes - line.answerBytes;
    line.answerBytes = bytes;
    if (bytes === 0) unread.delete(socket);
    else unread.add(socket);
    while (allAnswerBytes > limits.answersBytes) {
      const [longest] = unread;
      if (longest === undefined) return;
      const idle = lines.get(longest);
      if (idle !== undefined) holdAnswer(longest, idle, 0);
      unread.delete(longest);
      longest.destroy();
    }
  }

  function admit(socket: Socket): void {
    const line: Line = {
      current: undefined,
      waiting: [],
      waitingBytes: 0,
      lastWords: undefined,
      leave: undefined,
      bodyBytes: 0,
      answerBytes: 0,
    };
    lines.set(socket, line);
    socket.once("close", () => {
      keepWaiting(line, []);
      holdAnswer(socket, line, 0);
      leaveLane(line);
      lines.delete(socket);
      clientsTurn.delete(socket);
    });
    // Node takes its own listener away when a client asks for a tunnel, and an error that nobody hears ends the process.
    socket.on("error", () => undefined);
    if (lines.size > limits.connections) makeRoomFor(socket);
    if (!socket.destroyed) clientsTurn.add(socket);
  }

  function makeRoomFor(newcomer: Socket): void {
    const [longest = newcomer] = clientsTurn;
    clientsTurn.delete(longest);
    longest.destroy();
  }

  return {
    createServer(options, handler) {
      const server = createServer(options, (request, response) => take(handler, { request, response }));
      server.timeout = limits.stillMs;
      // Whoever has nothing more to say may still want to hear the answer.
      Object.assign(server, { httpAllowHalfOpen: true });
      server.on("connection", admit);
      server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
        if (expectsMore(request)) {
          refuseExpectation(request, response);
          return;
        }
        if (!(Number(request.headers["content-length"]) > limits.bodyBytes)) response.writeContinue();
        take(handler, { request, response });
      });
      server.on("checkExpectation", refuseExpectation);
      server.on("connect", (_request: IncomingMessage, socket: Socket) => {
        const line = lines.get(socket);
        const words = refusal("405 Method Not Allowed", "unimplemented", "this is not a proxy", "allow: POST, OPTIONS");
        if (line?.current === undefined) part(socket, words);
        else if (line.lastWords === undefined) endWith(line, socket, line.waiting, words);
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
      if (line === undefined) return undefined;
      clientsTurn.delete(socket);
      if (allBodyBytes + bodyBytes > limits.bodiesBytes) throw new Fault("resource_exhausted", tooManyLarge);
      allBodyBytes += bodyBytes;
      line.bodyBytes += bodyBytes;
      if (bodyBytes < limits.largeBytes) return undefined;
      const begin = (): void => {
        const begunAt = performance.now();
        line.leave = () => large.leave(Math.min(restTimes * (performance.now() - begunAt), mostRestMs));
        // Gone in the moment it was its turn: nobody else would give the place back.
        if (!lines.has(socket)) leaveLane(line);
      };
      const waited = large.enter(() => socket.destroyed);
      if (waited !== undefined) return waited.then(begin);
      begin();
      return undefined;
    },
    held: () => ({ pipelined: allWaitingBytes, bodies: allBodyBytes, answers: allAnswerBytes }),
    overloadsTurn(socket) {
      const waited = overloads.enter(() => socket.destroyed);
      if (waited !== undefined) return waited.then(() => overloads.leave(overloadRestMs));
      overloads.leave(overloadRestMs);
      return undefined;
    },
    refusalsTurn(socket) {
      // Nothing is done for it any more: others may have its connection.
      if (lines.has(socket)) clientsTurn.add(socket);
      const waited = refusals.enter(() => socket.destroyed);
      if (waited !== undefined) return waited.then(() => refusals.leave(refusalRestMs));
      refusals.leave(refusalRestMs);
      return undefined;
    },
  };
}

/** What a request that waits keeps in memory. Of a body so much arrives before Node stops reading; its announced length may be a lie. */
function bytesHeldBy({ url = "", rawHeaders, headers }: IncomingMessage): number {
  const length = headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : mostBuffered;
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length + Math.min(length, mostBuffered));
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

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
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

/** Node takes any list that has `100-continue` among others for that alone. */
function expectsMore({ headers }: IncomingMessage): boolean {
  return (headers.expect ?? "").split(",").some((each) => each.trim().toLowerCase() !== "100-continue");
}

function refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
  leaveUnread(request, response);
  const body = bodyOf("invalid_argument", "only `Expect: 100-continue` is understood");
  const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
  response.writeHead(417, headers).end(body);
}
