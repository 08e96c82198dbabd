/** Against a real SMTP server that takes, refuses, delays, breaks off and demands TLS. */
import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import { newMessage, newPlace } from "../../test/messages.ts";
import { selfSigned } from "../../test/self_signed.ts";
import { headerOf, type SmtpOptions, smtpError, startSmtp } from "../../test/smtp.ts";
import { deliveryDeadlineMs, sendDeadlineMs } from "../frames/delivery_times.ts";
import { readCourierSettings } from "./courier_settings.ts";
import type { DeliveryFailure } from "./delivery_failure.ts";
import { createMailSender, toMail, transportOptions } from "./send_mail.ts";

const leaks = /ann@|example\.com|7XK2M9QRT/;

test("a mail arrives with both parts, its sender, its recipient and a Message-ID that stays", async (t) => {
  const smtp = await startSmtp(t);
  const send = createMailSender(smtp.settings);
  const { messageId } = newPlace();
  const message = newMessage({ appName: "Größe & Söhne", replyTo: "help@acme.example" });
  await send(messageId, message);
  await send(messageId, message);
  const [first, second] = smtp.received;
  assert.ok(first && second);
  assert.deepEqual([first.from, first.to], ["no-reply@example.com", ["ann@example.com"]]);
  assert.equal(headerOf(first, "from"), "Example <no-reply@example.com>");
  assert.equal(headerOf(first, "to"), "ann@example.com");
  assert.equal(headerOf(first, "reply-to"), "help@acme.example");
  assert.equal(headerOf(first, "message-id"), `<${messageId}@example.com>`);
  assert.equal(headerOf(second, "message-id"), headerOf(first, "message-id"));
  assert.equal(headerOf(first, "auto-submitted"), "auto-generated");
  assert.equal(headerOf(first, "date"), new Date(message.createdAtMs).toUTCString().replace("GMT", "+0000"));
  assert.match(headerOf(first, "content-type") ?? "", /^multipart\/alternative/);
  assert.match(first.raw, /Content-Type: text\/plain; charset=utf-8/);
  assert.match(first.raw, /Content-Type: text\/html; charset=utf-8/);
  assert.equal(first.raw.match(/7XK2M9QRT/g)?.length, 2);
});

test("no value of a message makes another header, recipient or part", async (t) => {
  const smtp = await startSmtp(t);
  const send = createMailSender(smtp.settings);
  // Sealing and opening refuse these already; here it is the last line.
  const evil = "x\r\nBcc: eve@example.com\r\n\r\n<b>";
  await send(
    newPlace().messageId,
    newMessage({ appName: evil, organizationName: evil, fromAddress: "login@acme.example", fromName: evil }),
  );
  const [mail] = smtp.received;
  assert.ok(mail);
  assert.deepEqual(mail.to, ["ann@example.com"]);
  assert.equal(headerOf(mail, "bcc"), undefined);
  assert.doesNotMatch(mail.raw.slice(0, mail.raw.indexOf("\r\n\r\n")), /\r\nBcc/i);
});

test("a mail comes from the address it asks for only if the operator lists it", async (t) => {
  const smtp = await startSmtp(t);
  const send = createMailSender(smtp.settings);
  await send(newPlace().messageId, newMessage({ fromAddress: "Login@Acme.Example" }));
  await send(newPlace().messageId, newMessage({ fromAddress: "login@acme.example", fromName: "Acme" }));
  assert.deepEqual(
    smtp.received.map((mail) => headerOf(mail, "from")),
    ["Notifications <login@acme.example>", "Acme <login@acme.example>"],
  );
  await assert.rejects(send(newPlace().messageId, newMessage({ fromAddress: "ceo@bank.example" })), {
    error: "sender",
    isFinal: true,
  });
  const desk = { ...smtp.settings, senders: [{ name: "Desk", address: "desk@acme.example" }] as const };
  const asked = (fromAddress: string) => () => toMail(desk, newPlace().messageId, newMessage({ fromAddress }));
  assert.equal(asked("DESK@acme.example")().from.address, "desk@acme.example");
  assert.throws(asked("des\u212a@acme.example"), { error: "sender", isFinal: true }, "the Kelvin sign is no k");
  assert.equal(smtp.received.length, 2);
});

for (const [name, responseCode, error, isFinal] of [
  ["refuses the message", 554, "rejected", true],
  ["asks to come later", 451, "deferred", false],
] as const) {
  test(`a server that ${name}: ${error}, and its words are not repeated`, async (t) => {
    const smtp = await startSmtp(t, {
      onMail() {
        throw smtpError(responseCode, "no 7XK2M9QRT for ann@example.com");
      },
    });
    await assert.rejects(
      createMailSender(smtp.settings)(newPlace().messageId, newMessage()),
      (failure: DeliveryFailure) => {
        assert.deepEqual([failure.error, failure.isFinal], [error, isFinal]);
        assert.match(failure.message, new RegExp(`SMTP ${responseCode}`));
        assert.doesNotMatch(failure.message, leaks);
        return true;
      },
    );
  });
}

test("a server that refuses the recipient: rejected, without naming it", async (t) => {
  const smtp = await startSmtp(t, {
    onRcptTo: ({ address }, _, done) => done(smtpError(550, `no such user ${address}`)),
  });
  await assert.rejects(
    createMailSender(smtp.settings)(newPlace().messageId, newMessage()),
    (failure: DeliveryFailure) => {
      assert.deepEqual([failure.error, failure.isFinal], ["rejected", true]);
      assert.doesNotMatch(failure.message, leaks);
      return true;
    },
  );
});

test("a server that delays is waited for", async (t) => {
  const smtp = await startSmtp(t, { onMail: () => new Promise((resolve) => setTimeout(resolve, 500)) });
  await createMailSender(smtp.settings)(newPlace().messageId, newMessage());
  assert.equal(smtp.received.length, 1);
});

const pause = (timeMs: number) => new Promise<void>((resolve) => setTimeout(resolve, timeMs));

for (const [name, isTls] of [
  ["in the clear", false],
  ["over TLS", true],
] as const) {
  test(`a server that is slow at every step (${name}) is given up at one deadline, and gets nothing afterwards`, async (t) => {
    const deadlineMs = 2_000;
    // No step takes as long as the deadline; all together do.
    const slowly = (done: () => void) => void setTimeout(done, 900);
    const smtp = await startSmtp(t, {
      ...(isTls && { ...selfSigned, secure: true }),
      onConnect: (_, done) => slowly(done),
      onMailFrom: (_, __, done) => slowly(done),
      onRcptTo: (_, __, done) => slowly(done),
    });
    const send = createMailSender({ ...smtp.settings, isTls }, deadlineMs);
    const beganAtMs = performance.now();
    await assert.rejects(send(newPlace().messageId, newMessage()), {
      error: "unreachable",
      isFinal: false,
      message: /^the mail server 127\.0\.0\.1:[0-9]+ takes longer than 2 s$/,
    });
    assert.ok(performance.now() - beganAtMs >= deadlineMs - 50);
    await pause(2_500);
    assert.equal(smtp.received.length, 0);
  });
}

test("a server that says nothing is given up at the deadline", async (t) => {
  const smtp = await startSmtp(t, { onConnect: () => undefined });
  await assert.rejects(createMailSender(smtp.settings, 500)(newPlace().messageId, newMessage()), {
    error: "unreachable",
    isFinal: false,
  });
});

test("the courier gives up before the gateway does", () => {
  assert.ok(sendDeadlineMs + 5_000 <= deliveryDeadlineMs);
});

test("a server that breaks off: unreachable, to be tried again", async (t) => {
  const smtp = await startSmtp(t, {
    onMail(_, socket) {
      socket.destroy();
      throw new Error("gone");
    },
  });
  await assert.rejects(createMailSender(smtp.settings)(newPlace().messageId, newMessage()), {
    error: "unreachable",
    isFinal: false,
  });
});

test("no server at all: unreachable", async (t) => {
  const smtp = await startSmtp(t);
  await smtp.close();
  await assert.rejects(createMailSender(smtp.settings)(newPlace().messageId, newMessage()), {
    error: "unreachable",
    isFinal: false,
    message: /^the mail server 127\.0\.0\.1:[0-9]+ cannot be reached \([A-Z]+\)$/,
  });
});

test("a server that demands TLS and a login gets both", async (t) => {
  const options = { ...selfSigned, authOptional: false, disabledCommands: [] };
  const onAuth: SmtpOptions["onAuth"] = ({ username, password }, _, done) =>
    password === "pass word" ? done(null, { user: username ?? "" }) : done(new Error("wrong"));
  const smtp = await startSmtp(t, { ...options, onAuth });
  const login = (pass: string) => createMailSender({ ...smtp.settings, auth: { user: "me", pass } });
  await login("pass word")(newPlace().messageId, newMessage());
  assert.deepEqual(
    smtp.received.map(({ isSecure, user }) => [isSecure, user]),
    [[true, "me"]],
  );
  await assert.rejects(login("other")(newPlace().messageId, newMessage()), { error: "authentication", isFinal: false });
});

test("TLS from the first byte works too", async (t) => {
  const smtp = await startSmtp(t, { ...selfSigned, secure: true });
  await createMailSender({ ...smtp.settings, isTls: true })(newPlace().messageId, newMessage());
  assert.equal(smtp.received[0]?.isSecure, true);
});

const elsewhere = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;

const servers: [name: string, options: SmtpOptions][] = [
  ["offers no TLS", {}],
  ["has a certificate that nobody vouches for", { ...selfSigned, disabledCommands: [] }],
];
for (const [name, options] of servers) {
  test(`a server elsewhere that ${name} gets neither a login nor a message`, {
    skip: elsewhere === undefined && "this machine has no address but loopback",
  }, async (t) => {
    let logins = 0;
    const onAuth: SmtpOptions["onAuth"] = (_, __, done) => {
      logins += 1;
      done(null, { user: "me" });
    };
    const smtp = await startSmtp(t, { ...options, host: elsewhere ?? "", allowInsecureAuth: true, onAuth });
    const env = { SMTP_URL: `smtp://me:secret@${elsewhere}:${smtp.port}`, KEYSTEAD_MAIL_FROM: "a@b.example" };
    const { mail } = readCourierSettings(env);
    assert.ok(mail);
    await assert.rejects(createMailSender(mail)(newPlace().messageId, newMessage()), { error: "tls", isFinal: false });
    assert.deepEqual([smtp.received.length, logins], [0, 0]);
  });
}

test("settings become options: TLS is required unless the server is on this machine by its written address", () => {
  const options = (url: string) => {
    const { mail } = readCourierSettings({ SMTP_URL: url, KEYSTEAD_MAIL_FROM: "A B <a@b.example>, c@d.example" });
    assert.ok(mail);
    const { host, port, secure, requireTLS, auth, tls } = transportOptions(mail);
    return [host, port, secure, requireTLS, auth, tls.rejectUnauthorized];
  };
  const auth = { user: "me@x", pass: "p:w" };
  assert.deepEqual(options("smtp://me%40x:p%3Aw@mail.example"), ["mail.example", 587, false, true, auth, true]);
  assert.deepEqual(options("smtps://mail.example"), ["mail.example", 465, true, false, undefined, true]);
  assert.deepEqual(options("smtp://[::1]:2525"), ["::1", 2525, false, false, undefined, false]);
  assert.deepEqual(options("smtp://localhost.evil.example"), [
    "localhost.evil.example",
    587,
    false,
    true,
    undefined,
    true,
  ]);
  assert.deepEqual(options("smtp://127.evil.example"), ["127.evil.example", 587, false, true, undefined, true]);
});

test("the Message-ID has the domain of the sender", async (t) => {
  const { settings } = await startSmtp(t);
  const { messageId } = toMail(settings, "id", newMessage({ fromAddress: "login@acme.example" }));
  assert.equal(messageId, "<id@acme.example>");
});
