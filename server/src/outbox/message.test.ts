import assert from "node:assert/strict";
import { test } from "node:test";
import { checkMessage, fillLink, flawOf, type OutgoingMessage } from "./message.ts";

const message: OutgoingMessage = {
  channel: "email",
  to: "ann@example.com",
  purpose: "code",
  code: "7XK2M9QRT",
  appName: "Example",
  organizationName: "Acme",
  expiresAtMs: 1,
};

const good: Partial<OutgoingMessage>[] = [
  {},
  { to: "ann+tag@sub.example.com", appName: "Größe 👩‍💻 & Söhne <b>" },
  { channel: "sms", to: "+15551234567", smsTemplate: "Code:\n{{.OtpCode}}" },
  { linkTemplate: "https://app.example/login?c=%s" },
  { linkTemplate: "exampleapp://login/%s" },
  { logoUrl: "https://app.example/logo.png" },
  { organizationName: "" },
];

const bad: [name: string, changes: Partial<OutgoingMessage>][] = [
  ["a line end in the recipient", { to: "ann@example.com\r\nBcc: eve@example.com" }],
  ["two recipients", { to: "ann@example.com,eve@example.com" }],
  ["a recipient in brackets", { to: "Ann <ann@example.com>" }],
  ["a quoted recipient", { to: '"a b"@example.com' }],
  ["the Kelvin sign in a recipient's domain", { to: "ann@\u212aiosk.example" }],
  ["another alphabet in a sender's domain", { fromAddress: "login@b\u00fccher.example" }],
  ["a group of recipients", { to: "all:ann@example.com;" }],
  ["no recipient", { to: "" }],
  ["a phone number for mail", { to: "+15551234567" }],
  ["an address for a text message", { channel: "sms" }],
  ["a phone number with spaces", { channel: "sms", to: "+1 555 123 4567" }],
  ["a line end in the application name", { appName: "Example\nSubject: other" }],
  ["a NUL in the organization name", { organizationName: "Ac\0me" }],
  ["a line separator", { appName: "Exam\u2028ple" }],
  ["turned writing", { appName: "Exam\u202eple" }],
  ["a lone surrogate", { appName: "Exam\ud800ple" }],
  ["a line end in the sender's name", { fromName: "Acme\r\nX: y" }],
  ["two senders", { fromAddress: "a@b.c, d@e.f" }],
  ["two addresses for replies", { replyTo: "a@b.c d@e.f" }],
  ["no code", { code: "" }],
  ["a code with a line end", { code: "123\n456" }],
  ["a logo without TLS", { logoUrl: "http://app.example/logo.png" }],
  ["a logo in itself", { logoUrl: "data:image/png;base64,AAAA" }],
  ["a link without a place for the code", { linkTemplate: "https://app.example/" }],
  ["a script for a link", { linkTemplate: "javascript:alert('%s')" }],
  ["a script with slashes", { linkTemplate: "javascript://x/%0aalert('%s')" }],
  ["a code in the host of a link", { linkTemplate: "https://%s.evil.example/" }],
  ["a code in the port of a link", { linkTemplate: "https://app.example:%s/" }],
  ["a template without the code", { channel: "sms", to: "+15551234567", smsTemplate: "hello" }],
  ["a template with an escape sequence", { channel: "sms", to: "+15551234567", smsTemplate: "{{.OtpCode}}\u001b[2J" }],
  ["a name that is too long", { appName: "x".repeat(257) }],
];

test("messages that can be sent", () => {
  for (const changes of good) assert.equal(flawOf({ ...message, ...changes }), undefined, JSON.stringify(changes));
});

for (const [name, changes] of bad) {
  test(`refused, and not quoted: ${name}`, () => {
    assert.throws(
      () => checkMessage({ ...message, ...changes }),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, "invalid_argument");
        for (const value of Object.values(changes)) {
          if (String(value).length > 3) assert.ok(!error.message.includes(String(value)));
        }
        return true;
      },
    );
  });
}

test("a refusal names the field as activities have it", () => {
  const sms = { ...message, channel: "sms", to: "+15551234567" } as const;
  assert.equal(flawOf({ ...message, linkTemplate: "https://a.b/" }), "magicLinkTemplate is no address with %s in it");
  assert.equal(flawOf({ ...message, replyTo: "a@b\n" }), "replyToEmailAddress has control characters");
  assert.equal(flawOf({ ...sms, smsTemplate: "hello" }), "smsCustomization.template has no {{.OtpCode}}");
});

test("a code is escaped for the link it is put into", () => {
  assert.equal(fillLink("https://a.b/%s?again=%s", 'a/b&"<'), "https://a.b/a%2Fb%26%22%3C?again=a%2Fb%26%22%3C");
});
