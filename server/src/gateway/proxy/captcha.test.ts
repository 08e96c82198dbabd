/** Captchas at the auth proxy, from its routes over the courier's code to a real HTTP server, on both databases. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type CaptchaProvider, startCaptchaProvider } from "../../../../core/test/captcha_provider.ts";
import { enableProxy, noCredentials, type ProxyRig } from "../../../test/auth_proxy_rig.ts";
import { captchaOf } from "../../../test/captcha_rig.ts";
import type { GatewayRig } from "../../../test/gateway_rig.ts";
import { registeredPasskey, testPasskey } from "../../../test/passkeys.ts";
import { onBothDatabases } from "../../../test/policy_rig.ts";
import { heldToken, signUpSignature } from "../../../test/verification_tokens.ts";
import { defaultBudgets } from "./address_budgets.ts";

type Rig = { provider: CaptchaProvider; proxy: ProxyRig };

async function withCaptcha(rig: GatewayRig, t: TestContext, budgets = defaultBudgets): Promise<Rig> {
  const provider = await startCaptchaProvider();
  t.after(provider.close);
  const proxy = await enableProxy(rig, { captcha: captchaOf(provider.settings), budgets });
  await rig.submit(rig.root, "update_auth_proxy_config", { captchaEnabled: true });
  return { provider, proxy };
}

const start = { otpType: "OTP_TYPE_EMAIL", contact: "ann@example.com" };
const passkeySignUp = (n: number) => ({
  ...noCredentials,
  authenticators: [registeredPasskey(testPasskey(n), "phone")],
});

const send = (proxy: ProxyRig, path: string, body: object, token?: string) =>
  proxy.call(path, body, {
    headers: { "x-auth-proxy-config-id": proxy.configId, ...(token !== undefined && { "x-captcha-token": token }) },
  });

/** Activities of the proxy, messages and sub-organizations: what must not come of a refusal. */
async function made({ store }: GatewayRig): Promise<number[]> {
  const rows = await Promise.all([
    store.db.selectFrom("activities").select("activity_id").where("type", "like", "%OTP%").execute(),
    store.db.selectFrom("outbox").selectAll().execute(),
    store.db.selectFrom("organizations").select("organization_id").execute(),
  ]);
  return rows.map(({ length }) => length);
}

onBothDatabases("with captchas on, codes and sign-ups need one each, and nothing else does", async (rig, t) => {
  const { provider, proxy } = await withCaptcha(rig, t);
  assert.deepEqual((await proxy.call("wallet_kit_client_params", "")).body, { turnstileSiteKey: "site" });
  const code = provider.solve();
  assert.equal((await send(proxy, "otp_init_v2", start, code)).status, 200);
  const again = await send(proxy, "otp_init_v2", start, code);
  assert.deepEqual([again.status, again.body.code], [403, 7], "a code for each captcha");
  const token = provider.solve();
  const first = await send(proxy, "signup_v2", passkeySignUp(21), token);
  assert.equal(first.status, 200, JSON.stringify(first.body));
  // A client that lost the answer sends the same request: same bytes, same captcha.
  assert.deepEqual((await send(proxy, "signup_v2", passkeySignUp(21), token)).body, first.body);
  assert.equal((await send(proxy, "signup_v2", passkeySignUp(22), token)).status, 403, "another sign-up, same captcha");
  // A code was answered: kits send no captcha then.
  const held = heldToken(rig.signer);
  const signed = { apiKeys: [], authenticators: [], oauthProviders: [], email: "ann@example.com" };
  const byCode = {
    ...noCredentials,
    userEmail: "ann@example.com",
    verificationToken: held.token,
    clientSignature: signUpSignature(held, "signupV2", signed),
  };
  const asked = provider.asked.length;
  assert.equal((await send(proxy, "signup_v2", byCode)).status, 200);
  assert.equal((await send(proxy, "account", { filterType: "EMAIL", filterValue: "ann@example.com" })).status, 200);
  assert.equal(provider.asked.length, asked);
});

onBothDatabases("without a captcha that counts nothing is made and nothing is sent", async (rig, t) => {
  const { provider, proxy } = await withCaptcha(rig, t);
  const before = await made(rig);
  const paths = ["otp_init", "otp_init_v2", "signup", "signup_v2"];
  const bodyOf = (path: string) => (path.startsWith("otp") ? start : passkeySignUp(23));
  for (const path of paths) {
    for (const [token, message] of [
      [undefined, /^captcha verification failed: the header X-Captcha-Token is missing$/],
      ["", /the header X-Captcha-Token is missing/],
      ["made up", /^captcha verification failed: it is not solved, used before, or too old$/],
      ["x".repeat(5_000), /the header X-Captcha-Token is too long/],
    ] as const) {
      const answer = await send(proxy, path, bodyOf(path), token);
      assert.deepEqual([answer.status, answer.body.code], [403, 7], path);
      assert.match(String(answer.body.message), message, path);
    }
  }
  const forged = { ...passkeySignUp(24), userEmail: "ann@example.com", verificationToken: "x" };
  assert.equal((await send(proxy, "signup_v2", forged)).status, 400, "a made-up token is no captcha");
  await provider.close();
  for (const path of paths) {
    const away = await send(proxy, path, bodyOf(path), "token");
    assert.deepEqual([away.status, away.body.code], [503, 14], path);
    assert.match(String(away.body.message), /the captcha provider 127\.0\.0\.1:\d+ cannot be reached/);
  }
  assert.deepEqual(await made(rig), before);
});

onBothDatabases("a captcha that can no longer be checked lets nobody in, and names the setting", async (rig, t) => {
  const { provider, proxy } = await withCaptcha(rig, t);
  const wrong = await enableProxy(rig, { captcha: captchaOf({ ...provider.settings, secret: "old" }) });
  const refused = await send(wrong, "otp_init_v2", start, provider.solve());
  assert.deepEqual([refused.status, refused.body.code], [400, 9]);
  assert.match(String(refused.body.message), /does not take the secret of KEYSTEAD_CAPTCHA/);
  const without = await enableProxy(rig);
  const unset = await send(without, "otp_init_v2", start, provider.solve());
  assert.deepEqual([unset.status, unset.body.code], [400, 9]);
  assert.match(String(unset.body.message), /KEYSTEAD_CAPTCHA/);
  assert.deepEqual((await without.call("wallet_kit_client_params", "")).body, {});
  assert.equal((await send(proxy, "otp_init_v2", start, provider.solve())).status, 200);
});

onBothDatabases("an address beyond its budget has the provider asked no more", async (rig, t) => {
  const { provider, proxy } = await withCaptcha(rig, t, { ...defaultBudgets, codes: 2, signUps: 1 });
  for (const status of [403, 403, 429]) {
    assert.equal((await send(proxy, "otp_init_v2", start, "made up")).status, status);
  }
  for (const status of [403, 429]) {
    assert.equal((await send(proxy, "signup_v2", passkeySignUp(25), "made up")).status, status);
  }
  assert.equal(provider.asked.length, 3);
});
