/** Both ends of the socket to the courier. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { patienceMs } from "../../../../core/test/patience.ts";
import { type CourierHandlers, serveGateway } from "../../courier/serve_gateway.ts";
import type { IssuerReply } from "../../frames/courier_messages.ts";
import { encodeFrame } from "../../frames/frame.ts";
import { messages } from "../../frames/messages.ts";
import { createCourierLink } from "./courier_link.ts";

async function socketPair(t: TestContext): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const ours = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [theirs] = (await once(server, "connection")) as [Socket];
  server.close();
  for (const socket of [ours, theirs]) {
    socket.on("error", () => undefined);
    t.after(() => socket.destroy());
  }
  return [ours, theirs];
}

const failed = (reason: string): IssuerReply => ({
  kind: "failed",
  value: { error: "unusable", reason, wasNew: false },
});

async function joined(t: TestContext, changes: Partial<CourierHandlers> = {}) {
  const errors: unknown[] = [];
  const handlers: CourierHandlers = {
    deliver: async () => ({ kind: "sent", value: {} }),
    issuer: async ({ issuer }) => failed(issuer),
    oauth2: () => Promise.reject(),
    captcha: () => Promise.reject(),
    ...changes,
  };
  const link = createCourierLink();
  t.after(link.close);
  const [ours, theirs] = await socketPair(t);
  serveGateway(theirs, handlers, (error) => errors.push(error));
  link.attach(ours);
  const ask = (issuer: string, deadlineMs = patienceMs) =>
    link.request("issuer", { issuer, newerThanMs: 0, isRegistered: false }, deadlineMs);
  return { link, ask, ours, theirs, errors };
}

test("requests of both kinds are answered, in whatever order their answers come", async (t) => {
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const { link, ask } = await joined(t, {
    issuer: async ({ issuer }) => {
      const gate = Promise.withResolvers<void>();
      gates.set(issuer, gate);
      await gate.promise;
      return failed(issuer);
    },
  });
  const both = [ask("https://a.example"), ask("https://b.example")];
  const sealed = new Uint8Array(1);
  assert.deepEqual(await link.deliver({ organizationId: "o", messageId: "m", sealed }), { kind: "sent", value: {} });
  while (gates.size < 2) await new Promise(setImmediate);
  for (const name of ["https://b.example", "https://a.example"]) gates.get(name)?.resolve();
  assert.deepEqual(await Promise.all(both), [failed("https://a.example"), failed("https://b.example")]);
});

test("a courier that ends, is late or is replaced leaves nobody waiting", async (t) => {
  const silent = { issuer: () => new Promise<never>(() => undefined) };
  const late = await joined(t, silent);
  assert.equal(await late.ask("https://a.example", 20), undefined);
  const ended = await joined(t, silent);
  const waiting = ended.ask("https://a.example");
  ended.theirs.destroy();
  assert.equal(await waiting, undefined);
  assert.equal(ended.link.isJoined(), false);
  assert.equal(await ended.ask("https://a.example"), undefined);
  const replaced = await joined(t, silent);
  const before = replaced.ask("https://a.example");
  const [ours, theirs] = await socketPair(t);
  const none = () => Promise.reject();
  const next = { deliver: none, issuer: async () => failed("new"), oauth2: none, captcha: none };
  serveGateway(theirs, next, () => undefined);
  replaced.link.attach(ours);
  assert.equal(await before, undefined);
  assert.deepEqual(await replaced.ask("https://a.example"), failed("new"));
});

test("who waits for a courier hears of the next one that joins", async (t) => {
  const { link, theirs } = await joined(t);
  await link.whenJoined();
  theirs.destroy();
  while (link.isJoined()) await new Promise(setImmediate);
  let hasJoined = false;
  const next = link.whenJoined().then(() => {
    hasJoined = true;
  });
  await new Promise(setImmediate);
  assert.equal(hasJoined, false);
  link.attach((await socketPair(t))[0]);
  await next;
});

test("an answer that cannot be read, or is of another kind, is none", async (t) => {
  const link = createCourierLink();
  t.after(link.close);
  const [ours, theirs] = await socketPair(t);
  link.attach(ours);
  const waiting = link.request(
    "issuer",
    { issuer: "https://a.example", newerThanMs: 0, isRegistered: false },
    patienceMs,
  );
  const reply = { statement: new Uint8Array(), signature: new Uint8Array() };
  theirs.write(encodeFrame("deliver", 1, messages.statement.reply, reply));
  theirs.write(encodeFrame("issuer", 7, messages.statement.reply, reply));
  theirs.write(encodeFrame("issuer", 1, messages.statement.reply, { ...reply, statement: new Uint8Array(9) }));
  assert.equal(await waiting, undefined);
  assert.equal(link.isJoined(), false, "its socket is closed");
});

test("the courier takes its own kinds alone; anything else closes the socket", async (t) => {
  const { ours, errors } = await joined(t);
  ours.write(encodeFrame("birth", 1, messages.birth.request, {}));
  await once(ours, "close");
  assert.match(String(errors[0]), /a courier takes no birth/);
  const broken = await joined(t);
  broken.ours.write(encodeFrame("issuer", 1, messages.birth.request, {}));
  await once(broken.ours, "close");
  assert.equal(broken.errors.length, 1);
});
