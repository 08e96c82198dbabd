/** How answers leave: JSON in the spelling that clients expect, and faults without details that only the log may have. */
import { Fault } from "@keystead/core/fault.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { dialectOf } from "../../views/dialect.ts";
import { errorBody, type Failure, statusOf, toFailure } from "../../views/error_body.ts";
import { corsHeaders } from "./cors.ts";
import type { JsonText } from "./json_text.ts";
import { sendParts } from "./long_answer.ts";
import { type Answer, type Content, jsonContent } from "./route.ts";

/** Where the details go that the caller does not get. */
export type FaultLog = {
  /** A mistake of ours, under the reference in the message. */
  internal(message: string, error: unknown): void;
  /** Something outside this program fails, a disk or a database: the message is the caller's, the cause is for the operator. */
  outage(message: string, cause: unknown): void;
};

const jsonHeaders = Object.entries({ ...corsHeaders, "content-type": "application/json" }).flat();

export function clientVersion(request: FastifyRequest): string | undefined {
  const value = request.headers["x-client-version"];
  return typeof value === "string" ? value : undefined;
}

export function statusOfAnswer(answer: Answer): number {
  if (answer.kind === "json") return 200;
  return answer.kind === "content" ? answer.status : (answer.status ?? statusOf(answer.failure));
}

/** Of a long answer `leftToRead` is told how many bytes the client has still to read. */
export function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  leftToRead: (bytes: number) => void,
): void {
  if (answer.kind === "json") {
    sendJson(reply, answer.text, leftToRead);
    return;
  }
  if (answer.headers !== undefined) reply.headers(answer.headers);
  if (answer.kind === "content") sendContent(reply, answer);
  else sendFailure(request, reply, answer.failure, answer.status);
}

/** Written past the framework, which would add a charset to the type of a text. */
function sendJson(reply: FastifyReply, text: JsonText, leftToRead: (bytes: number) => void): void {
  const { parts, length } = text;
  reply.hijack();
  reply.raw.writeHead(200, [...jsonHeaders, "content-length", String(length)]);
  if (parts.length === 1) reply.raw.end(parts[0]);
  else void sendParts(reply.raw, text, leftToRead);
}

/** Clients exist that reject any other spelling of a content type, a charset included. */
function sendContent(reply: FastifyReply, { status, contentType, content }: Content): FastifyReply {
  return reply.code(status).header("content-type", contentType).send(content);
}

function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  failure: Failure,
  status = statusOf(failure),
): FastifyReply {
  const body = dialectOf(clientVersion(request)).error(errorBody(failure));
  return sendContent(reply, jsonContent(status, body));
}

export function sendFault(log: FaultLog, request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const fault = toFault(log, error);
  const status = error instanceof Error && "statusCode" in error && error.statusCode === 413 ? 413 : undefined;
  return sendFailure(request, reply, toFailure(fault), status);
}

/** Any error that is not a refusal is our mistake: the caller gets a reference, the log gets the rest. */
function toFault(log: FaultLog, error: unknown): Fault {
  if (error instanceof Fault) {
    if (error.code === "internal") return internal(log, error);
    // The reason of an outage is enough; its stack says nothing.
    if (error.cause !== undefined) log.outage(error.message, error.cause);
    return error;
  }
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500) return new Fault("invalid_argument", "bad request body");
  return internal(log, error);
}

function internal(log: FaultLog, error: unknown): Fault {
  const reference = crypto.randomUUID();
  log.internal(`internal server error (${reference})`, error);
  return new Fault("internal", `internal server error (${reference})`);
}
