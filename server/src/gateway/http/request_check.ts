/** What is wrong with a request, whatever it asks for. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Fault } from "@keystead/core/fault.ts";
import { unservedPaths } from "./unserved_paths.ts";

/** Characters of a header that are repeated to its sender: an answer is not made longer by asking longer. */
const maxQuoted = 100;
const maxPathQuoted = 200;

/**
 * Why a request is refused before anything else, because a proxy on its way may have read it otherwise: a protocol that only the first
 * line claims, no or several hosts, a body in an encoding that we do not undo, or in chunks that its protocol does not have.
 */
export function explainMalformed(request: IncomingMessage): string | undefined {
  const { httpVersionMajor, httpVersionMinor, headers, rawHeaders } = request;
  if (httpVersionMajor !== 1) return "malformed HTTP request";
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  if (hosts > 1 || (hosts === 0 && httpVersionMinor === 1)) return "malformed HTTP request: exactly one Host header";
  const encoding = headers["transfer-encoding"];
  if (encoding === undefined) return undefined;
  if (encoding.toLowerCase() === "chunked" && httpVersionMinor === 1) return undefined;
  return `bad request body: transfer encoding \`${encoding.slice(0, maxQuoted)}\` is not accepted`;
}

export function checkBody(headers: IncomingHttpHeaders, body: Uint8Array, mayBeEmpty = false): void {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    const shown = encoding.slice(0, maxQuoted);
    throw new Fault("invalid_argument", `bad request body: content encoding \`${shown}\` is not accepted`);
  }
  if (body.length === 0 && !mayBeEmpty) throw new Fault("invalid_argument", "bad request body: empty");
}

/** For a path that no route has. Clients of the published API hear which of its paths are missing here. */
export function nothingAt({ method, url }: { method: string; url: string }): Fault {
  const path = url.split("?", 1)[0]?.slice(0, maxPathQuoted) ?? "";
  const published = path.replaceAll(/\/{2,}/g, "/");
  if (unservedPaths.has(published)) {
    return new Fault(
      "unimplemented",
      `\`${published}\` is a path of the published API that this server does not serve`,
    );
  }
  return new Fault("not_found", `there is nothing at ${method} \`${path}\``);
}
