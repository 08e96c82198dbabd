/** How long a body is, said in every way that two readers could understand differently. */
import type { Random } from "../../../../core/test/seeded_random.ts";
import type { Draft, Mutator } from "../draft.ts";
import type { Header } from "./headers.ts";

function framed(name: string, bend: (draft: Draft, random: Random) => Draft["framing"]): Mutator {
  return {
    name,
    at: "framing",
    bend(draft, random) {
      draft.framing = bend(draft, random);
    },
  };
}

function lengths(name: string, write: (length: number, random: Random) => string[]): Mutator {
  return framed(name, ({ body }, random) => ({
    headers: write(body.length, random).map((value): Header => ["Content-Length", value]),
    bytes: body,
  }));
}

function chunks(
  body: Buffer,
  { below }: Random,
  writeSize: (size: number) => string = (size) => size.toString(16),
): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const size = Math.min(body.length - at, 1 + below(body.length));
    parts.push(Buffer.from(`${writeSize(size)}\r\n`), body.subarray(at, at + size), Buffer.from("\r\n"));
    at += size;
  }
  return Buffer.concat(parts);
}

function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

const lastChunk = Buffer.from("0\r\n\r\n");

function chunked(
  name: string,
  write: (body: Buffer, random: Random, draft: Draft) => Buffer,
  ...more: Header[]
): Mutator {
  return framed(name, (draft, random) => ({
    headers: [["Transfer-Encoding", "chunked"], ...more],
    bytes: write(draft.body, random, draft),
  }));
}

function encodedAs(name: string, ...values: string[]): Mutator {
  return framed(name, ({ body }, random) => ({
    headers: [["Transfer-Encoding", random.pick(values)]],
    bytes: Buffer.concat([chunks(body, random), lastChunk]),
  }));
}

export const framingMutators: readonly Mutator[] = [
  lengths("the length twice", (length) => [String(length), String(length)]),
  lengths("two lengths", (length, { pick }) =>
    pick([
      [String(length), "0"],
      ["0", String(length)],
      [String(length), String(length + 1)],
    ]),
  ),
  lengths("a list of lengths", (length) => [`${length}, ${length}`]),
  lengths("a length that is no number", (length, { pick }) => [
    pick([
      `+${length}`,
      `-${length}`,
      `0x${length.toString(16)}`,
      `${length}.0`,
      `${length}e0`,
      "",
      "x",
      `"${length}"`,
      `${length} ${length}`,
    ]),
  ]),
  lengths("a length with zeros in front", (length) => [`000${length}`]),
  lengths("a length too small", (length, { below }) => [String(below(length + 1))]),
  lengths("a length too large", (length, { pick }) => [String(length + pick([1, 2, 1000]))]),
  lengths("a length beyond reason", (_, { pick }) => [
    pick(["104857600", "99999999999999999999", "18446744073709551616"]),
  ]),
  framed("no length", ({ body }) => ({ headers: [], bytes: body })),
  framed("a length and chunks", ({ body }, random) => ({
    headers: random.pick<Header[]>([
      [
        ["Content-Length", String(body.length)],
        ["Transfer-Encoding", "chunked"],
      ],
      [
        ["Transfer-Encoding", "chunked"],
        ["Content-Length", "4"],
      ],
    ]),
    bytes: random.pick([Buffer.concat([chunks(body, random), lastChunk]), body]),
  })),
  chunked("chunks", (body, random) => Buffer.concat([chunks(body, random), lastChunk])),
  chunked("chunks of one byte", (body) => {
    const [few, rest] = [body.subarray(0, 200), body.subarray(200)];
    const one = [...few].map((byte) => chunk(Buffer.from([byte])));
    return Buffer.concat([...one, ...(rest.length > 0 ? [chunk(rest)] : []), lastChunk]);
  }),
  chunked("sizes in capitals and with zeros", (body, random) =>
    Buffer.concat([
      chunks(body, random, (size) => size.toString(16).toUpperCase().padStart(6, "0")),
      Buffer.from("000\r\n\r\n"),
    ]),
  ),
  chunked("chunk extensions", (body, random) =>
    Buffer.concat([chunks(body, random, (size) => `${size.toString(16)};a=b;c="d"`), lastChunk]),
  ),
  chunked("long chunk extensions", (body, random) =>
    Buffer.concat([chunks(body, random, (size) => `${size.toString(16)};${"x".repeat(20_000)}`), lastChunk]),
  ),
  chunked("sizes that are none", (body, random) =>
    Buffer.concat([
      chunks(body, random, (size) => random.pick(["0x", "-", "+", "g", " ", ""]) + size.toString(16)),
      lastChunk,
    ]),
  ),
  chunked("a size beyond reason", (body) =>
    Buffer.concat([Buffer.from("fffffffffffffffff\r\n"), body, Buffer.from("\r\n"), lastChunk]),
  ),
  chunked("chunks that end wrongly", (body, random) =>
    Buffer.concat([
      Buffer.from(`${body.length.toString(16)}\r\n`),
      body,
      Buffer.from(random.pick(["\n", "\r", "xx", ""])),
      lastChunk,
    ]),
  ),
  chunked("a trailer", (body, random) => Buffer.concat([chunks(body, random), Buffer.from("0\r\nX-Note: x\r\n\r\n")])),
  chunked("the stamp once more in a trailer", (body, random, { stampHeader }) =>
    Buffer.concat([chunks(body, random), Buffer.from(`0\r\nX-Stamp: ${stampHeader}\r\n\r\n`)]),
  ),
  {
    name: "the stamp in a trailer only",
    at: "framing",
    bend(draft, random) {
      draft.headers = draft.headers.filter(([name]) => name !== "X-Stamp");
      const trailer = Buffer.from(`0\r\nX-Stamp: ${draft.stampHeader}\r\n\r\n`);
      draft.framing = {
        headers: [
          ["Transfer-Encoding", "chunked"],
          ["Trailer", "X-Stamp"],
        ],
        bytes: Buffer.concat([chunks(draft.body, random), trailer]),
      };
    },
  },
  encodedAs("chunks, spelled otherwise", "Chunked", "CHUNKED", " chunked "),
  encodedAs("chunks and more", "gzip, chunked", "chunked, chunked", "identity, chunked", "chunked, gzip", "x"),
  encodedAs("chunks, almost", "xchunked", "chunked;q=1", "'chunked'", "chunke", "\x0bchunked", ""),
  framed("two encodings", ({ body }, random) => ({
    headers: [
      ["Transfer-Encoding", "chunked"],
      ["Transfer-Encoding", random.pick(["identity", "chunked", "gzip"])],
    ],
    bytes: Buffer.concat([chunks(body, random), lastChunk]),
  })),
];
