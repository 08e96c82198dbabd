import assert from "node:assert/strict";
import { test } from "node:test";
import { newMessage } from "../../test/messages.ts";
import { renderMessage } from "./render.ts";

test("a mail has the code, both names and its life, as text and as HTML", () => {
  const { subject, text, html } = renderMessage(newMessage());
  assert.equal(subject, "Your verification code for Example");
  for (const part of [text, html]) {
    for (const wanted of ["7XK2M9QRT", "Example", "Acme", "5 minutes"]) assert.ok(part.includes(wanted), wanted);
  }
  assert.doesNotMatch(subject, /7XK2M9QRT/, "a locked telephone shows subjects");
});

test("nothing of an activity is read as HTML, wherever it stands", () => {
  const evil = `"><script>alert('x')</script>&`;
  const { html } = renderMessage(
    newMessage({
      appName: evil,
      organizationName: evil,
      code: evil,
      logoUrl: `https://a.b/?${evil}`,
      linkTemplate: `https://a.b/${evil}?%s`,
    }),
  );
  assert.doesNotMatch(html, /<script|alert\('x|\?"/);
  const tags = [...html.matchAll(/<\/?([a-z!]+)/g)].map(([, name]) => name);
  assert.deepEqual([...new Set(tags)].sort(), ["!doctype", "a", "b", "body", "html", "img", "p"]);
  assert.equal(
    html.match(/&lt;script&gt;/g)?.length,
    5,
    "name twice, organization, code and link are shown as they are",
  );
});

test("a link gets the code, escaped", () => {
  const { text, html } = renderMessage(newMessage({ code: "a b&c", linkTemplate: "https://app.example/?c=%s&x=1" }));
  assert.ok(text.includes("https://app.example/?c=a%20b%26c&x=1"));
  assert.ok(html.includes('href="https://app.example/?c=a%20b%26c&amp;x=1"'));
});

test("each purpose has its words", () => {
  assert.match(renderMessage(newMessage({ purpose: "login" })).subject, /^Sign in to Example$/);
  assert.match(renderMessage(newMessage({ purpose: "recovery" })).subject, /^Recover your Example account$/);
});

test("a text message has our words, or the template's with the code in it", () => {
  const sms = newMessage({ channel: "sms", to: "+15551234567" });
  assert.equal(renderMessage(sms).text, "Your verification code for Example: 7XK2M9QRT. It is valid for 5 minutes.");
  assert.equal(renderMessage({ ...sms, smsTemplate: "{{.OtpCode}}!" }).text, "7XK2M9QRT!");
  assert.equal(renderMessage({ ...sms, code: "$&$1", smsTemplate: "{{.OtpCode}}" }).text, "$&$1");
});

test("a life is said in days, hours or minutes, whichever measures it whole", () => {
  const sms = newMessage({ channel: "sms", to: "+15551234567" });
  const said = (minutes: number) => {
    const { text } = renderMessage({ ...sms, expiresAtMs: sms.createdAtMs + minutes * 60_000 });
    return text.slice(text.indexOf("valid for ") + "valid for ".length);
  };
  assert.deepEqual([1, 90, 60, 120, 1_440, 2_880].map(said), [
    "1 minute.",
    "90 minutes.",
    "1 hour.",
    "2 hours.",
    "1 day.",
    "2 days.",
  ]);
});
