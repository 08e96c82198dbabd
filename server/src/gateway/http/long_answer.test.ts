/** Long answers on a real server: they arrive whole, and clients that read slowly, never, or go away harm nobody. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { createHttp } from "./http.ts";
import { writeJson } from "./json_text.ts";
import type { Route } from "./route.ts";

const value = { users: Array.from({ length: 100_000 }, (_, i) => ({ userId: `${i}`, userName: `Zoë ${i} 😀` })) };
const expected = Buffer.from(JSON.stringify(value));
/** So many cannot be on their way in the system's own buffers. */
const unreadable = { text: "x".repeat(20_000_000) };

async function start(t: TestContext) {
  const answering = (path: string, answer: unknown): Route => ({
    method: "GET",
    path,
    limits: { bodyBytes: 0 },
    handle: async (_request, send) => send({ kind: "json", text: await writeJson(answer) }),
  });
  const routes = [answering("/long", value), answering("/short", { a: "é" }), answering("/unreadable", unreadable)];
  const metrics = { start: () => () => undefined, text: async () => "" };
  const faultLog = {
    internal: (_: string, error: unknown) => assert.fail(String(error)),
    outage: () => undefined,
  };
  const { app, heldBytes } = createHttp({ routes, metrics, faultLog });
  const address = await app.listen({ port: 0, host: "127.0.0.1" });
  const sockets: Socket[] = [];
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    app.server.closeAllConnections();
    await app.close();
  });
  function open(bytes: string) {
    const socket = connect({
      port: (app.server.address() as AddressInfo).port,
      host: "127.0.0.1",
      allowHalfOpen: true,
    });
    sockets.push(socket);
    socket.on("error", () => undefined);
    socket.write(bytes);
    return socket;
  }
  return { app, address, heldBytes, open };
}

const get = (path: string, more = "", method = "GET") => `${method} ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const last = (path: string, method = "GET") => get(path, "Connection: close\r\n", method);

async function hear(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function split(heard: Buffer): { head: string; body: Buffer } {
  const end = heard.indexOf("\r\n\r\n");
  return { head: heard.subarray(0, end).toString(), body: heard.subarray(end + 4) };
}

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};

test("a long answer arrives whole with its length, and nothing of it is left", async (t) => {
  const { address, heldBytes, app } = await start(t);
  const answers = await Promise.all(Array.from({ length: 4 }, () => fetch(`${address}/long`)));
  for (const answer of answers) {
    assert.equal(answer.headers.get("content-length"), String(expected.length));
    assert.equal(answer.headers.get("content-type"), "application/json");
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(expected));
  }
  await until(() => heldBytes().answers === 0);
  const { rawPayload } = await app.inject({ method: "GET", url: "/long" });
  assert.ok(rawPayload.equals(expected));
});

test("requests behind a long answer on its connection are answered after it, in order", async (t) => {
  const { open } = await start(t);
  const heard = await hear(open(get("/short") + get("/long") + last("/short")));
  const bodies = heard.toString("latin1").split(/HTTP\/1\.1 200 OK\r\n[\s\S]*?\r\n\r\n/);
  assert.deepEqual(
    bodies.map((body) => body.length),
    [0, 10, expected.length, 10],
  );
});

test("a client that has closed its own side still gets all of it, and HEAD gets the head alone", async (t) => {
  const { open } = await start(t);
  const halfClosed = open(get("/long"));
  halfClosed.end();
  assert.ok(split(await hear(halfClosed)).body.equals(expected));
  const { head, body } = split(await hear(open(last("/long", "HEAD"))));
  assert.match(head, new RegExp(`^HTTP/1.1 200 [\\s\\S]*content-length: ${expected.length}`));
  assert.equal(body.length, 0);
});

test("all that a client has not read of a long answer is counted, and others are answered meanwhile", async (t) => {
  const { address, heldBytes, open } = await start(t);
  const socket = open(last("/unreadable"));
  socket.pause();
  await until(() => heldBytes().answers > 1_000_000);
  assert.ok((await fetch(`${address}/short`)).ok);
  const before = heldBytes().answers;
  socket.resume();
  assert.equal(split(await hear(socket)).body.length, JSON.stringify(unreadable).length);
  await until(() => heldBytes().answers === 0);
  assert.ok(before < unreadable.text.length + 100);
});

test("of clients that do not read long answers, the one whose answer has waited longest is cut off", async (t) => {
  const { heldBytes, open } = await start(t);
  const sockets: Socket[] = [];
  let cut = 0;
  for (let i = 0; i < 6; i++) {
    const socket = open(get("/unreadable"));
    socket.pause();
    socket.on("end", () => (cut += 1)).on("error", () => (cut += 1));
    sockets.push(socket);
  }
  let most = 0;
  await until(() => {
    most = Math.max(most, heldBytes().answers);
    return most > 40_000_000;
  });
  for (let i = 0; i < 50; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    most = Math.max(most, heldBytes().answers);
  }
  assert.ok(most <= 64 * 1024 * 1024, `${most}`);
  sockets[0]?.resume();
  await until(() => cut > 0);
});

test("clients that go away in the middle leave nothing behind", async (t) => {
  const { address, heldBytes, open } = await start(t);
  for (const leave of ["destroy", "resetAndDestroy"] as const) {
    for (const after of [0, 1, 20, 200]) {
      const socket = open(get("/unreadable"));
      if (after > 0) await once(socket, "data");
      await new Promise((resolve) => setTimeout(resolve, after));
      socket[leave]();
    }
  }
  await until(() => heldBytes().answers === 0);
  assert.ok((await fetch(`${address}/short`)).ok);
});
