/** The HTTP server with nothing behind it: what it answers by itself. */
import assert from "node:assert/strict";
import { type AddressInfo, connect } from "node:net";
import { type TestContext, test } from "node:test";
import { apiRoutes } from "../routes/api.ts";
import type { ApiDependencies } from "../routes/api_dependencies.ts";
import { type OperatorDependencies, operatorRoutes } from "../routes/operator.ts";
import { createHttp } from "./http.ts";
import type { Route } from "./route.ts";

const metrics = { start: () => () => undefined, text: async () => "" };

function createApp(t: TestContext, routes: readonly Route[]) {
  const logged: string[] = [];
  const faultLog = {
    internal: (_: string, error: unknown) => void logged.push(String(error)),
    outage: () => undefined,
  };
  const { app } = createHttp({ routes, metrics, faultLog });
  t.after(() => app.close());
  return { app, logged };
}

function createApi(t: TestContext) {
  return createApp(t, apiRoutes({} as ApiDependencies)).app;
}

const url = "/public/v1/query/whoami";
const long = '"'.repeat(10_000);
const part = '"'.repeat(100);

test("what a header said is repeated in part only, however long it was", async (t) => {
  const app = createApi(t);
  const { body } = await app.inject({ method: "POST", url, headers: { "content-encoding": long }, payload: "{}" });
  assert.equal(JSON.parse(body).message, `bad request body: content encoding \`${part}\` is not accepted`);
});

test("a transfer encoding that nobody undoes is refused, and repeated in part only", async (t) => {
  const app = createApi(t);
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  // Node's client would not send it, and Node's server reads it: the last coding is one it knows.
  socket.end(`POST ${url} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ${long}, chunked\r\n\r\n0\r\n\r\n`);
  let answer = "";
  for await (const piece of socket) answer += piece;
  assert.match(answer, /^HTTP\/1.1 400 /);
  const { message } = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")));
  assert.equal(message, `bad request body: transfer encoding \`${part}\` is not accepted`);
});

test("readyz says why not, in the words of whoever knows", async (t) => {
  let why: string | undefined = "the signer has not joined yet";
  const { app } = createApp(t, operatorRoutes({ unready: async () => why } as unknown as OperatorDependencies));
  const ask = async () => {
    const { statusCode, body } = await app.inject({ method: "GET", url: "/readyz" });
    return [statusCode, JSON.parse(body)];
  };
  assert.deepEqual(await ask(), [503, { status: "not ready", why }]);
  why = undefined;
  assert.deepEqual(await ask(), [200, { status: "ready" }]);
});

/** A route as a module to come would give it. */
const route = (given: Partial<Route>): Route => ({
  method: "POST",
  path: "/route",
  limits: { bodyBytes: 10 },
  handle: ({ body }, send) =>
    send({ kind: "content", status: 200, contentType: "text/plain", content: Buffer.from(body) }),
  ...given,
});

test("a route gets a body within its own limit, and nothing longer, empty or encoded", async (t) => {
  const { app } = createApp(t, [route({})]);
  const address = await app.listen({ port: 0, host: "127.0.0.1" });
  const ask = async (body: string, headers = {}) => {
    const answer = await fetch(`${address}/route`, { method: "POST", body, headers });
    return answer.ok ? answer.text() : [answer.status, JSON.parse(await answer.text()).message];
  };
  assert.equal(await ask("0123456789"), "0123456789");
  assert.deepEqual(await ask("0123456789a"), [413, "bad request body: larger than 10 bytes"]);
  assert.deepEqual(await ask(""), [400, "bad request body: empty"]);
  const gzip = { "content-encoding": "gzip" };
  assert.deepEqual(await ask("x", gzip), [400, "bad request body: content encoding `gzip` is not accepted"]);
});

test("a route's answer has its own headers besides those of every answer", async (t) => {
  const answer = { status: 202, contentType: "text/html", content: "<p>", headers: { "cache-control": "no-store" } };
  const handle: Route["handle"] = (_request, send) => send({ kind: "content", ...answer });
  const { app } = createApp(t, [route({ method: "GET", limits: { bodyBytes: 0 }, handle })]);
  const { statusCode, headers, body } = await app.inject({ method: "GET", url: "/route" });
  assert.deepEqual([statusCode, headers["cache-control"], body], [202, "no-store", "<p>"]);
  assert.equal(headers["access-control-allow-origin"], "*");
});

test("a route that throws, or sends nothing, is an internal error under a reference, and the log has the rest", async (t) => {
  const broken: Route["handle"][] = [
    () => {
      throw new Error("secret");
    },
    async () => {
      throw new Error("secret");
    },
    () => undefined,
  ];
  for (const handle of broken) {
    const { app, logged } = createApp(t, [route({ handle })]);
    const { statusCode, body } = await app.inject({ method: "POST", url: "/route", payload: "x" });
    assert.equal(statusCode, 500);
    assert.match(JSON.parse(body).message, /^internal server error \([0-9a-f-]{36}\)$/);
    assert.match(logged.join(), /^Error: (secret|the route sent no answer)$/);
  }
});

test("requests are counted under the name of their route with the status of their answer", async (t) => {
  const counted: string[] = [];
  const start = (kind: string, path: string) => (status: number) => void counted.push(`${kind} ${path} ${status}`);
  const faultLog = { internal: () => undefined, outage: () => undefined };
  const routes = [route({ metric: { kind: "query", path: "route" } }), route({ path: "/uncounted" })];
  const { app } = createHttp({ routes, metrics: { ...metrics, start }, faultLog });
  t.after(() => app.close());
  for (const [url, payload] of [
    ["/route", "x"],
    ["/route", ""],
    ["/uncounted", "x"],
  ] as const) {
    await app.inject({ method: "POST", url, payload });
  }
  assert.deepEqual(counted, ["query route 200", "query route 400"]);
});
