/** One request and its answer over one connection, to addresses that were checked before. */
import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { type Address, bareHost } from "./checked_addresses.ts";
import { codeOf, isTlsError } from "./connection_error.ts";
import { FetchFailure } from "./fetch_failure.ts";
import { shortHost } from "./outgoing_url.ts";

export type OutgoingRequest = {
  url: string;
  method?: "GET" | "POST";
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** The statuses whose answer is read; 200 alone unless told. */
  statuses?: readonly number[];
};

export type ExchangeLimits = { maxBytes: number };

const onlyOk: readonly number[] = [200];

/** The bytes of a JSON answer, and its status. */
export function exchange(
  url: URL,
  addresses: readonly Address[],
  request: OutgoingRequest,
  { maxBytes }: ExchangeLimits,
  signal: AbortSignal,
): Promise<{ status: number; bytes: Uint8Array }> {
  const { method = "GET", headers = {}, body, statuses = onlyOk } = request;
  const begin = url.protocol === "https:" ? requestHttps : requestHttp;
  const host = bareHost(url);
  return new Promise((resolve, reject) => {
    const outgoing: ClientRequest = begin({
      host,
      port: url.port === "" ? undefined : Number(url.port),
      path: `${url.pathname}${url.search}`,
      method,
      headers: {
        host: url.host,
        accept: "application/json",
        // What is small packed may be large.
        "accept-encoding": "identity",
        ...headers,
        ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
      },
      // No agent: no connection and no TLS session of another fetch, and no proxy.
      agent: false,
      lookup: fixedLookup(addresses),
      maxHeaderSize: 16 * 1024,
      // A certificate is for a name; an address is not sent as one.
      servername: isIP(host) === 0 ? host : "",
      rejectUnauthorized: true,
      minVersion: "TLSv1.2",
      signal,
    });
    const fail = (error: Error) => {
      reject(error instanceof FetchFailure ? error : toFailure(error, url));
      outgoing.destroy();
    };
    outgoing.on("error", fail);
    // Also after an answer of 101, which is nobody's here.
    outgoing.on("close", () => fail(new Error("closed")));
    outgoing.on("response", (response) => {
      const status = response.statusCode ?? 0;
      const flaw = flawOf(response, status, statuses, maxBytes);
      if (flaw !== undefined) return fail(new FetchFailure("answer", `${shortHost(url)} ${flaw}`));
      readBody(response, maxBytes, url).then((bytes) => {
        resolve({ status, bytes });
        outgoing.destroy();
      }, fail);
    });
    outgoing.end(body);
  });
}

/** The answer to every look-up of this connection. Node asks for none where the host is an address. */
function fixedLookup(addresses: readonly Address[]): LookupFunction {
  return (_, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else if (first !== undefined) callback(null, first.address, first.family);
  };
}

function flawOf({ headers }: IncomingMessage, status: number, statuses: readonly number[], maxBytes: number) {
  if (status >= 300 && status < 400) return `answers ${status}; redirects are not followed`;
  if (!statuses.includes(status)) return `answers ${status}`;
  const type = headers["content-type"] ?? "";
  if (!/^application\/([\w.-]+\+)?json[\t ]*(;|$)/i.test(type)) return "answers with something else than JSON";
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding.toLowerCase() !== "identity") return "answers with a compressed body";
  if (Number(headers["content-length"] ?? 0) > maxBytes) return tooLong(maxBytes);
  return undefined;
}

function tooLong(maxBytes: number): string {
  return `answers with more than ${maxBytes / 1024} KiB`;
}

async function readBody(response: IncomingMessage, maxBytes: number, url: URL): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new FetchFailure("answer", `${shortHost(url)} ${tooLong(maxBytes)}`);
    chunks.push(chunk);
  }
  if (!response.complete) throw new Error("broke off");
  return Buffer.concat(chunks);
}

function toFailure(error: Error, url: URL): FetchFailure {
  if (isTlsError(error)) {
    return new FetchFailure("tls", `${shortHost(url)} shows no certificate that vouches for it (${codeOf(error)})`);
  }
  const { code } = error as NodeJS.ErrnoException;
  return new FetchFailure(
    "unreachable",
    `${shortHost(url)} cannot be reached (${code ? codeOf(error) : "broken off"})`,
  );
}
