/** The whole message as bytes, bent once more, and how they are handed over. */
import type { Random } from "../../../../core/test/seeded_random.ts";
import { type Draft, type Mutator, messageOf } from "../draft.ts";
import type { Delivery } from "../raw_client.ts";

function rewritten(name: string, bend: (message: string, draft: Draft, random: Random) => string): Mutator {
  return {
    name,
    at: "message",
    bend(draft, random) {
      draft.message = Buffer.from(bend(draft.message.toString("latin1"), draft, random), "latin1");
    },
  };
}

export const messageMutators: readonly Mutator[] = [
  rewritten("lines that end in LF", (message) => {
    const end = message.indexOf("\r\n\r\n") + 4;
    return message.slice(0, end).replaceAll("\r\n", "\n") + message.slice(end);
  }),
  rewritten("one line that ends in LF", (message) => message.replace("\r\n", "\n")),
  rewritten("a bare CR", (message, _, { pick }) => message.replace("\r\n", pick(["\r\r\n", "\r\n\r", "\r"]))),
  rewritten("a folded header", (message, _, { pick }) =>
    message.replace(/(X-Stamp: .{20})/i, `$1\r\n${pick([" ", "\t"])}`),
  ),
  rewritten("another header folded", (message) => message.replace("\r\n", "\r\nX-Note: a\r\n b\r\n")),
  rewritten("a space before a colon", (message, _, { pick }) =>
    message.replace(pick(["X-Stamp:", "Host:", "Content-Length:"]), (name) => `${name.slice(0, -1)} :`),
  ),
  rewritten("a header without a colon", (message) => message.replace("\r\n", "\r\nX-Note\r\n")),
  rewritten("a header without a name", (message) => message.replace("\r\n", "\r\n: x\r\n")),
  rewritten("a NUL in a header", (message) => message.replace("\r\n", "\r\nX-Note: a\0b\r\n")),
  rewritten("a space before the first line", (message) => ` ${message}`),
  rewritten("two spaces in the first line", (message) => message.replace(" ", "  ")),
  rewritten("empty lines in front", (message) => `\r\n\r\n${message}`),
  rewritten("a first line of HTTP/2", (message) => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${message}`),
  rewritten("a TLS greeting", (message) => `\x16\x03\x01\x02\x00${message}`),
  rewritten("bytes behind", (message, _, { pick }) => message + pick(["x", "GARBAGE\r\n\r\n", "\0", "}\r\n"])),
  rewritten("the same once more", (message) => message + message),
  rewritten("three at once, the middle one bent", (message) => {
    const bent = message.replace(/X-Stamp: ..../i, "X-Stamp: AAAA");
    return message + bent + message;
  }),
  rewritten("behind another question", (message) => `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n${message}`),
  rewritten(
    "behind a question with a body",
    (message) => `GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc${message}`,
  ),
  {
    name: "twenty at once",
    at: "message",
    bend(draft) {
      draft.message = Buffer.concat(Array.from({ length: 20 }, () => messageOf(draft)));
    },
  },
];

function handed(name: string, bend: (message: Buffer, random: Random) => Delivery): Mutator {
  return {
    name,
    at: "delivery",
    bend(draft, random) {
      draft.delivery = bend(draft.message, random);
    },
  };
}

export const deliveryMutators: readonly Mutator[] = [
  handed("in two pieces", (message, { below }) => {
    const at = below(message.length);
    return {
      pieces: [message.subarray(0, at), message.subarray(at)].filter(({ length }) => length > 0),
      ending: "stay",
    };
  }),
  handed("byte by byte at first", (message) => ({
    pieces: [...Array.from({ length: 20 }, (_, at) => message.subarray(at, at + 1)), message.subarray(20)],
    ending: "stay",
  })),
  handed("the last byte by itself", (message) => ({
    pieces: [message.subarray(0, -1), message.subarray(-1)],
    ending: "stay",
  })),
  handed("and its side closed", (message) => ({ pieces: [message], ending: "half-close" })),
  handed("a part, and its side closed", (message, { below }) => ({
    pieces: [message.subarray(0, 1 + below(message.length))],
    ending: "half-close",
  })),
  handed("and gone", (message) => ({ pieces: [message], ending: "leave" })),
  handed("a part, and gone", (message, { below }) => ({
    pieces: [message.subarray(0, 1 + below(message.length))],
    ending: "leave",
  })),
];
