/** Bodies as senders of every kind send them. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import { type BodyLimits, createBodies } from "./bodies.ts";

/** A server that says what it has read, or why not; with `x-hold` only when told to, with `x-long` at great length. */
async function start(t: TestContext, limits: BodyLimits) {
  const bodies = createBodies(limits);
  const held: (() => void)[] = [];
  const server = createServer(async (request, response) => {
    let answer: string;
    try {
      const body = await bodies.read(request, response);
      answer = `read ${body.length} ${Buffer.from(body).toString("latin1").slice(0, 20)}`;
    } catch (error) {
      assert.ok(error instanceof Fault);
      answer = `${error.code}: ${error.message}`;
    }
    if (request.headers["x-let-go"] !== undefined) bodies.letGo(response);
    if (request.headers["x-long"] !== undefined) response.end(answer + " ".repeat(8_000_000));
    else if (request.headers["x-hold"] === undefined) response.end(answer);
    else held.push(() => response.end(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const accepted: Socket[] = [];
  server.on("connection", (socket) => accepted.push(socket));
  const opened: Socket[] = [];
  t.after(() => {
    for (const socket of opened) socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  /** What is said in the end to who sends these pieces. */
  function open(head: string, ...pieces: string[]) {
    const socket = connect(port, "127.0.0.1");
    opened.push(socket);
    let heard = "";
    socket.on("data", (chunk) => (heard += chunk));
    socket.on("error", () => undefined);
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${head}\r\n\r\n`);
    const sent = (async () => {
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    const said = once(socket, "close").then(() => /\r\n(?:[0-9a-f]+\r\n)?(read .*|[a-z_]+: .*)/.exec(heard)?.[1]);
    return { socket, said, sent };
  }
  /** Waits until the server has read all that this client has sent. */
  async function arrived({ socket, sent }: ReturnType<typeof open>): Promise<void> {
    await sent;
    const isRead = () =>
      accepted.some((one) => one.remotePort === socket.localPort && one.bytesRead === socket.bytesWritten);
    while (!isRead()) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return { open, held, arrived };
}

const length = (bytes: number) => `Content-Length: ${bytes}`;
const chunked = "Transfer-Encoding: chunked";
const small: BodyLimits = { bytes: 100_000, together: 1_000_000 };

test("a body is read whole, however it is cut", async (t) => {
  const { open } = await start(t, small);
  assert.equal(await open(length(0)).said, "read 0 ");
  assert.equal(await open(length(5), "hello").said, "read 5 hello");
  assert.equal(await open(length(5), "h", "el", "lo").said, "read 5 hello");
  assert.equal(await open(chunked, "1\r\nh\r\n4\r\nello\r\n0\r\n\r\n").said, "read 5 hello");
  const long = "x".repeat(100_000);
  assert.equal(await open(length(100_000), long).said, `read 100000 ${"x".repeat(20)}`);
  assert.equal(await open(chunked, `186a0\r\n${long}\r\n`, "0\r\n\r\n").said, `read 100000 ${"x".repeat(20)}`);
});

test("too long a body is refused: when it is announced, or as soon as it is too long", async (t) => {
  const { open } = await start(t, small);
  const refusal = "invalid_argument: bad request body: larger than 100000 bytes";
  assert.equal(await open(length(100_001)).said, refusal);
  assert.equal(await open(chunked, `186a1\r\n${"x".repeat(100_001)}`).said, refusal);
});

test("a body in far too many pieces is refused, and one in many honest ones is not", async (t) => {
  const { open } = await start(t, small);
  const refusal = "invalid_argument: bad request body: too many small chunks; send larger ones";
  assert.equal(await open(chunked, "1\r\nx\r\n".repeat(50_000)).said, refusal);
  const honest = `${`40\r\n${"x".repeat(64)}\r\n`.repeat(1_000)}0\r\n\r\n`;
  assert.equal(await open(chunked, honest).said, `read 64000 ${"x".repeat(20)}`);
  assert.equal(await open(chunked, `${"1\r\nx\r\n".repeat(200)}0\r\n\r\n`).said, `read 200 ${"x".repeat(20)}`);
});

test("a body that is cut off is nobody's mistake", async (t) => {
  const { open } = await start(t, small);
  const { socket, sent } = open(length(5), "hel");
  await sent;
  socket.destroy();
  assert.equal(await open(length(5), "hello").said, "read 5 hello");
});

test("large bodies that would be too much together are refused, unless one of them has stopped arriving", async (t) => {
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  const { open, held, arrived } = await start(t, { bytes: 100_000, together: 250_000 });
  const refusal = "resource_exhausted: too many large requests at once; try again";
  const whole = "x".repeat(100_000);
  // Two are worked on: they are held until they are answered, and cannot make room.
  const working = [open(`${length(100_000)}\r\nX-Hold: 1`, whole), open(`${length(100_000)}\r\nX-Hold: 1`, whole)];
  while (held.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(await open(length(100_000), whole).said, refusal);
  // Small ones are not even counted.
  assert.equal(await open(length(16_000), "y".repeat(16_000)).said, `read 16000 ${"y".repeat(20)}`);
  for (const answer of held.splice(0)) answer();
  for (const { said } of working) assert.match((await said) ?? "", /^read 100000 /);

  // Two that stop just before their end make room for one that does not, the older one first.
  const older = open(length(100_000), whole.slice(1));
  await arrived(older);
  const newer = open(length(100_000), whole.slice(1));
  await arrived(newer);
  assert.equal(await open(length(100_000), whole).said, refusal, "at first they might still be arriving");
  nowMs += 1_001;
  assert.match((await open(length(100_000), whole).said) ?? "", /^read 100000 /);
  assert.equal(await older.said, refusal);
  newer.socket.write("x");
  assert.match((await newer.said) ?? "", /^read 100000 /);
});

test("a large body is held until its answer is written, not until that is read", async (t) => {
  const { open } = await start(t, { bytes: 100_000, together: 100_000 });
  const whole = "x".repeat(100_000);
  const deaf = open(`${length(100_000)}\r\nX-Long: 1`, whole);
  deaf.socket.pause();
  await deaf.sent;
  // Its body is still on its way at first.
  let said = await open(length(100_000), whole).said;
  while (said?.startsWith("resource_exhausted")) said = await open(length(100_000), whole).said;
  assert.equal(said, `read 100000 ${"x".repeat(20)}`);
});

test("a body that nobody has any more makes room, though its answer is still to come", async (t) => {
  const { open, held, arrived } = await start(t, { bytes: 100_000, together: 100_000 });
  const whole = "x".repeat(100_000);
  const waits = open(`${length(100_000)}\r\nX-Hold: 1\r\nX-Let-Go: 1`, whole);
  await arrived(waits);
  assert.equal(await open(length(100_000), whole).said, `read 100000 ${"x".repeat(20)}`);
  held[0]?.();
  assert.match((await waits.said) ?? "", /^read 100000 /);
});
