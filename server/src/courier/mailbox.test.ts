import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { newMessage, newPlace } from "../../test/messages.ts";
import { readCourierSettings } from "./courier_settings.ts";
import { createSenders } from "./create_senders.ts";
import { createMailbox } from "./mailbox.ts";

function freshFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "keystead-mailbox-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("without settings every message is one whole file with the fields that readers know, for its owner alone", async (t) => {
  const folder = freshFolder(t);
  const senders = createSenders(readCourierSettings({ KEYSTEAD_OUTBOX_FOLDER: folder }), Date.now);
  const { messageId } = newPlace();
  const message = newMessage();
  await senders.email(messageId, message);
  await senders.email(messageId, message);
  const name = `${message.createdAtMs}-${messageId}.json`;
  assert.deepEqual(readdirSync(folder), [name], "the same message again is the same file");
  const file = JSON.parse(readFileSync(join(folder, name), "utf8"));
  const { channel, purpose, to, subject, text, code, createdAt, ...rest } = file;
  assert.deepEqual([channel, purpose, to, code], ["email", "code", "ann@example.com", "7XK2M9QRT"]);
  assert.equal(createdAt, new Date(message.createdAtMs).toISOString());
  assert.match(subject, /Example/);
  assert.match(text, /7XK2M9QRT/);
  assert.deepEqual(rest, {});
  assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
  await senders.sms(newPlace().messageId, newMessage({ channel: "sms", to: "+15551234567" }));
  assert.equal(readdirSync(folder).length, 2);
});

test("with settings for one channel the other fails for good, and nothing is written", async (t) => {
  const folder = freshFolder(t);
  const env = { KEYSTEAD_OUTBOX_FOLDER: folder, SMTP_URL: "smtp://127.0.0.1:1", KEYSTEAD_MAIL_FROM: "a@b.example" };
  const senders = createSenders(readCourierSettings(env), Date.now);
  await assert.rejects(senders.sms(newPlace().messageId, newMessage({ channel: "sms", to: "+15551234567" })), {
    error: "unconfigured",
    isFinal: true,
  });
  assert.deepEqual(readdirSync(folder), []);
});

test("messages are removed from the folder after the days of the setting, and nothing else is", async (t) => {
  const folder = freshFolder(t);
  const dayMs = 86_400_000;
  let nowMs = Date.now();
  const send = createMailbox(folder, 30, () => nowMs);
  writeFileSync(join(folder, "notes.txt"), "mine");
  await send(newPlace().messageId, newMessage({ createdAtMs: nowMs }));
  nowMs += 31 * dayMs;
  const { messageId } = newPlace();
  await send(messageId, newMessage({ createdAtMs: nowMs }));
  assert.deepEqual(readdirSync(folder).sort(), [`${nowMs}-${messageId}.json`, "notes.txt"].sort());
});

test("a folder that cannot be written is a failure that may pass", async () => {
  const send = createMailbox("/nonexistent/outbox", 30, Date.now);
  await assert.rejects(send(newPlace().messageId, newMessage()), { error: "storage", isFinal: false });
});
