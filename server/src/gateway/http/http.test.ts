/** The door with nothing behind it: what it says by itself. */
import assert from "node:assert/strict";
import { type AddressInfo, connect } from "node:net";
import { type TestContext, test } from "node:test";
import { createHttp, type HttpRoom } from "./http.ts";

function openDoor(t: TestContext, room: Partial<HttpRoom> = {}) {
  const metrics = { start: () => () => undefined, text: async () => "" };
  const app = createHttp({ metrics, log: () => undefined, ...room } as unknown as HttpRoom);
  t.after(() => app.close());
  return app;
}

const url = "/public/v1/query/whoami";
const long = '"'.repeat(10_000);
const part = '"'.repeat(100);

test("what a header said is repeated in part only, however long it was", async (t) => {
  const app = openDoor(t);
  const { body } = await app.inject({ method: "POST", url, headers: { "content-encoding": long }, payload: "{}" });
  assert.equal(JSON.parse(body).message, `bad request body: content encoding \`${part}\` is not accepted`);
});

test("a transfer encoding that nobody undoes is refused, and repeated in part only", async (t) => {
  const app = openDoor(t);
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
  const app = openDoor(t, { unready: async () => why });
  const ask = async () => {
    const { statusCode, body } = await app.inject({ method: "GET", url: "/readyz" });
    return [statusCode, JSON.parse(body)];
  };
  assert.deepEqual(await ask(), [503, { status: "not ready", why }]);
  why = undefined;
  assert.deepEqual(await ask(), [200, { status: "ready" }]);
});
