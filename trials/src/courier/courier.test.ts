/** A real server whose outbox holds messages: who sends them, from where, and with which settings. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type KeysteadServer, repository, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { killIfThere } from "@keystead/e2e/process_tree.ts";
import { patienceMs } from "../../../core/test/patience.ts";
import { selfSigned } from "../../../server/test/self_signed.ts";
import { startSmsGateway } from "../../../server/test/sms_gateway.ts";
import { headerOf, smtpError, startSmtp } from "../../../server/test/smtp.ts";
import { openStoredMessages, type StoredMessages } from "./stored_messages.ts";

async function start(t: TestContext, env: Record<string, string> = {}) {
  const server = await startKeystead({ env });
  t.after(() => server.stop());
  const messages = await openStoredMessages(server);
  t.after(() => messages.close());
  return { server, messages };
}

async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    assert.ok(Date.now() < deadline, `waited in vain: ${what}`);
    await pause(50);
  }
}

const isOver = (messages: StoredMessages, messageId: string) => async () => {
  const row = await messages.row(messageId);
  return row?.state === "PENDING" ? undefined : row;
};

const courierOf = (server: KeysteadServer) => () => server.children().then(({ courier }) => courier);

test("without settings: the courier starts with the first message, writes it for the operator, and is replaced when it ends", {
  skip: process.platform !== "linux" && "needs /proc",
}, async (t) => {
  const { server, messages } = await start(t);
  assert.equal((await server.children()).courier, undefined, "nobody needs it yet");
  const first = await messages.add();
  assert.partialDeepStrictEqual(await until("the first message", isOver(messages, first)), {
    state: "SENT",
    sealed: null,
  });
  const courier = await until("the courier", courierOf(server));
  const folder = join(server.dataFolder, "outbox");
  const [name = ""] = readdirSync(folder);
  const { to, code, channel } = JSON.parse(readFileSync(join(folder, name), "utf8"));
  assert.deepEqual([to, code, channel], ["ann@example.com", first.slice(0, 8), "email"]);
  assert.match(server.output(), /courier: messages are written to .*outbox/);
  if (server.output().includes("separated by user id")) assert.equal(statSync(folder).uid, 60803);

  const shown = execFileSync(process.execPath, ["cli/src/main.ts", "outbox"], {
    cwd: repository,
    env: { ...process.env, KEYSTEAD_DATA: server.dataFolder },
    encoding: "utf8",
  });
  assert.match(shown, new RegExp(`email to ann@example\\.com\nsubject: .*Example\ncode: ${first.slice(0, 8)}\n`));

  killIfThere(courier);
  const second = await messages.add({ channel: "sms", to: "+15551234567" });
  assert.equal((await until("the second message", isOver(messages, second))).state, "SENT");
  assert.notEqual((await server.children()).courier, courier);
  assert.equal(readdirSync(folder).length, 2);
});

test("messages go to their providers, whose passwords are in no process but the courier, and a failure is said without contact or code", {
  skip: process.platform !== "linux" && "needs /proc",
}, async (t) => {
  const smtp = await startSmtp(t, {
    ...selfSigned,
    disabledCommands: [],
    authOptional: false,
    onAuth: (_, __, done) => done(null, { user: "me" }),
    onRcptTo: ({ address }, _, done) => done(address.startsWith("nobody") ? smtpError(550, `no ${address}`) : null),
  });
  const sms = await startSmsGateway(t);
  const [password, token] = ["pa55word-of-the-operator", "t0ken-of-the-operator"];
  const { server, messages } = await start(t, {
    SMTP_URL: `smtp://me:${password}@localhost:${smtp.port}`,
    KEYSTEAD_MAIL_FROM: "Example <no-reply@example.com>",
    KEYSTEAD_SMS_URL: sms.url,
    KEYSTEAD_SMS_TOKEN: token,
    KEYSTEAD_DEV_EGRESS: "loopback",
  });
  const good = await messages.add();
  const bad = await messages.add({ to: "nobody@example.com" });
  const text = await messages.add({ channel: "sms", to: "+15551234567", smsTemplate: "{{.OtpCode}}" });
  for (const [messageId, outcome] of [
    [good, { state: "SENT", error: null }],
    [bad, { state: "FAILED", error: "rejected" }],
    [text, { state: "SENT", error: null }],
  ] as const) {
    const { state, error } = await until(`message ${messageId}`, isOver(messages, messageId));
    assert.deepEqual({ state, error }, outcome);
  }
  const [mail, ...others] = smtp.received;
  assert.ok(mail && others.length === 0);
  assert.deepEqual([headerOf(mail, "message-id"), mail.isSecure, mail.user], [`<${good}@example.com>`, true, "me"]);
  assert.deepEqual(sms.received, [{ id: text, to: "+15551234567", text: text.slice(0, 8), token: `Bearer ${token}` }]);
  assert.deepEqual(readdirSync(join(server.dataFolder, "outbox")), [], "nothing is written where messages are sent");
  const output = await until("the log", () => (/not delivered/.test(server.output()) ? server.output() : undefined));
  assert.match(output, /courier: the mail server localhost:[0-9]+ refuses a message \(SMTP 550\)/);
  assert.doesNotMatch(output, new RegExp(`nobody@|ann@|5551234567|${password}|${token}|${bad.slice(0, 8)}(?!-)`));
  const { gateway, signer, courier } = await server.children();
  for (const [pid, has] of [
    [gateway, false],
    [signer, false],
    [courier, true],
  ] as const) {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
    assert.deepEqual([environment.includes(password), environment.includes(token)], [has, has]);
  }
});
