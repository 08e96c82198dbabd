import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { newMessage } from "../../test/messages.ts";
import { selfSigned } from "../../test/self_signed.ts";
import type { DeliveryFailure } from "./delivery_failure.ts";
import { createSmsSender } from "./send_sms.ts";

const sms = newMessage({ channel: "sms", to: "+15551234567" });
const id = "5b5f3c1e-7d0a-4b7e-9a57-0123456789ab";

async function provider(t: TestContext, listener: RequestListener, token?: string) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return createSmsSender({ url: new URL(`http://127.0.0.1:${port}/send?from=1`), token });
}

test("a text message is one POST of id, number and text, with the token", async (t) => {
  const seen: unknown[] = [];
  const send = await provider(
    t,
    async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const { authorization, "content-type": type } = request.headers;
      seen.push([request.method, request.url, authorization, type, JSON.parse(Buffer.concat(parts).toString())]);
      response.writeHead(202).end("accepted");
    },
    "t0ken",
  );
  await send(id, sms);
  const text = "Your verification code for Example: 7XK2M9QRT. It is valid for 5 minutes.";
  assert.deepEqual(seen, [
    ["POST", "/send?from=1", "Bearer t0ken", "application/json", { id, to: "+15551234567", text }],
  ]);
});

for (const [status, error, isFinal] of [
  [400, "rejected", true],
  [401, "authentication", false],
  [302, "rejected", true],
  [429, "deferred", false],
  [503, "deferred", false],
] as const) {
  test(`an answer of ${status} is ${error}, and its words are not repeated`, async (t) => {
    const send = await provider(t, (_, response) => {
      response.writeHead(status, { location: "http://127.0.0.1:1/" }).end("no: +15551234567 7XK2M9QRT");
    });
    await assert.rejects(send(id, sms), (failure: DeliveryFailure) => {
      assert.deepEqual([failure.error, failure.isFinal], [error, isFinal]);
      assert.doesNotMatch(failure.message, /5551234|7XK/);
      return true;
    });
  });
}

test("a connection that breaks off is unreachable", async (t) => {
  const send = await provider(t, (request) => request.socket.destroy());
  await assert.rejects(send(id, sms), { error: "unreachable", isFinal: false });
});

test("a certificate that nobody vouches for is not trusted, not even on this machine", async (t) => {
  let asked = 0;
  const server = createTlsServer(selfSigned, () => void asked++).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const send = createSmsSender({ url: new URL(`https://127.0.0.1:${port}/`), token: "t0ken" });
  await assert.rejects(send(id, sms), { error: "tls", isFinal: false });
  assert.equal(asked, 0);
});
