/** Connections on a real server, with clients that take liberties. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { type ConnectionLimits, type Connections, createConnections, leaveUnread } from "./connections.ts";

type Handler = (request: IncomingMessage, response: ServerResponse, connections: Connections) => void;

const generous: ConnectionLimits = {
  connections: 100,
  bodyBytes: 1000,
  waiting: 4,
  doubtful: 2,
  largeBytes: 1000,
  stillMs: 60_000,
};

async function start(t: TestContext, handler: Handler, limits: Partial<ConnectionLimits> = {}) {
  const connections = createConnections({ ...generous, ...limits });
  const server = connections.createServer({}, (request, response) => handler(request, response, connections));
  server.on("clientError", connections.refuse);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const opened: Socket[] = [];
  t.after(() => {
    for (const socket of opened) socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  /** A connection that has sent this, and everything it hears until it ends. */
  function open(bytes: string) {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    opened.push(socket);
    let heard = "";
    socket.on("data", (chunk) => (heard += chunk));
    socket.on("error", () => undefined);
    const ended = new Promise<string>((resolve) => {
      socket.on("end", () => resolve(heard));
      socket.on("close", () => resolve(heard));
    });
    socket.write(bytes);
    return { socket, ended, heard: () => heard };
  }
  return { server, open };
}

const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const last = (path: string) => get(path, "Connection: close\r\n");
const statuses = (heard: string) => [...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};

test("requests that arrive together are answered one after the other, in order", async (t) => {
  let atOnce = 0;
  const seen: string[] = [];
  const { open } = await start(t, (request, response) => {
    assert.equal(++atOnce, 1);
    seen.push(request.url ?? "");
    setTimeout(() => {
      atOnce--;
      response.end(request.url);
    }, 5);
  });
  const heard = await open(get("/a") + get("/b") + get("/c") + last("/d")).ended;
  assert.deepEqual(seen, ["/a", "/b", "/c", "/d"]);
  assert.deepEqual([...heard.matchAll(/^\/[a-d]/gm)].map(String), seen);
});

test("of too many at once those that have not begun are not done at all, and the connection says so", async (t) => {
  const seen: string[] = [];
  const { open } = await start(t, (request, response) => {
    seen.push(request.url ?? "");
    setTimeout(() => response.end("{}"), 20);
  });
  const heard = await open(get("/1") + get("/2") + get("/3") + get("/4") + get("/5") + get("/6")).ended;
  assert.deepEqual(seen, ["/1"]);
  assert.deepEqual(statuses(heard), [200, 429]);
  assert.match(heard, /"code":8,"message":"too many requests at once on a connection"/);
});

test("what is not HTTP is refused after the answers to what was asked before it", async (t) => {
  const { open } = await start(t, (request, response) => {
    request.resume();
    setTimeout(() => response.end("{}"), 20);
  });
  const post = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
  const cases: [sent: string, expected: number[]][] = [
    ["rubbish\r\n\r\n", [400]],
    [`${get("/")}rubbish\r\n\r\n`, [200, 400]],
    [get("/") + get("/") + post, [200, 200, 400]],
    [post, [400]],
    [`${last("/")}rubbish`, [200]],
    [get("/", `X: ${"x".repeat(20_000)}\r\n`), [431]],
  ];
  for (const [sent, expected] of cases) {
    const one = open(sent);
    assert.deepEqual(statuses(await one.ended), expected, sent);
    const other = open(sent);
    other.socket.end();
    assert.deepEqual(statuses(await other.ended), expected, `${sent} with its side closed`);
  }
});

test("whoever closes its own side is still answered, also when the request is not whole", async (t) => {
  const { open } = await start(t, (request, response) => {
    request.resume();
    setTimeout(() => response.end("{}"), 20);
  });
  for (const [sent, expected] of [
    [get("/"), 200],
    [get("/").slice(0, 12), 400],
    ["POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc", 400],
  ] as const) {
    const { socket, ended } = open(sent);
    socket.end();
    assert.deepEqual(statuses(await ended), [expected], sent);
  }
});

test("whoever does not read is cut off", async (t) => {
  const block = Buffer.alloc(8_000_000);
  const { server, open } = await start(t, (_, response) => void response.end(block), { stillMs: 200 });
  const { socket } = open(get("/"));
  socket.pause();
  const connections = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  while ((await connections()) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  while ((await connections()) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
});

test("when there are too many connections, the one that has been idle longest makes room", async (t) => {
  const { open } = await start(t, (request, response) => void (request.url === "/" && response.end("{}")), {
    connections: 3,
  });
  const answered = async (bytes: string) => {
    const one = open(bytes);
    await until(() => one.heard() !== "");
    return one;
  };
  const first = await answered(get("/"));
  const second = await answered(get("/"));
  // It is being worked on, however long that takes.
  const busy = open(get("/never"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  first.socket.write(get("/"));
  await until(() => statuses(first.heard()).length === 2);
  const newcomer = await answered(get("/"));
  await second.ended;
  for (const { socket } of [first, busy, newcomer]) assert.equal(socket.readableEnded, false);
  // In the middle of a request counts as idle when nobody else is.
  const others = [open("GET"), open("GET"), open("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")];
  await Promise.all([first.ended, newcomer.ended]);
  assert.equal(busy.socket.readableEnded, false);
  assert.equal((await answered(get("/"))).heard().startsWith("HTTP/1.1 200"), true);
  assert.equal(others.length, 3);
});

test("connections whose last stamp was refused share a few places, and nobody else waits for them", async (t) => {
  let going = 0;
  let most = 0;
  const held: (() => void)[] = [];
  const { open } = await start(t, async (request, response, connections) => {
    const turn = connections.turn(request.socket, 0);
    if (turn !== undefined) await turn;
    const isBad = request.url === "/bad";
    response.statusCode = isBad ? 401 : 200;
    if (request.headers["x-hold"] === undefined) return response.end("{}");
    most = Math.max(most, ++going);
    held.push(() => {
      going--;
      response.end("{}");
    });
  });
  const bad = Array.from({ length: 5 }, () => open(get("/bad")));
  await until(() => bad.every(({ heard }) => heard() !== ""));
  for (const { socket } of bad) socket.write(get("/bad", "X-Hold: 1\r\n"));
  await until(() => held.length === 2);
  // A newcomer, and one that was refused before but gone meanwhile, take nobody's place.
  const good = open(last("/good"));
  assert.deepEqual(statuses(await good.ended), [200]);
  bad[4]?.socket.destroy();
  while (bad.slice(0, 4).some(({ heard }) => statuses(heard()).length < 2)) {
    held.shift()?.();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.equal(most, 2);
});

test("large requests are worked on one at a time, and small ones in between", async (t) => {
  let going = 0;
  const { open } = await start(t, async (request, response, connections) => {
    const isLarge = request.url === "/large";
    const turn = connections.turn(request.socket, isLarge ? 1000 : 999);
    if (turn !== undefined) await turn;
    if (isLarge) assert.equal(++going, 1);
    setTimeout(() => {
      if (isLarge) going--;
      response.end("{}");
    }, 20);
  });
  const large = Array.from({ length: 5 }, () => open(last("/large")));
  large[2]?.socket.destroy();
  const small = open(last("/small"));
  assert.deepEqual(statuses(await small.ended), [200]);
  for (const index of [0, 1, 3, 4]) assert.deepEqual(statuses((await large[index]?.ended) ?? ""), [200]);
});

test("CONNECT and strange expectations are refused in JSON, and too long a body is not sent for", async (t) => {
  const { open } = await start(t, (request, response) => {
    leaveUnread(request, response);
    response.statusCode = 413;
    response.end("{}");
  });
  const tunnel = await open("CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n").ended;
  assert.match(tunnel, /^HTTP\/1\.1 405 Method Not Allowed\r\ncontent-type: application\/json\r\n/);
  const strange = await open(get("/", "Expect: miracles\r\n")).ended;
  assert.match(strange, /^HTTP\/1\.1 417 .*\r\ncontent-type: application\/json\r\n/);
  const head = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ";
  assert.deepEqual(statuses(await open(`${head}1001\r\n\r\n`).ended), [413]);
  assert.deepEqual(statuses(await open(`${head}1000\r\n\r\n`).ended), [100, 413]);
});

test("whoever is refused in the middle of sending hears why", async (t) => {
  const { open } = await start(t, (request, response) => {
    leaveUnread(request, response);
    response.statusCode = 413;
    response.end("{}");
  });
  const block = "x".repeat(1_000_000);
  for (const framing of ["Content-Length: 100000000", "Transfer-Encoding: chunked"]) {
    const { socket, heard, ended } = open(`POST / HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n`);
    const chunk = framing.startsWith("T") ? `f4240\r\n${block}\r\n` : block;
    const pour = () => {
      while (socket.writable && socket.write(chunk));
    };
    socket.on("drain", pour);
    pour();
    await until(() => heard() !== "");
    assert.deepEqual(statuses(await ended), [413]);
  }
});
