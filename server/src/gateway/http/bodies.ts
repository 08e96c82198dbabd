/**
 * Bodies on their way in. Nothing is known about their senders, so what they can make us keep is bounded: each body by its limit,
 * however it is cut into pieces, and all large ones together. When those would be too much, one that has stopped arriving makes
 * room; without such a one, the newcomer is refused before much of it is read.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault } from "@keystead/core/fault.ts";
import { leaveUnread, tooManyLarge } from "./connections.ts";

export type BodyLimits = {
  /** Of one body. */
  bytes: number;
  /** Of all that are large, from their first bytes to their answers. */
  together: number;
};

export type Bodies = {
  /** The whole body, in memory of its own. A refusal leaves the rest of it unread, and the connection ends with the answer. */
  read(request: IncomingMessage, response: ServerResponse): Promise<Uint8Array>;
};

/** Bodies that grow beyond this are counted while they arrive. Hardly any honest one does, and the number of connections bounds the others. */
const largeBytes = 4 * 1024;

/** A piece costs us far more than its sender: so many are free, then each must bring this much. */
const freePieces = 256;
const bytesPerPiece = 64;

/** Whoever has sent nothing for so long, or so little per second since then, is not in a hurry. */
const stalledMs = 1_000;
const slowBytesPerMs = 32;

type Arrival = {
  held: number;
  received: number;
  begunAt: number;
  movedAt: number;
  /** While it is still arriving. */
  refuse: (() => void) | undefined;
};

export function createBodies(limits: BodyLimits): Bodies {
  const large = new Set<Arrival>();
  let heldTogether = 0;

  function makeRoom(arrival: Arrival, response: ServerResponse, bytes: number): boolean {
    while (heldTogether + bytes - arrival.held > limits.together) {
      const stalled = findStalled();
      if (stalled === undefined) return false;
      release(stalled);
      stalled.refuse?.();
    }
    if (arrival.held === 0) hold(arrival, response);
    heldTogether += bytes - arrival.held;
    arrival.held = bytes;
    return true;
  }

  function findStalled(): Arrival | undefined {
    const now = performance.now();
    for (const each of large) {
      const ageMs = now - each.begunAt;
      const isSlow = ageMs > stalledMs && each.received < slowBytesPerMs * ageMs;
      if (each.refuse !== undefined && (isSlow || now - each.movedAt > stalledMs)) return each;
    }
    return undefined;
  }

  function hold(arrival: Arrival, response: ServerResponse): void {
    large.add(arrival);
    // When the answer is written, or will never be. What the client does with it costs nothing here.
    response.on("prefinish", () => release(arrival)).on("close", () => release(arrival));
  }

  function release(arrival: Arrival): void {
    large.delete(arrival);
    heldTogether -= arrival.held;
    arrival.held = 0;
  }

  function read(
    request: IncomingMessage,
    response: ServerResponse,
    done: (error?: Error, body?: Buffer) => void,
  ): void {
    const length = Number(request.headers["content-length"]);
    const begunAt = performance.now();
    const arrival: Arrival = { held: 0, received: 0, begunAt, movedAt: begunAt, refuse: () => refuse(tooMuch()) };
    let body = Buffer.alloc(0);
    let received = 0;
    let pieces = 0;
    if (length > limits.bytes) refuse(tooLong(limits));
    else request.on("data", onData).on("end", onEnd).on("error", onError);

    function onData(piece: Buffer): void {
      pieces++;
      const needed = received + piece.length;
      if (needed > limits.bytes) refuse(tooLong(limits));
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
      const all = Number.isNaN(length) ? limits.bytes : length;
      const bytes = Math.max(needed, Math.min(all, Math.max(4 * needed, 1024)));
      if (bytes > largeBytes && !makeRoom(arrival, response, bytes)) return false;
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

  return {
    read: (request, response) =>
      new Promise((resolve, reject) => {
        read(request, response, (error, body) => (body === undefined ? reject(error) : resolve(body)));
      }),
  };
}

function tooLong({ bytes }: BodyLimits): Error {
  return Object.assign(new Fault("invalid_argument", `bad request body: larger than ${bytes} bytes`), {
    statusCode: 413,
  });
}

function tooManyPieces(): Fault {
  return new Fault("invalid_argument", "bad request body: in too many too small chunks");
}

function tooMuch(): Fault {
  return new Fault("resource_exhausted", tooManyLarge);
}
