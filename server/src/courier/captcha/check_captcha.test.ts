/** What the courier makes of a captcha provider's answers. The provider is a real HTTP server. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type CaptchaProvider, startCaptchaProvider } from "../../../../core/test/captcha_provider.ts";
import type { CaptchaReply } from "../../frames/courier_messages.ts";
import { createFetchJson } from "../fetch/fetch_json.ts";
import { readCaptcha } from "./captcha_settings.ts";
import { createCaptchaCheck } from "./check_captcha.ts";

async function createRig(t: TestContext, changes: Partial<CaptchaProvider["settings"]> = {}) {
  const provider = await startCaptchaProvider();
  t.after(provider.close);
  const notes: string[] = [];
  const check = createCaptchaCheck({
    fetchJson: createFetchJson({ egress: "loopback" }),
    settings: { ...provider.settings, ...changes },
    note: (message) => notes.push(message),
  });
  return { provider, notes, check: (token: string, attempt = "") => check({ token, attempt }) };
}

const wordOf = (reply: CaptchaReply) => (reply.kind === "failed" ? reply.value.error : reply.kind);

test("a token that the provider gave counts once, or again for the same attempt", async (t) => {
  const { provider, check, notes } = await createRig(t);
  const token = provider.solve();
  assert.equal(wordOf(await check(token)), "passed");
  assert.equal(wordOf(await check(token)), "refused");
  const other = provider.solve();
  const attempt = "0f4c7c2e-6a52-8f6e-9d0e-7d5d3d8d1c11";
  assert.equal(wordOf(await check(other, attempt)), "passed");
  assert.equal(wordOf(await check(other, attempt)), "passed");
  assert.equal(wordOf(await check(other, attempt.replace(/^0/, "1"))), "refused");
  assert.equal(wordOf(await check("made up")), "refused");
  assert.deepEqual([...(provider.asked[0]?.keys() ?? [])], ["secret", "response"], "and no address of anybody");
  assert.deepEqual(notes, [], "what strangers send is nothing for the operator");
});

test("only `success: true` of the answer itself passes", async (t) => {
  const { provider, check } = await createRig(t);
  const answers: [body: string, word: string][] = [
    ['{"success":"true"}', "unreachable"],
    ['{"success":1}', "unreachable"],
    ["{}", "unreachable"],
    ["[true]", "unreachable"],
    ["null", "unreachable"],
    ['{"__proto__":{"success":true}}', "unreachable"],
    ['{"success":true,"success":false}', "unreachable"],
    ['{"success":false,"error-codes":["internal-error"]}', "unreachable"],
    ['{"success":false,"error-codes":["timeout-or-duplicate"]}', "refused"],
    ['{"success":false}', "refused"],
  ];
  for (const [body, word] of answers) {
    provider.answerNext({ body });
    assert.equal(wordOf(await check(provider.solve())), word, body);
  }
  provider.answerNext({ status: 302, body: '{"success":true}' });
  assert.equal(wordOf(await check(provider.solve())), "unreachable");
  provider.answerNext({ body: '{"success":true}', contentType: "text/html" });
  assert.equal(wordOf(await check(provider.solve())), "unreachable");
});

test("a provider that is away is named, and one that does not take our secret names the setting", async (t) => {
  const { provider, check, notes } = await createRig(t);
  await provider.close();
  const away = await check("token");
  assert.ok(away.kind === "failed" && away.value.error === "unreachable");
  assert.match(away.value.reason, /^captcha verification failed: the captcha provider 127\.0\.0\.1:\d+ cannot be/);
  assert.match(notes[0] ?? "", /^the captcha provider 127\.0\.0\.1:\d+ cannot be reached/);
  const wrong = await createRig(t, { secret: "another" });
  const refused = await wrong.check(wrong.provider.solve());
  assert.ok(refused.kind === "failed" && refused.value.error === "unconfigured");
  assert.match(refused.value.reason, /does not take the secret of KEYSTEAD_CAPTCHA$/);
  assert.ok(!JSON.stringify([refused, wrong.notes]).includes("another"));
  assert.equal(wrong.notes.length, 1);
});

test("without settings nothing is asked; with them, Turnstile unless told", async () => {
  const fetchJson = () => assert.fail("nothing may be fetched");
  const check = createCaptchaCheck({ fetchJson, settings: readCaptcha(undefined), note: () => undefined });
  assert.equal(wordOf(await check({ token: "x", attempt: "" })), "unconfigured");
  const turnstile = "https://challenges.cloudflare.com/turnstile/v0/siteverify";
  assert.deepEqual(readCaptcha('{"siteKey":"a","secret":"b"}'), { secret: "b", verifyUrl: turnstile });
});
