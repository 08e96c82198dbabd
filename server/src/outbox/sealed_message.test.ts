import assert from "node:assert/strict";
import { createCipheriv, hkdfSync, randomBytes, randomUUID } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import type { OutgoingMessage } from "./message.ts";
import { openMessage, sealMessage, type TimedMessage } from "./sealed_message.ts";

const courierKey = new Uint8Array(randomBytes(32));
const place = { organizationId: randomUUID(), messageId: randomUUID() };
const createdAtMs = 1_763_000_000_000;

const message: TimedMessage = {
  channel: "email",
  to: "ann@example.com",
  purpose: "code",
  code: "7XK2M9QRT",
  appName: "Example",
  organizationName: "Acme",
  createdAtMs,
  expiresAtMs: createdAtMs + 300_000,
};

const full: OutgoingMessage = {
  ...message,
  fromAddress: "login@acme.example",
  fromName: "Acme",
  replyTo: "help@acme.example",
  logoUrl: "https://acme.example/logo.png",
  linkTemplate: "https://acme.example/login?code=%s",
  smsTemplate: "{{.OtpCode}} is\nyour code",
};

const withoutUndefined = (value: object) => JSON.parse(JSON.stringify(value));

test("a sealed message opens with its key and in its place, as it was", () => {
  for (const each of [message, { ...full, createdAtMs }]) {
    const opened = openMessage(courierKey, place, sealMessage(courierKey, place, each));
    assert.deepEqual(withoutUndefined(opened ?? {}), each);
  }
});

test("it opens under no other key, id or organization", () => {
  const box = sealMessage(courierKey, place, message);
  assert.equal(openMessage(new Uint8Array(randomBytes(32)), place, box), undefined);
  assert.equal(openMessage(courierKey, { ...place, messageId: randomUUID() }, box), undefined);
  assert.equal(openMessage(courierKey, { ...place, organizationId: randomUUID() }, box), undefined);
  const joined = { organizationId: place.organizationId + place.messageId, messageId: "" };
  assert.equal(openMessage(courierKey, joined, box), undefined);
});

test("no bit of a box can be flipped, and none of its bytes left off or added", () => {
  const box = sealMessage(courierKey, place, message);
  for (let bit = 0; bit < box.length * 8; bit += 7) {
    const altered = Uint8Array.from(box);
    altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.equal(openMessage(courierKey, place, altered), undefined, `bit ${bit}`);
  }
  for (const length of [0, 1, 48, 49, 65, box.length - 1024, box.length - 1]) {
    assert.equal(openMessage(courierKey, place, box.subarray(0, length)), undefined, `length ${length}`);
  }
  assert.equal(openMessage(courierKey, place, Buffer.concat([box, new Uint8Array(1024)])), undefined);
});

test("the length says nothing about contact, code and names", () => {
  const lengths = fc
    .sample(
      fc.record({
        to: fc.integer({ min: 1, max: 60 }).map((length) => `${"a".repeat(length)}@example.com`),
        code: fc.constantFrom("123456", "7XK2M9QRT", "b".repeat(300)),
        appName: fc.string({ minLength: 1, maxLength: 40 }),
        organizationName: fc.string({ maxLength: 40 }),
      }),
      200,
    )
    .map((changes) => sealMessage(courierKey, place, { ...message, ...changes }).length);
  assert.deepEqual([...new Set(lengths)], [1_089]);
  assert.equal(
    sealMessage(courierKey, place, { ...message, linkTemplate: `https://a.b/${"x".repeat(1_500)}%s` }).length,
    2_113,
  );
});

test("two boxes of one message share nothing", () => {
  const [a, b] = [1, 2].map(() => sealMessage(courierKey, place, message));
  assert.notDeepEqual(a, b);
  assert.notDeepEqual(a?.subarray(49, 80), b?.subarray(49, 80));
});

/** Seals any plaintext under the right keys, as a faulty signer would. */
function sealPlain(plain: Uint8Array): Uint8Array {
  const sized = (text: string) => Buffer.concat([Buffer.from([0, 0, 0, text.length]), Buffer.from(text)]);
  const bound = Buffer.concat([Buffer.from([1]), sized(place.organizationId), sized(place.messageId)]);
  const salt = randomBytes(32);
  const keys = Buffer.from(hkdfSync("sha256", courierKey, salt, bound, 60));
  const cipher = createCipheriv("aes-256-gcm", keys.subarray(0, 32), keys.subarray(32, 44));
  cipher.setAAD(bound);
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.from([1]), salt, keys.subarray(44), sealed, cipher.getAuthTag()]);
}

/** The plaintext of a message, from its own writer. */
function contentOf(changes: Partial<TimedMessage>): Buffer {
  const text = (value: string) => {
    const bytes = Buffer.from(value);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const u64 = (value: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(value));
    return bytes;
  };
  const all = { ...message, ...changes };
  const fixed = [u64(all.createdAtMs), u64(all.expiresAtMs), Buffer.from([0, 0])];
  const texts = [all.to, all.code, all.appName, all.organizationName].map(text);
  return Buffer.concat([...fixed, ...texts, Buffer.alloc(6)]);
}

function plainOf(content: Uint8Array, length = 1_024): Buffer {
  const plain = Buffer.alloc(length);
  plain.writeUInt32BE(content.length);
  plain.set(content, 4);
  return plain;
}

test("an independent writer of the format is understood, and what strays from it is not", () => {
  const opens = (plain: Uint8Array) => openMessage(courierKey, place, sealPlain(plain)) !== undefined;
  const good = contentOf({});
  assert.equal(opens(plainOf(good)), true);
  assert.equal(opens(plainOf(good, 2_048)), false, "more padding than it needs");
  assert.equal(opens(plainOf(good, 1_000)), false, "no whole step");
  const dirty = plainOf(good);
  dirty[1_023] = 1;
  assert.equal(opens(dirty), false, "padding that is not zero");
  assert.equal(opens(plainOf(Buffer.concat([good, Buffer.from([0])]))), false, "a trailing byte");
  assert.equal(opens(plainOf(contentOf({ expiresAtMs: createdAtMs }))), false, "no life");
  assert.equal(opens(plainOf(contentOf({ expiresAtMs: createdAtMs + 86_400_001 }))), false, "a longer life than a day");
  assert.equal(opens(plainOf(contentOf({ to: "ann@example.com\r\nBcc: eve@example.com" }))), false, "another header");
  assert.equal(opens(plainOf(contentOf({ to: "ann@example.com,eve@example.com" }))), false, "two recipients");
});
