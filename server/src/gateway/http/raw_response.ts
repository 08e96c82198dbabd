/** Refusals of requests that never reach the framework: they are written to the socket as whole responses. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault, type FaultCode } from "@keystead/core/fault.ts";
import { errorBody, toFailure } from "../../views/error_body.ts";
import { leaveUnread } from "./end_connection.ts";

export function rawResponse(status: string, code: FaultCode, message: string, ...moreHeaders: string[]): string {
  const body = bodyOf(code, message);
  const lines = [
    `HTTP/1.1 ${status}`,
    "content-type: application/json",
    "access-control-allow-origin: *",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
    ...moreHeaders,
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

function bodyOf(code: FaultCode, message: string): string {
  return JSON.stringify(errorBody(toFailure(new Fault(code, message))));
}

const parserErrors: Readonly<Record<string, [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "request headers are too large"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ["413 Payload Too Large", "bad request body: chunk extensions are too large"],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "the request took too long"],
};

/** For bytes that are not HTTP, or that came too slowly. */
export function parserErrorResponse(error: NodeJS.ErrnoException): string {
  const [status, message] = parserErrors[error.code ?? ""] ?? ["400 Bad Request", "malformed HTTP request"];
  return rawResponse(status, "invalid_argument", message);
}

export function tunnelResponse(): string {
  return rawResponse("405 Method Not Allowed", "unimplemented", "this is not a proxy", "allow: POST, OPTIONS");
}

/** Node takes any list that has `100-continue` among others for that alone. */
export function expectsMore({ headers }: IncomingMessage): boolean {
  return (headers.expect ?? "").split(",").some((each) => each.trim().toLowerCase() !== "100-continue");
}

export function refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
  leaveUnread(request, response);
  const body = bodyOf("invalid_argument", "only `Expect: 100-continue` is understood");
  const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
  response.writeHead(417, headers).end(body);
}
