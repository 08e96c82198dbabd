/**
 * The judge's own reading of what was sent on a connection, by RFC 9112 and not by anything the server uses. It is strict where
 * two readers could come to different requests: what is not certainly a request is none, and may not be accepted.
 */

export type ReadRequest = {
  method: string;
  target: string;
  /** Of HTTP/1. */
  minor: "0" | "1";
  /** In the order they were sent; names as they were spelled. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
};

/** Whole requests from the first byte on, and whether what is behind the last of them is nothing, the beginning of one, or neither. */
export type Reading = { requests: ReadRequest[]; rest: "nothing" | "unfinished" | "malformed"; why?: string };

const headLimit = 48 * 1024;
const headerLimit = 100;
const bodyLimit = 1024 * 1024;
/** Of all chunks of a body together. */
const extensionLimit = 16 * 1024;

/** RFC 9112 §3 lets a reader take several spaces for one. */
const requestLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) +([\x21-\x7e\x80-\xff]+) HTTP\/1\.([01])$/;
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/;

class Unfinished extends Error {}
class Malformed extends Error {}

export function readRequests(bytes: Buffer): Reading {
  const requests: ReadRequest[] = [];
  let at = 0;
  try {
    for (;;) {
      // Whichever line ends a reader knows, in front of a request there is no other way to read them.
      while (bytes[at] === 0x0d || bytes[at] === 0x0a) at += 1;
      if (at === bytes.length) return { requests, rest: "nothing" };
      const { request, end, isLast } = readRequest(bytes, at);
      requests.push(request);
      if (isLast) return { requests, rest: "nothing" };
      at = end;
    }
  } catch (error) {
    if (error instanceof Unfinished) return { requests, rest: "unfinished" };
    if (error instanceof Malformed) return { requests, rest: "malformed", why: error.message };
    throw error;
  }
}

const crlf = Buffer.from("\r\n");

/** `isLast` when its sender says that nothing follows. */
function readRequest(bytes: Buffer, begin: number): { request: ReadRequest; end: number; isLast: boolean } {
  const [lines, bodyAt] = readHead(bytes, begin);
  const [, method = "", target = "", digit] = requestLine.exec(lines[0] ?? "") ?? refuse("the request line");
  const minor = digit === "0" ? "0" : "1";
  const headers = lines.slice(1).map((line) => {
    const [, name = "", value = ""] = headerLine.exec(line) ?? refuse("a header line");
    return [name, value] as const;
  });
  if (headers.length > headerLimit) refuse("too many headers");
  const all = (name: string) => headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
  const hosts = all("host").length;
  if (hosts > 1 || (hosts === 0 && minor === "1")) refuse("not one Host");
  const connection = all("connection")
    .join(",")
    .toLowerCase()
    .split(/[ \t]*,[ \t]*/);
  const isLast = connection.includes("close") || (minor === "0" && !connection.includes("keep-alive"));
  const lengths = all("content-length");
  const encodings = all("transfer-encoding");
  if (encodings.length > 0) {
    if (lengths.length > 0) refuse("a length and an encoding");
    if (minor === "0") refuse("an encoding in HTTP/1.0");
    if (encodings.length > 1 || encodings[0]?.toLowerCase() !== "chunked") refuse("another encoding than chunked");
    const { body, end } = readChunks(bytes, bodyAt);
    return { request: { method, target, minor, headers, body }, end, isLast };
  }
  if (lengths.length > 1 || !/^[0-9]+$/.test(lengths[0] ?? "0")) refuse("no single length");
  const length = Number(lengths[0] ?? "0");
  if (length > bodyLimit) refuse("too long a body");
  const end = bodyAt + length;
  if (end > bytes.length) throw new Unfinished();
  return { request: { method, target, minor, headers, body: bytes.subarray(bodyAt, end) }, end, isLast };
}

/** The lines up to the empty one, and where the body begins. */
function readHead(bytes: Buffer, begin: number): [lines: string[], bodyAt: number] {
  const end = bytes.indexOf("\r\n\r\n", begin);
  // What cannot become a head any more need not be waited for.
  const seen = bytes.toString("latin1", begin, end < 0 ? bytes.length : end);
  if (seen.length > headLimit) refuse("too long a head");
  if (/(^|[^\r])\n|\r[^\n]|\0/.test(seen)) refuse("a line end, or a NUL");
  if (end < 0) throw new Unfinished();
  return [seen.split("\r\n"), end + 4];
}

function readChunks(bytes: Buffer, begin: number): { body: Buffer; end: number } {
  const chunks: Buffer[] = [];
  let length = 0;
  let extensions = 0;
  let at = begin;
  for (;;) {
    const [line, next] = readLine(bytes, at);
    extensions += line.length - (line.split(";", 1)[0] ?? "").length;
    if (extensions > extensionLimit) refuse("too long extensions");
    const [, digits = ""] = /^([0-9A-Fa-f]{1,8})(?:;[\t\x20-\x7e]*)?$/.exec(line) ?? refuse("a chunk's size");
    const size = Number.parseInt(digits, 16);
    if (size === 0) return { body: Buffer.concat(chunks), end: readTrailers(bytes, next) };
    length += size;
    if (length > bodyLimit) refuse("too long a body");
    if (next + size + 2 > bytes.length) throw new Unfinished();
    if (!bytes.subarray(next + size, next + size + 2).equals(crlf)) refuse("a chunk's end");
    chunks.push(bytes.subarray(next, next + size));
    at = next + size + 2;
  }
}

function readTrailers(bytes: Buffer, begin: number): number {
  for (let at = begin; ; ) {
    const [line, next] = readLine(bytes, at);
    if (line === "") return next;
    if (!headerLine.test(line)) refuse("a trailer");
    at = next;
  }
}

function readLine(bytes: Buffer, begin: number): [line: string, next: number] {
  const end = bytes.indexOf("\n", begin);
  if (end < 0) throw new Unfinished();
  if (bytes[end - 1] !== 0x0d || end === begin) refuse("a line end");
  return [bytes.toString("latin1", begin, end - 1), end + 1];
}

function refuse(why: string): never {
  throw new Malformed(why);
}
