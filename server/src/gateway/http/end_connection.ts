/** Ways to end a connection so that its client still reads the last answer. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Long enough to read an answer while still sending. */
const closingMs = 2_000;

/** Writes a whole response and ends the connection. */
export function endWith(socket: Socket, response: string): void {
  socket.write(response);
  endSoon(socket);
}

/**
 * Ends a connection whose client may still be sending. Closed at once, it would be reset, and the client might never read why.
 * A client that never closes its side is cut off after a while.
 */
export function endSoon(socket: Socket): void {
  stopReading(socket);
  socket.end();
  setTimeout(() => socket.destroy(), closingMs).unref();
}

/** For good: Node would go on reading after each message, and for as long as a request wants its body. */
export function stopReading(socket: Socket & { parser?: { pause?(): void } | null }): void {
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
