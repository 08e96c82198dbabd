/**
 * What a route module gives to the HTTP server. A module is a function from its dependencies to routes. It never sees a socket: the
 * guarded handler (`guarded_handler.ts`) has read and bounded the request before, and writes what the handler sends.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { HTTPMethods } from "fastify";
import type { Failure } from "../../views/error_body.ts";
import type { BodyOwner } from "./body_work.ts";
import type { JsonText } from "./json_text.ts";
import type { MetricKind } from "./metrics.ts";

export type Route = {
  method: HTTPMethods | HTTPMethods[];
  path: string;
  limits: RouteLimits;
  /** The name under which `/metrics` counts its requests; without it they are not counted. */
  metric?: { kind: MetricKind; path: string };
  /** Whose turn a large body takes; it is asked before the body is read. Without an answer it is a stranger's. */
  findOwner?(request: RouteRequest): Promise<BodyOwner | undefined>;
  /** Sends exactly one answer, or throws a Fault, which is sent. It reads the body before it first waits for anything. */
  handle(request: RouteRequest, send: Send): Promise<void> | void;
};

export type RouteLimits = {
  /** Of a request's body, at most `maxBodyBytes`. Routes with 0 never read one; on the others an empty body is refused. */
  bodyBytes: number;
  /** An empty body is taken as well. */
  mayBeEmpty?: true;
};

export type RouteRequest = {
  method: string;
  url: string;
  params: Readonly<Record<string, string>>;
  headers: IncomingHttpHeaders;
  /** As they came: Node joins repeated headers into one value. */
  rawHeaders: readonly string[];
  clientVersion: string | undefined;
  /** Where it comes from, as `caller_address.ts` tells it; undefined where that is not known. */
  callerAddress: string | undefined;
  /** Headers of whatever is answered, an error included; undefined takes one away that every answer has. */
  setHeaders(headers: Readonly<Record<string, string | undefined>>): void;
  body: Uint8Array;
};

export type Answer =
  /** 200 and a JSON value, as `writeJson` wrote it. */
  | { kind: "json"; text: JsonText }
  /** A refusal in the spelling of the client's version. */
  | { kind: "failure"; failure: Failure; status?: number; headers?: AnswerHeaders }
  | Content;

/** Anything else, as it is. */
export type Content = {
  kind: "content";
  status: number;
  contentType: string;
  content: Uint8Array | string;
  headers?: AnswerHeaders;
};

/** Besides those of every answer. */
export type AnswerHeaders = Readonly<Record<string, string>>;

export type Send = (answer: Answer) => void;

/** JSON with a status of its own; as bytes, because the framework adds a charset to the type of a text. */
export function jsonContent(status: number, value: unknown): Content {
  return { kind: "content", status, contentType: "application/json", content: Buffer.from(JSON.stringify(value)) };
}
