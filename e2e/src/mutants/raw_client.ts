/** Connections that send bytes as they are told to, and read answers with no help from Node's HTTP client. */
import { connect, type Socket } from "node:net";
import { patienceMs } from "../../../core/test/patience.ts";

export type RawAnswer = { status: number; headers: ReadonlyMap<string, string>; body: string };

/** How bytes are handed over. */
export type Delivery = {
  /** In these pieces, one after the other, with a breath between them. */
  pieces: readonly Buffer[];
  /** What the client does when it has sent them: stay, close its side, or go away without listening. */
  ending: "stay" | "half-close" | "leave";
};

export type Exchange = {
  answers: RawAnswer[];
  /** How it ended: with as many answers as were wanted, by the server, or by nobody within the time. */
  ended: "answered" | "closed" | "left" | "silent";
  /** What was sent on the same connection just before. */
  before?: string;
};

/** Whether the request of that number asks for a head, whose answer has a length and no body. */
export type IsHead = (index: number) => boolean;

export type RawClient = {
  /** Sends and waits for so many answers; fewer come only when the connection ends. */
  exchange(delivery: Delivery, wanted: number, isHead: IsHead): Promise<Exchange>;
  /** What happened on connections that nobody used at the time: answers that nobody asked for, ends that nobody announced. */
  surprises(): readonly string[];
  close(): void;
};

/** Less than the server keeps an idle connection, so that none is closed in the moment it is used again. */
const restMs = 5_000;

export function createRawClient(url: string): RawClient {
  const { hostname, port } = new URL(url);
  /** Connections whose last exchange was in order, and when that was. */
  const idle: { socket: Socket; since: number }[] = [];
  const surprises: string[] = [];
  const lastOn = new WeakMap<Socket, string>();

  function open(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true, allowHalfOpen: true });
      socket.once("connect", () => resolve(socket));
      socket.once("error", reject);
    });
  }

  function findIdle(): Socket | undefined {
    for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
      last.socket.removeAllListeners();
      last.socket.on("error", () => undefined);
      if (!last.socket.destroyed && performance.now() - last.since < restMs) return last.socket;
      last.socket.destroy();
    }
    return undefined;
  }

  function rest(socket: Socket): void {
    const since = performance.now();
    const after = `after ${JSON.stringify(lastOn.get(socket))}`;
    socket.on("data", (chunk) => surprises.push(`${chunk} ${after}`));
    socket.on("end", () => {
      if (performance.now() - since < restMs) surprises.push(`the end ${after}`);
      socket.destroy();
    });
    idle.push({ socket, since });
  }

  return {
    async exchange(delivery, wanted, isHead) {
      const socket = findIdle() ?? (await open());
      const before = lastOn.get(socket);
      lastOn.set(socket, Buffer.concat(delivery.pieces).toString("latin1").slice(0, 2_000));
      const outcome = await talk(socket, delivery, wanted, isHead);
      if (before !== undefined) outcome.before = before;
      const goesOn = outcome.answers.at(-1)?.headers.get("connection") !== "close";
      if (goesOn && outcome.ended === "answered" && delivery.ending === "stay") rest(socket);
      else socket.destroy();
      return outcome;
    },
    surprises: () => surprises,
    close() {
      for (const { socket } of idle) socket.destroy();
    },
  };
}

function talk(socket: Socket, { pieces, ending }: Delivery, wanted: number, isHead: IsHead): Promise<Exchange> {
  return new Promise((resolve) => {
    const answers: RawAnswer[] = [];
    let received = Buffer.alloc(0);
    const timer = setTimeout(() => finish("silent"), patienceMs);

    function finish(ended: Exchange["ended"]): void {
      clearTimeout(timer);
      socket.removeAllListeners();
      // What happens to it afterwards is nobody's business.
      socket.on("error", () => undefined);
      if (ended !== "answered") socket.destroy();
      resolve({ answers, ended });
    }
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const next = () => readAnswer(received, isHead(answers.length));
      for (let read = next(); read !== undefined; read = next()) {
        received = received.subarray(read.length);
        if (read.answer.status >= 200) answers.push(read.answer);
      }
      if (answers.length >= wanted && received.length === 0) finish("answered");
    });
    socket.on("end", () => finish("closed"));
    socket.on("close", () => finish("closed"));
    // Whoever still sends may be cut off; what was said before counts.
    socket.on("error", () => undefined);
    void hand(socket, pieces).then(() => {
      if (ending === "leave") finish("left");
      else if (ending === "half-close") socket.end();
    });
  });
}

async function hand(socket: Socket, pieces: readonly Buffer[]): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, 2));
    if (!socket.writable) return;
    await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
  }
}

/** The first answer in these bytes and how many it takes, once it is whole. */
function readAnswer(bytes: Buffer, isHead: boolean): { answer: RawAnswer; length: number } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const [line = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(`${line} `)?.[1]);
  if (Number.isNaN(status)) throw new Error(`not an answer: ${line}`);
  const headers = new Map<string, string>();
  for (const header of lines) {
    const colon = header.indexOf(":");
    headers.set(header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim());
  }
  const bodyAt = headEnd + 4;
  if (isHead || status < 200 || status === 204) return { answer: { status, headers, body: "" }, length: bodyAt };
  const length = headers.get("content-length");
  if (length === undefined) throw new Error(`an answer without a length: ${line}`);
  const end = bodyAt + Number(length);
  if (bytes.length < end) return undefined;
  return { answer: { status, headers, body: bytes.toString("utf8", bodyAt, end) }, length: end };
}
