/** Messages from the decision that asks for them to the courier that sends them, with the real signer and both databases. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { createGatewayRig, type GatewayRig, Refused } from "../../../test/gateway_rig.ts";
import { createUserTag } from "../../activities/create_user_tag.ts";
import { createCourier } from "../../courier/courier.ts";
import { DeliveryFailure } from "../../courier/delivery_failure.ts";
import type { Sender } from "../../courier/sender.ts";
import { serveGateway } from "../../courier/serve_gateway.ts";
import type { OutgoingMessage } from "../../outbox/message.ts";
import { openKeyring } from "../../signer/secrets/keyring.ts";
import { type CourierLink, createCourierLink } from "../link/courier_link.ts";
import { createDelivery, type FailedMessage, pauseMsAfter } from "./deliver_messages.ts";

const lifeMs = 300_000;

function messageTo(rig: GatewayRig, changes: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    channel: "email",
    to: "ann@example.com",
    purpose: "code",
    code: "7XK2M9QRT",
    appName: "Example",
    organizationName: "Acme",
    expiresAtMs: rig.signer.clock.nowMs + lifeMs,
    ...changes,
  };
}

/** Until activities ask for messages themselves, the making of a tag does. */
function tagsSend(t: TestContext, messages: () => readonly OutgoingMessage[]): void {
  const { run } = createUserTag;
  t.mock.method(createUserTag, "run", (...args: Parameters<typeof run>) => ({
    ...(run(...args) as object),
    messages: messages(),
  }));
}

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

async function start(
  t: TestContext,
  dialect: "sqlite" | "postgres",
  messages?: (rig: GatewayRig) => OutgoingMessage[],
) {
  const created = await createGatewayRig(t, dialect);
  if (created === undefined) return undefined;
  const rig: GatewayRig = created;
  tagsSend(t, () => messages?.(rig) ?? [messageTo(rig)]);
  const { courierKey } = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring);
  const sent: [messageId: string, code: string, to: string][] = [];
  const failed: FailedMessage[] = [];
  const clock = rig.signer.clock;
  let behaviour: Sender = async () => undefined;
  let needs = 0;

  /** A courier as its process makes one, on a socket. */
  async function join(link: CourierLink): Promise<Socket> {
    const send: Sender = async (messageId, message) => {
      await behaviour(messageId, message);
      sent.push([messageId, message.code, message.to]);
    };
    const now = () => clock.nowMs;
    const courier = createCourier({ courierKey, senders: { email: send, sms: send }, now, note: () => undefined });
    const [ours, theirs] = await socketPair(t);
    const none = () => Promise.reject(new Error("none of these here"));
    serveGateway(theirs, { deliver: courier.deliver, issuer: none, oauth2: none, captcha: none }, () => undefined);
    link.attach(ours);
    return theirs;
  }

  function gateway() {
    const link = createCourierLink();
    t.after(() => link.close());
    const delivery = createDelivery({
      store: rig.store,
      courier: link,
      needCourier: () => void needs++,
      onFailed: (message) => failed.push(message),
      now: () => clock.nowMs,
    });
    const run = async () => {
      await delivery.job.run(new AbortController().signal);
      await delivery.settle();
    };
    return { link, run };
  }

  let tags = 0;
  return {
    rig,
    clock,
    sent,
    failed,
    join,
    gateway,
    needs: () => needs,
    behave: (next: Sender) => {
      behaviour = next;
    },
    submit: () => rig.submit(rig.root, "create_user_tag", { userTagName: `t${tags++}`, userIds: [] }),
    rows: () => rig.store.db.selectFrom("outbox").selectAll().execute(),
  };
}

for (const dialect of ["sqlite", "postgres"] as const) {
  test(`on ${dialect}: an activity's messages are committed with it, sealed, and sent once a courier is there`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { submit, rows, gateway, join, sent, needs } = started;
    const { id } = await submit();
    const [row] = await rows();
    assert.ok(row);
    assert.deepEqual([row.activity_id, row.state, row.channel], [id, "PENDING", "email"]);
    const bytes = Buffer.from(row.sealed ?? []);
    assert.equal(bytes.length, 1_089);
    for (const secret of ["7XK2M9QRT", "ann@example.com"]) assert.equal(bytes.includes(secret), false);
    const { link, run } = gateway();
    await run();
    assert.deepEqual([needs(), sent.length], [1, 0]);
    await join(link);
    await run();
    assert.deepEqual(sent, [[row.message_id, "7XK2M9QRT", "ann@example.com"]]);
    assert.partialDeepStrictEqual(await rows(), [{ state: "SENT", sealed: null, attempts: 1, error: null }]);
    await run();
    assert.equal(sent.length, 1);
  });

  test(`on ${dialect}: three gateways with a courier each send every message, and each once`, async (t) => {
    const started = await start(t, dialect, (rig) => [messageTo(rig), messageTo(rig, { code: "SECOND" })]);
    if (started === undefined) return;
    const { submit, gateway, join, sent } = started;
    for (let i = 0; i < 10; i++) await submit();
    const gateways = [gateway(), gateway(), gateway()];
    // One that joins later would drop the claims of a file's first gateway: a file never has two.
    for (const { link } of gateways) await join(link);
    if (dialect === "postgres") await Promise.all(gateways.map(({ run }) => run()));
    else await gateways[0]?.run();
    assert.equal(sent.length, 20);
    assert.equal(new Set(sent.map(([messageId]) => messageId)).size, 20);
  });

  test(`on ${dialect}: attempts go on with growing pauses until the message expires, and the failure says why`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { submit, gateway, join, behave, clock, failed, rows } = started;
    behave(async () => {
      throw new DeliveryFailure("unreachable", false, "away");
    });
    const { id } = await submit();
    const { link, run } = gateway();
    await join(link);
    const attemptedAtMs: number[] = [];
    const beganAtMs = clock.nowMs;
    let attempts = 0;
    while (clock.nowMs < beganAtMs + 2 * lifeMs) {
      await run();
      const [row] = await rows();
      if (row !== undefined && row.attempts > attempts) attemptedAtMs.push(clock.nowMs - beganAtMs);
      attempts = row?.attempts ?? 0;
      clock.nowMs += 250;
    }
    const pauses = attemptedAtMs.slice(1).map((at, index) => at - (attemptedAtMs[index] ?? 0));
    assert.ok(attempts >= 8 && attempts <= 16, `${attempts} attempts`);
    assert.ok((pauses[0] ?? 0) <= 1_250 && (pauses.at(-1) ?? 0) >= 15_000, `pauses ${pauses}`);
    assert.ok((attemptedAtMs.at(-1) ?? 0) < lifeMs, "none after it expired");
    assert.partialDeepStrictEqual(failed, [{ activityId: id, error: "unreachable", attempts }]);
    assert.doesNotMatch(JSON.stringify(failed), /ann@|7XK2M9QRT/);
    assert.partialDeepStrictEqual(await rows(), [{ state: "FAILED", error: "unreachable", sealed: null }]);
  });

  test(`on ${dialect}: a courier that ends while it sends is followed by one that sends`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { submit, gateway, join, behave, sent, clock, rows } = started;
    await submit();
    const { link, run } = gateway();
    const first = await join(link);
    behave(async () => {
      first.destroy();
      await new Promise(() => undefined);
    });
    await run();
    assert.partialDeepStrictEqual(await rows(), [{ state: "PENDING", error: "courier", claimed_by: null }]);
    assert.equal(link.isJoined(), false);
    behave(async () => undefined);
    await join(link);
    clock.nowMs += 1_000;
    await run();
    assert.equal(sent.length, 1);
    assert.partialDeepStrictEqual(await rows(), [{ state: "SENT", attempts: 2 }]);
  });

  test(`on ${dialect}: a refusal for good is not tried again`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { submit, gateway, join, behave, failed } = started;
    behave(async () => {
      throw new DeliveryFailure("rejected", true, "no");
    });
    await submit();
    const { link, run } = gateway();
    await join(link);
    await run();
    assert.partialDeepStrictEqual(failed, [{ error: "rejected", attempts: 1 }]);
  });

  test(`on ${dialect}: a message that no courier fetched in time fails as expired`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { submit, gateway, clock, failed, sent } = started;
    await submit();
    clock.nowMs += lifeMs;
    await gateway().run();
    assert.partialDeepStrictEqual(failed, [{ error: "expired", attempts: 0 }]);
    assert.equal(sent.length, 0);
  });

  test(`on ${dialect}: an activity that asks for a message that cannot be sent fails, and sends nothing`, async (t) => {
    const started = await start(t, dialect, (rig) => [
      messageTo(rig),
      messageTo(rig, { to: "a@b.example\r\nBcc: c@d.example" }),
    ]);
    if (started === undefined) return;
    await assert.rejects(started.submit(), (error: Refused) => {
      assert.match(error.message, /the message cannot be sent/);
      return error instanceof Refused;
    });
    assert.deepEqual(await started.rows(), []);
  });

  test(`on ${dialect}: a gateway that changes a row cannot have another text sent, nor a box under another id`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { rig, submit, gateway, join, sent, failed, rows } = started;
    await submit();
    await submit();
    await submit();
    const [first, second, third] = await rows();
    assert.ok(first?.sealed && second && third);
    const put = (sealed: Uint8Array, messageId: string) =>
      rig.store.db.updateTable("outbox").set({ sealed }).where("message_id", "=", messageId).execute();
    await put(first.sealed, second.message_id);
    await put(new Uint8Array(100_000), third.message_id);
    const { link, run } = gateway();
    await join(link);
    await run();
    assert.deepEqual(
      sent.map(([messageId]) => messageId),
      [first.message_id],
    );
    assert.deepEqual(
      failed.map(({ messageId, error }) => [messageId, error]).sort(),
      [second.message_id, third.message_id].sort().map((messageId) => [messageId, "invalid"]),
    );
  });
}

test("the same body has the same message ids, prepared again and on another signer", async (t) => {
  const started = await start(t, "sqlite");
  if (started === undefined) return;
  const { rig, rows } = started;
  const body = rig.body("create_user_tag", { userTagName: "once", userIds: [] });
  await rig.send(rig.root, "create_user_tag", body);
  await rig.send(rig.root, "create_user_tag", body);
  assert.equal((await rows()).length, 1);
});

test("pauses grow from a second to a minute", () => {
  assert.deepEqual(
    [1, 2, 3, 6, 7, 50].map((attempts) => pauseMsAfter(attempts, 1)),
    [1_000, 2_000, 4_000, 32_000, 60_000, 60_000],
  );
  assert.equal(pauseMsAfter(1, 0), 500);
});
