/**
 * Bodies on their way in. Nothing is known about their senders, so what they can make us keep is bounded: each body by its limit,
 * however it is cut into pieces, and all large ones together (`large_bodies.ts`).
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault } from "@keystead/core/fault.ts";
import { tooManyLarge } from "./body_work.ts";
import { leaveUnread } from "./end_connection.ts";
import { type ArrivingBody, createLargeBodies, type LargeBodies } from "./large_bodies.ts";

export type BodyLimits = {
  /** Of one body, unless its route says less. */
  bytes: number;
  /** Of all that are large, from their first bytes to their answers. */
  together: number;
};

export type Bodies = {
  /** The whole body, in memory of its own. A refusal leaves the rest of it unread, and the connection ends with the answer. */
  read(request: IncomingMessage, response: ServerResponse, maxBytes?: number): Promise<Uint8Array>;
  /** Nobody has the body any more, though its answer is still to come. */
  letGo(response: ServerResponse): void;
};

/** Bodies that grow beyond this are counted while they arrive. Hardly any honest one does, and the number of connections bounds the others. */
const largeBytes = 4 * 1024;

/** A piece costs us far more than its sender: so many are free, then each must bring this much. */
const freePieces = 256;
const bytesPerPiece = 64;

export function createBodies(limits: BodyLimits): Bodies {
  const large = createLargeBodies(limits.together);
  return {
    read: (request, response, maxBytes = limits.bytes) =>
      new Promise((resolve, reject) => {
        const done = (error?: Error, body?: Buffer) => (body === undefined ? reject(error) : resolve(body));
        readBody(large, Math.min(maxBytes, limits.bytes), request, response, done);
      }),
    letGo: large.letGo,
  };
}

function readBody(
  large: LargeBodies,
  maxBytes: number,
  request: IncomingMessage,
  response: ServerResponse,
  done: (error?: Error, body?: Buffer) => void,
): void {
  const length = Number(request.headers["content-length"]);
  const begunAt = performance.now();
  const arrival: ArrivingBody = { held: 0, received: 0, begunAt, movedAt: begunAt, refuse: () => refuse(tooMuch()) };
  let body = Buffer.alloc(0);
  let received = 0;
  let pieces = 0;
  if (length > maxBytes) refuse(tooLong(maxBytes));
  else request.on("data", onData).on("end", onEnd).on("error", onError);

  function onData(piece: Buffer): void {
    pieces++;
    const needed = received + piece.length;
    if (needed > maxBytes) refuse(tooLong(maxBytes));
    else if (pieces > freePieces + needed / bytesPerPiece) refuse(tooManyPieces());
    else if (needed > body.length && !grow(needed)) refuse(tooMuch());
    else {
      // Copied: a piece is a view of a much larger buffer, which would be kept with it.
      piece.copy(body, received);
      received = needed;
      if (arrival.held > 0) Object.assign(arrival, { received, movedAt: performance.now() });
    }
  }
  /**
   * What is announced is not believed beyond a few times what has arrived: announcing costs nothing. In few steps, because memory
   * that is asked for again and again makes the collector stop everybody.
   */
  function grow(needed: number): boolean {
    const all = Number.isNaN(length) ? maxBytes : length;
    const bytes = Math.max(needed, Math.min(all, Math.max(4 * needed, 1024)));
    if (bytes > largeBytes && !large.hold(arrival, response, bytes)) return false;
    const grown = Buffer.allocUnsafe(bytes);
    body.copy(grown, 0, 0, received);
    body = grown;
    return true;
  }
  function onEnd(): void {
    stop();
    done(undefined, body.subarray(0, received));
  }
  function onError(): void {
    refuse(new Fault("cancelled", "bad request body: cut off"));
  }
  function refuse(error: Error): void {
    stop();
    body = Buffer.alloc(0);
    leaveUnread(request, response);
    done(error);
  }
  function stop(): void {
    arrival.refuse = undefined;
    request.off("data", onData).off("end", onEnd).off("error", onError);
  }
}

function tooLong(maxBytes: number): Error {
  return Object.assign(new Fault("invalid_argument", `bad request body: larger than ${maxBytes} bytes`), {
    statusCode: 413,
  });
}

function tooManyPieces(): Fault {
  return new Fault("invalid_argument", "bad request body: too many small chunks; send larger ones");
}

function tooMuch(): Fault {
  return new Fault("resource_exhausted", tooManyLarge);
}
