import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { newMessage, newPlace } from "../../test/messages.ts";
import { readCourierSettings } from "./courier_settings.ts";
import { createSenders } from "./create_senders.ts";
import { createMailbox } from "./mailbox.ts";
import { keepMailboxTidy } from "./tidy_mailbox.ts";

function freshFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "keystead-mailbox-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("without settings every message is one whole file with the fields that readers know, for its owner alone", async (t) => {
  const folder = freshFolder(t);
  const senders = createSenders(readCourierSettings({ KEYSTEAD_OUTBOX_FOLDER: folder }));
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
  const senders = createSenders(readCourierSettings(env));
  await assert.rejects(senders.sms(newPlace().messageId, newMessage({ channel: "sms", to: "+15551234567" })), {
    error: "unconfigured",
    isFinal: true,
  });
  assert.deepEqual(readdirSync(folder), []);
});

const dayMs = 86_400_000;
const minuteMs = 60_000;

test("messages are removed after the days of the setting, however often new ones come, and nothing else is", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval", "Date"], now: 1_800_000_000_000 });
  const folder = freshFolder(t);
  const send = createMailbox(folder);
  writeFileSync(join(folder, "notes.txt"), "mine");
  keepMailboxTidy({ outboxFolder: folder, contactDays: 1 }, { now: Date.now, note: assert.fail });
  const firstAtMs = Date.now();
  while (Date.now() < firstAtMs + dayMs + 120 * minuteMs) {
    await send(newPlace().messageId, newMessage({ createdAtMs: Date.now() }));
    t.mock.timers.tick(30 * minuteMs);
  }
  const names = readdirSync(folder);
  assert.ok(names.includes("notes.txt"));
  const oldestMs = Math.min(...names.filter((name) => name !== "notes.txt").map((name) => Number.parseInt(name, 10)));
  assert.ok(oldestMs >= Date.now() - dayMs - 60 * minuteMs, "an hour late at most");
  t.mock.timers.tick(2 * dayMs);
  assert.deepEqual(readdirSync(folder), ["notes.txt"], "without any new message too");
});

test("the first tidying is at the start, of drafts too, and a folder that cannot be read is said", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const folder = freshFolder(t);
  const old = Date.now() - 31 * dayMs;
  for (const form of ["X-Y.json", ".X-Y.json.tmp"]) {
    writeFileSync(join(folder, form.replace("X", String(old)).replace("Y", newPlace().messageId)), "{}");
  }
  const notes: string[] = [];
  const note = (message: string) => void notes.push(message);
  keepMailboxTidy({ outboxFolder: folder, contactDays: 30 }, { now: Date.now, note });
  assert.deepEqual([readdirSync(folder), notes], [[], []]);
  keepMailboxTidy({ outboxFolder: "/nonexistent/outbox", contactDays: 30 }, { now: Date.now, note });
  assert.deepEqual(notes, ["old messages cannot be removed from /nonexistent/outbox (ENOENT)"]);
});

test("a folder that cannot be written is a failure that may pass", async () => {
  const send = createMailbox("/nonexistent/outbox");
  await assert.rejects(send(newPlace().messageId, newMessage()), { error: "storage", isFinal: false });
});
