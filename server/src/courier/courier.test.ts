import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { newMessage, newPlace } from "../../test/messages.ts";
import { type MessagePlace, sealMessage, type TimedMessage } from "../outbox/sealed_message.ts";
import { type CourierDependencies, createCourier, mostAtOnce } from "./courier.ts";
import { DeliveryFailure } from "./delivery_failure.ts";
import type { Sender } from "./sender.ts";

const courierKey = new Uint8Array(randomBytes(32));
const sent = { kind: "sent", value: {} };
const failed = (error: string, isFinal: boolean) => ({ kind: "failed", value: { error, isFinal } });

function start(send: Sender, changes: Partial<CourierDependencies> = {}) {
  const notes: string[] = [];
  const senders = { email: send, sms: send };
  const courier = createCourier({
    courierKey,
    senders,
    now: Date.now,
    note: (message) => notes.push(message),
    ...changes,
  });
  const deliver = (place: MessagePlace, message: TimedMessage, key = courierKey) =>
    courier.deliver({ ...place, sealed: sealMessage(key, place, message) });
  return { courier, deliver, notes };
}

test("a message is sent once in a courier's life, however often and in whatever box it comes", async () => {
  const sentIds: string[] = [];
  const { deliver } = start(async (messageId) => void sentIds.push(messageId));
  const place = newPlace();
  const both = await Promise.all([deliver(place, newMessage()), deliver(place, newMessage())]);
  assert.deepEqual([...both, await deliver(place, newMessage({ code: "OTHER" }))], [sent, sent, sent]);
  assert.deepEqual(sentIds, [place.messageId]);
});

test("what the signer did not seal for this id is not sent", async () => {
  let count = 0;
  const { courier, deliver } = start(async () => void count++);
  const [place, other] = [newPlace(), newPlace()];
  assert.deepEqual(await deliver(place, newMessage(), new Uint8Array(randomBytes(32))), failed("invalid", true));
  const sealed = sealMessage(courierKey, other, newMessage());
  assert.deepEqual(await courier.deliver({ ...place, sealed }), failed("invalid", true));
  assert.deepEqual(await courier.deliver({ ...place, sealed: randomBytes(1_089) }), failed("invalid", true));
  assert.equal(count, 0);
});

test("nothing is sent once it has expired", async () => {
  let count = 0;
  let nowMs = 1_000_000;
  const { deliver } = start(async () => void count++, { now: () => nowMs });
  const place = newPlace();
  const message = newMessage({ createdAtMs: nowMs });
  nowMs = message.expiresAtMs;
  assert.deepEqual(await deliver(place, message), failed("expired", true));
  nowMs -= 1;
  assert.deepEqual(await deliver(place, message), sent);
  assert.equal(count, 1);
});

test("a failed message is tried again when it is asked for again, and the operator reads why", async () => {
  let count = 0;
  const { deliver, notes } = start(async () => {
    if (count++ === 0)
      throw new DeliveryFailure("deferred", false, "the mail server m:25 wants a message later (SMTP 451)");
  });
  const place = newPlace();
  assert.deepEqual(await deliver(place, newMessage()), failed("deferred", false));
  assert.deepEqual(await deliver(place, newMessage()), sent);
  assert.deepEqual(notes, ["the mail server m:25 wants a message later (SMTP 451)"]);
});

test("a second request while a message is being sent waits for the first, and the courier takes so many at once", async () => {
  const gate = Promise.withResolvers<void>();
  let count = 0;
  const { deliver } = start(async () => {
    count += 1;
    await gate.promise;
  });
  const places = Array.from({ length: mostAtOnce }, newPlace);
  const first = places.map((place) => deliver(place, newMessage()));
  assert.deepEqual(await deliver(newPlace(), newMessage()), failed("busy", false));
  const again = places.map((place) => deliver(place, newMessage()));
  gate.resolve();
  assert.deepEqual(await Promise.all([...first, ...again]), Array(2 * mostAtOnce).fill(sent));
  assert.equal(count, mostAtOnce);
});
