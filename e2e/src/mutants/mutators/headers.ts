/** Headers: more, fewer and others than a client sends. */
import { randomUUID } from "node:crypto";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import type { Random } from "../../../../core/test/seeded_random.ts";
import type { Draft, Mutator } from "../draft.ts";

export type Header = [name: string, value: string];

function headed(name: string, bend: (headers: Header[], draft: Draft, random: Random) => void): Mutator {
  return { name, at: "headers", bend: (draft, random) => bend(draft.headers, draft, random) };
}

/** Adds one of these. */
function added(name: string, ...choices: Header[]): Mutator {
  return headed(
    name,
    (headers, _, { pick, below }) => void headers.splice(below(headers.length + 1), 0, pick(choices)),
  );
}

function rename(headers: Header[], from: string, to: string): void {
  for (const header of headers) if (header[0] === from) header[0] = to;
}

export const headerMutators: readonly Mutator[] = [
  headed("two equal stamps", (headers, { stampHeader }) => void headers.push(["X-Stamp", stampHeader])),
  headed(
    "two stamps, one of them empty",
    (headers, _, { pick }) => void headers.splice(pick([0, 3]), 0, ["x-stamp", ""]),
  ),
  headed("two stamps in one header", (headers, { stampHeader }) => {
    for (const header of headers) if (header[0] === "X-Stamp") header[1] = `${stampHeader}, ${stampHeader}`;
  }),
  added("a passkey's stamp too", ["X-Stamp-Webauthn", "{}"], ["x-stamp-webauthn", ""]),
  added("a session too", ["X-Session", "x"], ["x-session", ""]),
  headed("an attested stamp too", (headers, { stampHeader }) => void headers.push(["X-Stamp-Attested", stampHeader])),
  headed("another kind of stamp", (headers, _, { pick }) => {
    rename(headers, "X-Stamp", pick(["X-Stamp-Webauthn", "X-Stamp-Attested", "X-Session"]));
  }),
  headed(
    "no stamp",
    (headers) =>
      void headers.splice(
        headers.findIndex(([name]) => name === "X-Stamp"),
        1,
      ),
  ),
  headed("the stamp's name in other letters", (headers, _, { pick }) => {
    rename(headers, "X-Stamp", pick(["x-stamp", "X-STAMP", "x-StAmP"]));
  }),
  headed("the stamp's name almost", (headers, _, { pick }) => {
    rename(headers, "X-Stamp", pick(["X_Stamp", "XStamp", "X-Stamps", "X-Stamp-", "X.Stamp"]));
  }),
  headed("spaces around the stamp", (headers, { stampHeader }, { pick }) => {
    for (const header of headers)
      if (header[0] === "X-Stamp") header[1] = `${pick(["\t", "   ", ""])}${stampHeader}${pick([" ", "\t \t"])}`;
  }),
  headed("headers in another order", (headers) => void headers.reverse()),
  headed("another content type", (headers, _, { pick }) => {
    const types = [
      "text/plain",
      "",
      "application/json; charset=utf-16",
      "x/y;;",
      "multipart/form-data; boundary=x",
      "application/ json",
    ];
    for (const header of headers) if (header[0] === "Content-Type") header[1] = pick(types);
  }),
  added("two content types", ["Content-Type", "text/plain"], ["content-type", "application/cbor"]),
  added(
    "an encoding that is none",
    ["Content-Encoding", "gzip"],
    ["Content-Encoding", "br"],
    ["Content-Encoding", "x"],
  ),
  added("an encoding that changes nothing", ["Content-Encoding", "identity"]),
  {
    name: "a body that is compressed",
    at: "headers",
    bend(draft, { pick }) {
      const [encoding, compress] = pick([
        ["gzip", gzipSync],
        ["deflate", deflateSync],
        ["br", brotliCompressSync],
      ] as const);
      draft.headers.push(["Content-Encoding", encoding]);
      draft.body = compress(draft.body);
    },
  },
  headed("an idempotency key", (headers) => void headers.push(["Idempotency-Key", randomUUID()])),
  added(
    "an idempotency key that is none",
    ["Idempotency-Key", ""],
    ["Idempotency-Key", "a b"],
    ["Idempotency-Key", "x".repeat(256)],
    ["Idempotency-Key", "\xe4"],
  ),
  headed("two idempotency keys", (headers) => void headers.push(["Idempotency-Key", "a"], ["Idempotency-Key", "b"])),
  added(
    "another client",
    ["X-Client-Version", "@turnkey/http@6.6.0"],
    ["X-Client-Version", ""],
    ["X-Client-Version", "\xff"],
  ),
  added("another method in a header", ["X-HTTP-Method-Override", "DELETE"], ["X-Original-URL", "/healthz"]),
  added("an upgrade", ["Upgrade", "websocket"], ["Upgrade", "h2c"]),
  added("an expectation", ["Expect", "100-continue"]),
  added("an expectation of nothing", ["Expect", "200-ok"], ["Expect", ""]),
  added("a connection that ends", ["Connection", "close"]),
  added("a connection with many words", ["Connection", "keep-alive, X-Stamp, Content-Length"]),
  added("two hosts", ["Host", "other.test"], ["host", "keystead.test"]),
  headed(
    "no host",
    (headers) =>
      void headers.splice(
        headers.findIndex(([name]) => name === "Host"),
        1,
      ),
  ),
  added(
    "somebody else's headers",
    ["Cookie", "a=b"],
    ["Authorization", "Basic eDp4"],
    ["Range", "bytes=0-1"],
    ["Forwarded", "for=x"],
  ),
  added("bytes beyond ASCII", ["X-Note", "\xff\xfe"], ["X-Note", "é"]),
  headed("ninety headers", (headers) => void headers.unshift(...many(90))),
  headed("a hundred and fifty headers", (headers) => void headers.unshift(...many(150))),
  headed("a hundred and fifty headers behind the stamp", (headers, { stampHeader }) => {
    headers.push(...many(150), ["X-Stamp", stampHeader]);
  }),
];

function many(count: number): Header[] {
  return Array.from({ length: count }, (_, index): Header => [`X-${index}`, ""]);
}
