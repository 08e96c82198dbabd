/** How answers leave: JSON in the spelling that clients expect, and faults without what is nobody's business outside. */
import { Fault } from "@keystead/core/fault.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { dialectOf } from "../../views/dialect.ts";
import { errorBody, type Failure, statusOf, toFailure } from "../../views/error_body.ts";

/** Where what the caller does not learn is written down. */
export type FaultLog = {
  log(message: string, error: unknown): void;
  trouble(message: string, cause: unknown): void;
};

/** What every answer but a preflight's tells a browser: any page may read it, the limits included. */
export const openness = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ratelimit-limit, ratelimit-remaining",
} as const;

const answerHeaders = Object.entries({ ...openness, "content-type": "application/json" }).flat();

export function clientVersion(request: FastifyRequest): string | undefined {
  const value = request.headers["x-client-version"];
  return typeof value === "string" ? value : undefined;
}

/** Clients exist that reject any other spelling of the content type, a charset included. */
export function sendBytes(reply: FastifyReply, status: number, bytes: Uint8Array): FastifyReply {
  return reply.code(status).header("content-type", "application/json").send(bytes);
}

export function sendJson(reply: FastifyReply, status: number, value: unknown): FastifyReply {
  return sendBytes(reply, status, Buffer.from(JSON.stringify(value)));
}

/**
 * What was asked for, written past the framework: that would add a charset to the type of a text, and the same text as bytes
 * costs a copy and a write of its own.
 */
export function sendAnswer(reply: FastifyReply, value: unknown): void {
  const text = JSON.stringify(value);
  const length = String(Buffer.byteLength(text));
  reply.hijack();
  reply.raw.writeHead(200, [...answerHeaders, "content-length", length]).end(text);
}

export function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  failure: Failure,
  status = statusOf(failure),
): FastifyReply {
  return sendJson(reply, status, dialectOf(clientVersion(request)).error(errorBody(failure)));
}

export function sendFault(room: FaultLog, request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const fault = toFault(room, error);
  const status = error instanceof Error && "statusCode" in error && error.statusCode === 413 ? 413 : undefined;
  return sendFailure(request, reply, toFailure(fault), status);
}

/** What is not a refusal of ours is our mistake: the caller learns a reference, the log learns the rest. */
function toFault(room: FaultLog, error: unknown): Fault {
  if (error instanceof Fault) {
    if (error.code === "internal") return internal(room, error);
    // Trouble outside of this program: its reason is enough, where it was met is not.
    if (error.cause !== undefined) room.trouble(error.message, error.cause);
    return error;
  }
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500) return new Fault("invalid_argument", "bad request body");
  return internal(room, error);
}

function internal(room: FaultLog, error: unknown): Fault {
  const reference = crypto.randomUUID();
  room.log(`internal server error (${reference})`, error);
  return new Fault("internal", `internal server error (${reference})`);
}
