/** Attackers with a lot to say: each request is far beyond what is read, or just at the edge of it. */
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { bytesOf } from "../wire.ts";
import type { Assault, Attack } from "./attack.ts";
import { createUserTag, falseStamp, headOf, mebibyte, strangerStamp, whoami, withLength } from "./prepared.ts";

const perSecond = 20;
const hundredMegabytes = 100_000_000;
const block = Buffer.alloc(64 * 1024, " ");

/** Refused at once: nothing has to be waited for, computed or looked up. */
const withinMs = 100;
/** A server reads 64 KiB at a time; one such piece may be on its way when the one before it is refused. */
const twoPieces = 2 * 64 * 1024;

/** Sends `head`, and then `piece` until the whole length is sent or nobody listens any more. */
function pour(socket: Socket, head: Buffer, piece: Buffer, length: number): void {
  let left = Math.ceil(length / piece.length);
  const go = (): void => {
    while (left > 0 && socket.writable) {
      left--;
      if (!socket.write(piece)) return;
    }
  };
  socket.on("drain", go);
  socket.write(head);
  go();
}

function poured(heads: readonly Buffer[], piece: Buffer): Attack["begin"] {
  return (assault) => {
    let turn = 0;
    assault.often(perSecond, () => {
      const head = heads[turn++ % heads.length] ?? piece;
      assault.open((socket) => pour(socket, head, piece, hundredMegabytes));
    });
  };
}

/** Sends each of these whole, on a connection of its own. */
function thrown(make: (assault: Assault) => readonly Buffer[], rate = perSecond): Attack["begin"] {
  return (assault) => {
    const requests = make(assault);
    let turn = 0;
    assault.often(rate, () => {
      const request = requests[turn++ % requests.length] ?? block;
      assault.open((socket) => socket.end(request));
    });
  };
}

/** A body of exactly one MiB, by a member that lies about it, and by a stranger. */
function bodies({ target }: Assault, texts: readonly string[]): Buffer[] {
  return texts.flatMap((text) => {
    const body = bytesOf(text);
    return [
      withLength(whoami, strangerStamp(body), body),
      withLength(createUserTag, strangerStamp(body), body),
      withLength(whoami, falseStamp(target, body), body),
      withLength(createUserTag, falseStamp(target, body), body),
    ];
  });
}

/** As much of `piece` as fits into the largest body, between a beginning that names the organization and an end. */
function filled({ target }: Assault, begin: string, piece: string, end: string): string {
  const head = `{"organizationId":"${target.organizationId}","x":${begin}`;
  const tail = `${end}}`;
  return head + piece.repeat(Math.floor((mebibyte - head.length - tail.length) / Buffer.byteLength(piece))) + tail;
}

function deep(assault: Assault): Buffer[] {
  return bodies(assault, [
    filled(assault, "", "[", ""),
    filled(assault, "", '{"a":', ""),
    filled(assault, "", '[{"":', ""),
    "[".repeat(1_000_000),
  ]);
}

function wide(assault: Assault): Buffer[] {
  const keys = Array.from({ length: 90_000 }, (_, index) => `"${index.toString(36)}":1`).join(",");
  return bodies(assault, [
    filled(assault, "[0", ",0", "]"),
    filled(assault, "[{}", ",{}", "]"),
    filled(assault, '[""', ',""', "]"),
    `{"organizationId":"${assault.target.organizationId}","x":{${keys}}}`,
  ]);
}

function escapes(assault: Assault): Buffer[] {
  return bodies(assault, [
    filled(assault, '"', "\\u0041", '"'),
    filled(assault, '"', "\\ud83d\\ude00", '"'),
    filled(assault, '"', "\\n", '"'),
    filled(assault, "", " ", "0"),
    filled(assault, "", "9", ""),
    filled(assault, '"', "é", '"'),
  ]);
}

function tinyChunks(): Buffer[] {
  const head = headOf(whoami, ["Transfer-Encoding: chunked", "X-Stamp: x"]);
  return [Buffer.concat([head, Buffer.from("1\r\n \r\n".repeat(mebibyte)), Buffer.from("0\r\n\r\n")])];
}

/** Members of a gzip file may stand one after the other: a thousand of one MB each. */
function packed(): Buffer {
  const member = gzipSync(Buffer.alloc(1_000_000, " "), { level: 9 });
  const body = Buffer.concat(Array(1_000).fill(member));
  return Buffer.concat([
    headOf(whoami, ["Content-Encoding: gzip", `Content-Length: ${body.length}`, `X-Stamp: ${strangerStamp(body)}`]),
    body,
  ]);
}

const chunked = (path: string) => headOf(path, ["Transfer-Encoding: chunked", "X-Stamp: x"]);
const chunk = Buffer.concat([Buffer.from("10000\r\n"), block, Buffer.from("\r\n")]);
const announced = (path: string, method?: string) =>
  headOf(path, [`Content-Length: ${hundredMegabytes}`, "X-Stamp: x"], method);

export const hugeAttacks = {
  "100 MB with a length": {
    says: `bodies of 100 MB that say so, ${perSecond} per second`,
    answers: [413],
    withinMs,
    takenIn: twoPieces,
    begin: poured([announced(whoami), announced(createUserTag), announced("/nothing")], block),
  },
  "100 MB in chunks": {
    says: `bodies of 100 MB in chunks, ${perSecond} per second`,
    answers: [413],
    withinMs,
    takenIn: mebibyte + twoPieces,
    begin: poured([chunked(whoami), chunked(createUserTag), chunked("/nothing")], chunk),
  },
  "100 MB where nothing is read": {
    says: `bodies of 100 MB behind other methods, ${perSecond} per second`,
    answers: [204, 405, 404, 413],
    withinMs,
    takenIn: twoPieces,
    begin: poured([announced(whoami, "GET"), announced(whoami, "OPTIONS"), announced("/x", "DELETE")], block),
  },
  "deep JSON": {
    says: `one MiB of open brackets, ${perSecond} per second`,
    answers: [400, 429],
    withinMs,
    begin: thrown(deep),
  },
  "wide JSON": {
    says: `one MiB of numbers, objects, texts or keys, ${perSecond} per second`,
    answers: [400, 401, 429],
    withinMs,
    begin: thrown(wide),
  },
  "long texts": {
    says: `one MiB in one text, number or space, ${perSecond} per second`,
    answers: [400, 401, 429],
    begin: thrown(escapes),
  },
  "tiny chunks": {
    says: "one MiB in chunks of one byte, 5 per second",
    answers: [400, 413],
    withinMs,
    begin: thrown(tinyChunks, 5),
  },
  "gzip bomb": {
    says: `one GB of spaces, packed into one MB, ${perSecond} per second`,
    answers: [400],
    withinMs,
    begin: thrown(() => [packed()]),
  },
  "100,000 headers": {
    says: `100,000 headers, ${perSecond} per second`,
    answers: [431],
    withinMs,
    takenIn: twoPieces,
    begin: thrown(() => [headOf(whoami, Array(100_000).fill("a:b"))]),
  },
  "a header of 1 MB": {
    says: `one header of 1 MB, ${perSecond} per second`,
    answers: [431],
    withinMs,
    takenIn: twoPieces,
    begin: thrown(() => [
      headOf(whoami, [`X-Stamp: ${"A".repeat(1_000_000)}`]),
      headOf(`/${"a".repeat(1_000_000)}`, []),
    ]),
  },
  "headers that wait": {
    says: `16 requests with 40 kB of headers behind a long answer, ${perSecond} per second`,
    answers: [200, 429],
    begin: thrown(() => [
      Buffer.concat([
        headOf("/openapi.json", [], "GET"),
        ...Array.from({ length: 16 }, () => headOf("/healthz", [`X-Wide: ${"A".repeat(40_000)}`], "GET")),
      ]),
    ]),
  },
  "wide stamps": {
    says: `stamps of 32 KiB full of brackets, numbers and keys, ${10 * perSecond} per second`,
    answers: [401],
    begin: thrown(
      ({ target: { organizationId } }) =>
        ["[", "0,", '{"a":', "[],"].map((piece) => {
          const json = `{"x":[${piece.repeat(Math.floor(24_000 / piece.length))}0]}`;
          return withLength(whoami, Buffer.from(json).toString("base64url"), bytesOf({ organizationId }));
        }),
      10 * perSecond,
    ),
  },
} as const satisfies Record<string, Attack>;
