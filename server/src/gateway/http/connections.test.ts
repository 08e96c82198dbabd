/** Connections on a real server, with clients that take liberties. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import { patienceMs } from "../../../../core/test/patience.ts";
import { type ConnectionLimits, type Connections, createConnections } from "./connections.ts";
import { leaveUnread } from "./end_connection.ts";

type Handler = (request: IncomingMessage, response: ServerResponse, connections: Connections) => void;

const generous: ConnectionLimits = {
  connections: 100,
  bodyBytes: 1000,
  waiting: 4,
  waitingBytes: 100_000,
  allWaitingBytes: 1_000_000,
  largeBytes: 1000,
  lanes: {
    inFlight: 1,
    cost: Number.POSITIVE_INFINITY,
    allInFlight: 10,
    allCost: Number.POSITIVE_INFINITY,
    allBytes: 1_000_000,
    allReplies: Number.POSITIVE_INFINITY,
    waiting: 4,
    waitingBytes: 1_000_000,
    waitMs: patienceMs,
  },
  stillMs: patienceMs,
  bodiesBytes: 64 * 1024 * 1024,
  answersBytes: 64 * 1024 * 1024,
};

async function start(t: TestContext, handler: Handler, limits: Partial<ConnectionLimits> = {}) {
  const connections = createConnections({ ...generous, ...limits });
  const server = connections.createServer({}, (request, response) => handler(request, response, connections));
  server.on("clientError", connections.refuse);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  const accepted = new Map<number | undefined, Socket>();
  server.on("connection", (socket) => accepted.set(socket.remotePort, socket));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  /** A connection that has sent this, and everything it hears until it ends. */
  function open(bytes: string) {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    sockets.push(socket);
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
  /** Once the server has read what it sent, so that the order of several is known. */
  async function opened<T extends { socket: Socket }>(one: T): Promise<T> {
    if (one.socket.connecting) await once(one.socket, "connect");
    const { localPort, bytesWritten } = one.socket;
    await until(() => {
      const own = accepted.get(localPort);
      return own !== undefined && (own.bytesRead === bytesWritten || own.destroyed);
    });
    return one;
  }
  return { server, open, opened };
}

const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
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
  const broken = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
  const cases: [sent: string, expected: number[]][] = [
    ["rubbish\r\n\r\n", [400]],
    [`${get("/")}rubbish\r\n\r\n`, [200, 400]],
    [get("/") + get("/") + broken, [200, 200, 400]],
    [broken, [400]],
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

test("of answers that nobody reads only so much is kept: the client that has not read for longest is cut off", async (t) => {
  const block = Buffer.alloc(8_000_000);
  let held = 0;
  const { open } = await start(
    t,
    (_, response, connections) => {
      response.on("prefinish", () => setImmediate(() => (held = Math.max(held, connections.heldBytes().answers))));
      response.end(block);
    },
    { answersBytes: 12_000_000 },
  );
  const [first, second] = [open(get("/")), open(get("/"))];
  for (const { socket } of [first, second]) socket.pause();
  while (held === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const third = open(last("/"));
  assert.match(await third.ended, /^HTTP\/1\.1 200/);
  assert.ok(held <= 12_000_000, `${held}`);
  first.socket.resume();
  assert.ok((await first.ended).length < block.length, "it was cut off");
});

test("bodies of requests that are worked on are bounded together, and free again once they are answered", async (t) => {
  const waiting: ServerResponse[] = [];
  const handler: Handler = (request, response, connections) => {
    request.resume().on("end", () => {
      try {
        connections.beginWork(request.socket, 500);
        waiting.push(response);
      } catch (fault) {
        response.writeHead(fault instanceof Fault && fault.code === "resource_exhausted" ? 429 : 500).end();
      }
    });
  };
  const { open } = await start(t, handler, { bodiesBytes: 1_200 });
  const [one, two] = [open(post("/", "a")), open(post("/", "b"))];
  while (waiting.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  const three = open(post("/", "c"));
  while (statuses(three.heard()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(statuses(three.heard()), [429]);
  for (const response of waiting.splice(0)) response.end();
  while (statuses(one.heard()).length + statuses(two.heard()).length < 2) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const four = open(post("/", "d"));
  while (waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  waiting[0]?.end();
  while (statuses(four.heard()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(statuses(four.heard()), [200]);
});

test("of requests that wait, only so many bytes are kept, whether of headers or of bodies", async (t) => {
  const seen: string[] = [];
  const handler: Handler = (request, response) => {
    seen.push(request.url ?? "");
    setTimeout(() => response.end("{}"), 20);
  };
  const { open } = await start(t, handler, { waitingBytes: 5_000 });
  const fat = (path: string) => get(path, `X: ${"x".repeat(2_000)}\r\n`);
  const long = (path: string) => post(path, "x".repeat(3_000));
  const chunked = "POST /chunked HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const many of [
    get("/1") + fat("/2") + fat("/3") + fat("/4"),
    get("/1") + long("/2").repeat(2),
    get("/1") + chunked,
  ]) {
    assert.deepEqual(statuses(await open(many).ended), [200, 429], many.slice(0, 100));
  }
  assert.deepEqual(seen, ["/1", "/1", "/1"]);
  // What has had its turn no longer counts.
  const one = open(fat("/a") + fat("/b") + fat("/c"));
  await until(() => statuses(one.heard()).length === 3);
  one.socket.write(last("/d"));
  assert.deepEqual(statuses(await one.ended), [200, 200, 200, 200]);
});

test("on all connections together only so much waits: who asks one at a time goes on, and what had its turn no longer counts", async (t) => {
  const held: ServerResponse[] = [];
  const handler: Handler = ({ url }, response) => void (url === "/held" ? held.push(response) : response.end("{}"));
  const { open, opened } = await start(t, handler, { allWaitingBytes: 3 * 4_500 });
  const full = await opened(open(get("/held") + get("/1") + get("/2") + get("/3")));
  await until(() => held.length === 1);
  const second = open(get("/held") + get("/4"));
  await until(() => held.length === 2);
  held[1]?.end("{}");
  assert.deepEqual(statuses(await second.ended), [200, 429]);
  assert.match(second.heard(), /too many requests at once on connections with several/);
  assert.deepEqual(statuses(await open(last("/5")).ended), [200]);
  held[0]?.end("{}");
  await until(() => statuses(full.heard()).length === 4);
  full.socket.destroy();
  // Gone before their turn, they do not count either.
  const gone = await opened(open(get("/held") + get("/1") + get("/2") + get("/3")));
  await until(() => held.length === 3);
  // Who merely says no more is still answered.
  gone.socket.resetAndDestroy();
  await until(() => held[2]?.closed === true);
  const after = await opened(open(get("/6") + get("/7") + get("/8") + last("/9")));
  assert.deepEqual(statuses(await after.ended), [200, 200, 200, 200]);
});

test("when there are too many connections, the client that has been waited for longest makes room", async (t) => {
  const block = Buffer.alloc(8_000_000);
  const handler: Handler = (request, response, connections) => {
    request.resume().on("end", () => {
      connections.beginWork(request.socket, 0);
      if (request.url !== "/never") response.end(request.url === "/block" ? block : "{}");
    });
  };
  const { open, opened } = await start(t, handler, { connections: 6 });
  const isGone = ({ socket }: ReturnType<typeof open>) => socket.readableEnded || socket.destroyed;
  const answered = async (bytes: string) => {
    const one = open(bytes);
    await until(() => one.heard() !== "");
    return one;
  };
  // They are being worked on, however long that takes.
  const busy = [await opened(open(get("/never"))), await opened(open(post("/never", "abc")))];
  // Waited for, one after the other: to end its request, to read its answer, to ask again, to ask at all.
  const half = await opened(open(post("/", "abc").slice(0, -1)));
  const deaf = open(get("/block"));
  deaf.socket.pause();
  await opened(deaf);
  const idle = await answered(get("/"));
  const silent = await opened(open("GET"));
  const newcomers: ReturnType<typeof open>[] = [];
  for (const next of [half, deaf, idle, silent]) {
    assert.equal(isGone(next), false);
    newcomers.push(await answered(get("/")));
    next.socket.resume();
    await next.ended;
  }
  assert.ok(deaf.heard().length < block.length);
  for (const one of [...busy, ...newcomers]) assert.equal(isGone(one), false);
});

test("who has just come is not sent away for who sends slowly", async (t) => {
  const { open, opened } = await start(
    t,
    (request, response) => void request.resume().on("end", () => response.end("{}")),
    {
      connections: 10,
    },
  );
  const slow = () => opened(open(post("/", "abc").slice(0, -1)));
  for (let i = 0; i < 10; i++) await slow();
  const honest = await opened(open(""));
  for (let i = 0; i < 9; i++) await slow();
  honest.socket.write(last("/"));
  assert.deepEqual(statuses(await honest.ended), [200]);
});

test("a large request that is answered is over, whether or not the answer is read", async (t) => {
  const block = Buffer.alloc(8_000_000);
  const { open } = await start(t, async (request, response, connections) => {
    const turn = connections.beginWork(request.socket, 1000);
    if (turn !== undefined) await turn;
    response.end(request.url === "/block" ? block : "{}");
  });
  const deaf = open(get("/block"));
  deaf.socket.pause();
  assert.deepEqual(statuses(await open(last("/")).ended), [200]);
  assert.deepEqual(statuses(await open(last("/")).ended), [200]);
});

test("of large requests only so many wait, and who is gone does not", async (t) => {
  const held: (() => void)[] = [];
  let told = 0;
  const { open } = await start(t, async (request, response, connections) => {
    try {
      // Whoever is refused at once is told before this.
      const counting = setImmediate(() => (told += 1));
      const turn = connections.beginWork(request.socket, 1000);
      await turn?.catch((error) => {
        clearImmediate(counting);
        throw error;
      });
      held.push(() => response.end("{}"));
    } catch (error) {
      assert.ok(error instanceof Fault);
      response.statusCode = 429;
      response.end(error.message);
    }
  });
  const first = open(last("/"));
  await until(() => held.length === 1 && told === 1);
  /** One more, which waits or is refused by now. */
  const come = async () => {
    const before = told;
    const one = open(last("/"));
    await until(() => told > before || statuses(one.heard()).length > 0);
    return { ...one, isRefused: told === before };
  };
  const waiting = [await come()];
  while (waiting.at(-1)?.isRefused === false) waiting.push(await come());
  const refused = await waiting.at(-1)?.ended;
  assert.deepEqual(statuses(refused ?? ""), [429]);
  assert.match(refused ?? "", /too many large requests at once; try again$/);
  assert.equal(waiting.length, generous.lanes.waiting + 1);
  for (const { socket } of waiting) socket.resetAndDestroy();
  // It may take the server a while to notice; the first is not answered before that.
  let patient = await come();
  while (patient.isRefused) patient = await come();
  for (const one of [first, patient]) {
    await until(() => held.length > 0);
    held.shift()?.();
    assert.deepEqual(statuses(await one.ended), [200]);
  }
});

test("large requests are worked on one at a time, and small ones in between", async (t) => {
  let going = 0;
  const { open } = await start(t, async (request, response, connections) => {
    const isLarge = request.url === "/large";
    const turn = connections.beginWork(request.socket, isLarge ? 1000 : 999);
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

test("refusals of stamps leave one by one, nobody else waits for them, and who waits makes room", async (t) => {
  let refusing = 0;
  const handler: Handler = async (request, response, connections) => {
    connections.beginWork(request.socket, 0);
    if (request.url === "/stranger") {
      refusing++;
      await connections.paceRefusal(request.socket, 0);
      refusing--;
      response.statusCode = 401;
    }
    response.end("{}");
  };
  const { open } = await start(t, handler, { connections: 60 });
  const strangers = Array.from({ length: 50 }, () => open(get("/stranger")));
  await until(() => strangers.some(({ heard }) => heard() !== ""));
  // One of them has gone, and is not waited for.
  strangers[49]?.socket.resetAndDestroy();
  await until(() => strangers.slice(0, 49).every(({ heard }) => heard().startsWith("HTTP/1.1 401")));
  for (const { socket } of strangers) socket.write(get("/stranger"));
  await until(() => refusing > 1);
  const others = Array.from({ length: 60 }, () => open(last("/")));
  for (const { ended } of others) assert.deepEqual(statuses(await ended), [200]);
});

test("refusals of long bodies leave more slowly, and those of short ones do not wait for them", async (t) => {
  const answered: string[] = [];
  const handler: Handler = async (request, response, connections) => {
    const kind = request.url === "/long" ? "long" : "short";
    await connections.paceRefusal(request.socket, kind === "long" ? 64 * 1024 : 8 * 1024);
    answered.push(kind);
    response.end("{}");
  };
  const { open } = await start(t, handler);
  const begunAt = performance.now();
  const long = Array.from({ length: 10 }, () => open(last("/long")));
  await until(() => answered.length > 0);
  const short = Array.from({ length: 10 }, () => open(last("/short")));
  for (const { ended } of [...long, ...short]) assert.deepEqual(statuses(await ended), [200]);
  assert.equal(answered.at(-1), "long");
  // A timer may be a millisecond early.
  const pauses = answered.filter((kind) => kind === "long").length - 1;
  assert.ok(performance.now() - begunAt >= pauses * 7);
});

test("who asks for a tunnel is refused after the answers to what it asked before, and may break off at any moment", async (t) => {
  const { open, opened } = await start(t, (_, response) => void setTimeout(() => response.end("{}"), 20));
  const tunnel = "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n";
  const upgrade = get("/", "Connection: Upgrade\r\nUpgrade: websocket\r\n");
  assert.deepEqual(statuses(await open(get("/") + get("/") + tunnel).ended), [200, 200, 405]);
  assert.deepEqual(statuses(await open(tunnel + get("/")).ended), [405]);
  for (const bytes of [tunnel, upgrade, get("/") + tunnel, get("/").slice(0, 12)]) {
    for (const afterMs of [0, 10, 40]) {
      const { socket } = await opened(open(bytes));
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      socket.resetAndDestroy();
    }
  }
  assert.deepEqual(statuses(await open(last("/")).ended), [200]);
});

test("CONNECT and strange expectations are refused in JSON, and too long a body is not sent for", async (t) => {
  const { open } = await start(t, (request, response) => {
    leaveUnread(request, response);
    response.statusCode = 413;
    response.end("{}");
  });
  const tunnel = await open("CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n").ended;
  assert.match(tunnel, /^HTTP\/1\.1 405 Method Not Allowed\r\ncontent-type: application\/json\r\n/);
  for (const expected of ["miracles", "100-continue, miracles", "miracles\r\nExpect: 100-continue"]) {
    const strange = await open(get("/", `Expect: ${expected}\r\n`)).ended;
    assert.match(strange, /^HTTP\/1\.1 417 .*\r\ncontent-type: application\/json\r\n/, expected);
  }
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
