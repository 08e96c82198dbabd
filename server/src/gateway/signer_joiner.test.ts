/** Joining signers that come, go, and cannot work yet. Sockets are only told apart here. */
import assert from "node:assert/strict";
import { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import type { Logger } from "pino";
import { createSignerJoiner } from "./signer_joiner.ts";
import { createSignerStatus } from "./signer_status.ts";

/** A joiner whose joins end as told, and everything it did, in order. */
function start(t: TestContext, options: { isOrder?: boolean } = {}) {
  const signer = createSignerStatus();
  const events: string[] = [];
  const joins: { socket: Socket; resolve(): void; reject(error: unknown): void }[] = [];
  const joiner = createSignerJoiner({
    signer,
    log: { error: ({ err }: { err: Error }) => events.push(`logged ${err.message}`) } as unknown as Logger,
    join: (socket) => new Promise((resolve, reject) => joins.push({ socket, resolve, reject })),
    onJoined: async () => void events.push("joined"),
    onWaiting: async () => void events.push("waiting"),
    isOrder: options.isOrder ?? false,
    async fail(error) {
      events.push(`failed ${(error as Error).message}`);
      return new Promise<never>(() => undefined);
    },
  });
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  const use = () => {
    const socket = new Socket();
    sockets.push(socket);
    joiner.use(socket);
    return socket;
  };
  const nextJoin = async () => {
    while (joins.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const join = joins.shift();
    assert.ok(join);
    return join;
  };
  return { signer, events, joins, use, nextJoin, stop: joiner.stop };
}

const breath = () => new Promise((resolve) => setImmediate(resolve));

test("a signer that joins can be used; until then there is a reason", async (t) => {
  const { signer, events, use, nextJoin } = start(t);
  use();
  assert.equal(signer.trouble(), "the signer has not joined yet");
  (await nextJoin()).resolve();
  await breath();
  assert.equal(signer.trouble(), undefined);
  assert.deepEqual(events, ["joined"]);
});

test("trouble that may pass is tried again on the same socket, said for anybody, and logged once", async (t) => {
  const { signer, events, use, nextJoin } = start(t);
  const socket = use();
  for (let i = 0; i < 2; i++) {
    const join = await nextJoin();
    assert.equal(join.socket, socket);
    join.reject(new Fault("unavailable", "the clock is behind"));
    await breath();
    assert.equal(signer.trouble(), "the clock is behind");
  }
  (await nextJoin()).resolve();
  await breath();
  assert.equal(signer.trouble(), undefined);
  assert.deepEqual(events, ["logged the clock is behind", "waiting", "waiting", "joined"]);
});

test("an error that is no refusal of ours stays in the log", async (t) => {
  const { signer, use, nextJoin } = start(t);
  use();
  (await nextJoin()).reject(new Error("password=hunter2"));
  await breath();
  assert.equal(signer.trouble(), "the signer cannot be used; the server's log says why");
});

test("a refusal at the start ends the process, and so does any trouble while an operator waits", async (t) => {
  const refused = start(t);
  refused.use();
  (await refused.nextJoin()).reject(new Fault("failed_precondition", "the memory is empty"));
  await breath();
  assert.deepEqual(refused.events, ["failed the memory is empty"]);
  const order = start(t, { isOrder: true });
  order.use();
  (await order.nextJoin()).reject(new Fault("unavailable", "the clock is behind"));
  await breath();
  assert.deepEqual(order.events, ["failed the clock is behind"]);
});

test("a refusal after a signer has joined is waited out", async (t) => {
  const { events, use, nextJoin } = start(t);
  use();
  (await nextJoin()).resolve();
  await breath();
  use();
  (await nextJoin()).reject(new Fault("failed_precondition", "the memory is empty"));
  await breath();
  assert.deepEqual(events, ["joined", "logged the memory is empty", "waiting"]);
});

test("a signer that was replaced meanwhile changes nothing, whether its join succeeds or fails", async (t) => {
  const { signer, events, use, nextJoin } = start(t);
  use();
  const first = await nextJoin();
  use();
  const second = await nextJoin();
  use();
  const third = await nextJoin();
  first.resolve();
  second.reject(new Fault("failed_precondition", "too late"));
  await breath();
  assert.equal(signer.trouble(), "the signer has not joined yet");
  assert.deepEqual(events, []);
  third.resolve();
  await breath();
  assert.deepEqual(events, ["joined"]);
});

test("a join that the end of the process cuts off is not logged, and nobody is served after it", async (t) => {
  for (const isOrder of [false, true]) {
    for (const end of ["reject", "resolve"] as const) {
      const { events, joins, use, nextJoin, stop } = start(t, { isOrder });
      use();
      const join = await nextJoin();
      stop();
      join[end](new Fault("unavailable", "the gateway is stopping"));
      use();
      await breath();
      assert.equal(joins.length, 0);
      assert.deepEqual(events, []);
    }
  }
});

test("a socket that is gone is not tried again", async (t) => {
  const { events, joins, use, nextJoin } = start(t);
  const socket = use();
  const join = await nextJoin();
  socket.destroy();
  join.reject(new Fault("unavailable", "the signer stopped"));
  await breath();
  await new Promise((resolve) => setTimeout(resolve, 700));
  assert.equal(joins.length, 0);
  assert.deepEqual(events, ["logged the signer stopped", "waiting"]);
});
