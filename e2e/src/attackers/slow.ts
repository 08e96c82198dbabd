/** Attackers with patience: each holds connections, and with them whatever a server keeps per connection. */
import type { Socket } from "node:net";
import { type Assault, type Attack, keepOpen } from "./attack.ts";
import { headOf, mebibyte, whoami } from "./prepared.ts";

const sockets = 1_000;
/** So many of the largest bodies a server takes at the same time; it refuses the rest, who come back. */
const bodiesTogether = 64;

/** Keeps connections open that begin with `head` and then send one byte each second. */
function drip(head: Buffer): Attack["begin"] {
  return (assault) => {
    const open = new Set<Socket>();
    const byte = Buffer.from("a");
    keepOpen(assault, sockets, (socket) => {
      open.add(socket);
      socket.on("close", () => open.delete(socket));
      socket.write(head);
    });
    assault.often(1, () => {
      for (const socket of open) socket.write(byte);
    });
  };
}

/** All but the last byte of the largest body, and then nothing. */
function hold(assault: Assault): void {
  const head = headOf(whoami, [`Content-Length: ${mebibyte}`, "X-Stamp: x"]);
  const almost = Buffer.concat([head, Buffer.alloc(mebibyte - 1, " ")]);
  // It takes patience, not bandwidth: coming back at once would be a flood.
  keepOpen(assault, sockets, (socket) => socket.write(almost), [5_000, 15_000]);
}

/** Asks for a long answer, twice, and reads none of it. The buffers of the operating system take as much as they are allowed to. */
function neverRead(assault: Assault): void {
  const questions = Buffer.concat(Array.from({ length: 2 }, () => headOf("/openapi.json", [], "GET")));
  keepOpen(assault, sockets, (socket) => {
    socket.pause();
    socket.write(questions);
  });
}

/** One honest question now and then, just often enough to be kept. */
function idle(assault: Assault): void {
  const open = new Set<Socket>();
  const question = headOf("/healthz", [], "GET");
  keepOpen(assault, sockets, (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.write(question);
  });
  assault.often(0.1, () => {
    for (const socket of open) socket.write(question);
  });
}

const late = "whoever still sends when it is cut off may fail to send before it has read why";

export const slowAttacks = {
  "slow headers": {
    says: `${sockets} connections, each sending one byte of a header per second`,
    answers: [408],
    silence: late,
    holds: sockets,
    begin: drip(headOf(whoami, ["X-Slow: "]).subarray(0, -4)),
  },
  "slow bodies": {
    says: `${sockets} connections, each sending one byte of a body per second`,
    answers: [408],
    silence: late,
    holds: sockets,
    begin: drip(headOf(whoami, [`Content-Length: ${mebibyte}`, "X-Stamp: x"])),
  },
  "held bodies": {
    says: `${sockets} connections, each with the largest body but for its last byte`,
    answers: [408, 429],
    silence: late,
    holds: bodiesTogether,
    begin: hold,
  },
  "unread answers": {
    says: `${sockets} connections, each asking for 0.7 MB of answers and reading none`,
    answers: [],
    silence: "there is no room to say anything to who does not read",
    holds: sockets,
    begin: neverRead,
  },
  "idle connections": {
    says: `${sockets} connections, each with one question in ten seconds`,
    answers: [200],
    holds: sockets,
    begin: idle,
  },
} as const satisfies Record<string, Attack>;
