/** One keep-alive HTTP connection, one request at a time, with as little work as it can do: this is the load, not a client. */
import { connect, type Socket } from "node:net";

export type Connection = {
  /** Sends a whole request; settles with the whole answer, which must be a 200, and the milliseconds until it was there. */
  send(request: Buffer): Promise<{ ms: number; body: Buffer }>;
  close(): void;
};

type Pending = { beganAt: number; resolve(answer: { ms: number; body: Buffer }): void; reject(error: Error): void };

export function openConnection(host: string, port: number): Connection {
  let socket: Socket | undefined;
  let pending: Pending | undefined;
  let received: Buffer = Buffer.alloc(0);

  function open(): Socket {
    const fresh = connect({ host, port, noDelay: true });
    fresh.on("data", (chunk: Buffer) => onData(fresh, chunk));
    fresh.on("error", (error) => fail(fresh, error));
    fresh.on("close", () => fail(fresh, new Error("the server closed the connection before it answered")));
    return fresh;
  }
  function fail(from: Socket, error: Error): void {
    if (from !== socket) return;
    socket = undefined;
    pending?.reject(error);
    pending = undefined;
  }
  function onData(from: Socket, chunk: Buffer): void {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const answer = readAnswer(received);
    if (answer === undefined) return;
    received = Buffer.alloc(0);
    const { beganAt, resolve, reject } = pending ?? unexpected();
    pending = undefined;
    if (answer.closes) {
      socket = undefined;
      from.destroy();
    }
    if (answer.status === 200) resolve({ ms: performance.now() - beganAt, body: answer.body });
    else reject(new Error(`answered with ${answer.status}: ${answer.body}`));
  }

  return {
    send(request) {
      return new Promise((resolve, reject) => {
        // The server ends a connection after a number of requests and says so; opening the next is part of the latency.
        pending = { beganAt: performance.now(), resolve, reject };
        socket ??= open();
        socket.write(request);
      });
    },
    close() {
      const last = socket;
      socket = undefined;
      last?.destroy();
    },
  };
}

function unexpected(): never {
  throw new Error("an answer that nobody asked for");
}

export type Answer = { status: number; body: Buffer; closes: boolean };

/** The answer once it is complete. Ours always carry a content length. */
export function readAnswer(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = bytes.toString("latin1", 0, end).toLowerCase();
  const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer without a length: ${head}`);
  const bodyEnd = end + 4 + Number(length);
  if (bytes.length < bodyEnd) return undefined;
  return {
    status: Number(head.slice(9, 12)),
    body: bytes.subarray(end + 4, bodyEnd),
    closes: head.includes("\r\nconnection: close"),
  };
}
