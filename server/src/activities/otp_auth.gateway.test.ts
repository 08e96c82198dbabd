/** `init_otp_auth` and `otp_auth` through gateway and signer. */
import assert from "node:assert/strict";
import type { GatewayRig } from "../../test/gateway_rig.ts";
import { bundleReader, createFamily, lastMessage, messagesOf } from "../../test/mail_rig.ts";
import { onBothDatabases, refusalOf } from "../../test/policy_rig.ts";
import { query } from "../../test/session_rig.ts";

type Keys = { apiKeys: { apiKeyId: string; apiKeyName: string; credential: { type: string } }[] };
type Session = { userId: string; apiKeyId: string; credentialBundle: string };
type Where = { organizationId: string };

async function start(rig: GatewayRig, within: Where, asked: object) {
  const { result } = await rig.submit(rig.root, "init_otp_auth", { appName: "App", ...asked }, within);
  const { otpId } = result.initOtpAuthResultV2 as { otpId: string };
  return { otpId, message: await lastMessage(rig, within.organizationId) };
}

const wrongFor = (code: string) => `${code.startsWith("0") ? "1" : "0"}${code.slice(1)}`;

onBothDatabases("a code signs its user in, once, and the session's key is sent encrypted", async (rig) => {
  const { organizationId, within, ann, email } = await createFamily(rig);
  const { otpId, message } = await start(rig, within, { otpType: "OTP_TYPE_EMAIL", contact: email.toLowerCase() });
  const { code, to, purpose, appName } = message;
  assert.deepEqual([to, purpose, appName], [email, "code", "App"]);
  assert.match(code, /^[0-9A-HJKMNP-TV-Z]{9}$/);
  const { targetPublicKey, open } = bundleReader();
  const asked = { otpId, targetPublicKey };
  const wrong = await refusalOf(rig.submit(rig.root, "otp_auth", { ...asked, otpCode: wrongFor(code) }, within));
  assert.deepEqual([wrong.code, wrong.message], [3, "Invalid OTP code"]);
  const body = rig.body("otp_auth", { ...asked, otpCode: code.toLowerCase() }, within);
  const { result, id } = await rig.send(rig.root, "otp_auth", body);
  const { userId, apiKeyId, credentialBundle, ...nothing } = result.otpAuthResult as Session;
  assert.deepEqual([userId, nothing], [ann.userId, {}]);
  const session = { ...ann, privateKey: open(credentialBundle) };
  const { apiKeys }: Keys = await query(rig, "get_api_keys", { organizationId, userId }, session);
  const key = apiKeys.find((each) => each.apiKeyId === apiKeyId);
  assert.equal(key?.credential.type, "CREDENTIAL_TYPE_OTP_AUTH_KEY_P256");
  assert.match(key?.apiKeyName ?? "", /^OTP Auth - /);
  const again = await rig.send(rig.root, "otp_auth", body);
  assert.deepEqual([again.id, again.result], [id, result], "the same body is the same sign-in");
  const used = rig.submit(rig.root, "otp_auth", { ...asked, otpCode: code }, within);
  await assert.rejects(used, { message: /^Invalid OTP code: code was used already/ });
});

onBothDatabases("three wrong answers are the end of a code; what is wrong otherwise costs none", async (rig) => {
  const { within, email } = await createFamily(rig);
  const { otpId, message } = await start(rig, within, { otpType: "OTP_TYPE_EMAIL", contact: email });
  const { targetPublicKey } = bundleReader();
  const answer = (changes: object) =>
    rig.submit(rig.root, "otp_auth", { otpId, otpCode: message.code, targetPublicKey, ...changes }, within);
  for (let time = 0; time < 4; time++) {
    assert.match((await refusalOf(answer({ targetPublicKey: "04" }))).message, /^invalid target public key/);
    assert.match((await refusalOf(answer({ expirationSeconds: "x" }))).message, /^invalid api key expiration/);
  }
  for (let time = 0; time < 3; time++) {
    assert.equal((await refusalOf(answer({ otpCode: wrongFor(message.code) }))).message, "Invalid OTP code");
  }
  await assert.rejects(answer({}), { message: /^Invalid OTP code: too many attempts/ });
});

onBothDatabases("a code that proves a contact signs nobody in, and one that signs in proves nothing", async (rig) => {
  const { organizationId, within, ann, email } = await createFamily(rig);
  const signIn = await start(rig, within, { otpType: "OTP_TYPE_EMAIL", contact: email });
  const asToken = { otpId: signIn.otpId, otpCode: signIn.message.code };
  const model = JSON.parse(Buffer.from(rig.body("verify_otp", asToken)).toString());
  const verify = Buffer.from(JSON.stringify({ ...model, organizationId, type: "ACTIVITY_TYPE_VERIFY_OTP" }));
  assert.equal(
    (await refusalOf(rig.send(ann, "verify_otp", verify))).message,
    "this code was started with ACTIVITY_TYPE_INIT_OTP_AUTH: answer it with ACTIVITY_TYPE_OTP_AUTH",
  );
  const asked = { otpType: "OTP_TYPE_EMAIL", contact: email, appName: "App" };
  await rig.submit(rig.root, "set_organization_feature", { name: "FEATURE_NAME_SUB_ORGANIZATION_CODES" });
  const { result } = await rig.submit(ann, "init_otp", asked, within);
  const { otpId } = result.initOtpResultV2 as { otpId: string };
  const { targetPublicKey } = bundleReader();
  const answered = await refusalOf(rig.submit(ann, "otp_auth", { otpId, otpCode: "000000", targetPublicKey }, within));
  assert.equal(
    answered.message,
    "this code was started with ACTIVITY_TYPE_INIT_OTP: answer it with ACTIVITY_TYPE_VERIFY_OTP",
  );
  assert.deepEqual(await rig.store.db.selectFrom("otp_attempts").selectAll().execute(), [], "no attempt was made");
});

onBothDatabases(
  "a code is over when its user's contact changes, its feature goes, or another organization asks",
  async (rig) => {
    const { within, ann, bob, email } = await createFamily(rig);
    const { targetPublicKey } = bundleReader();
    const { otpId, message } = await start(rig, within, { otpType: "OTP_TYPE_EMAIL", contact: email });
    const asked = { otpId, otpCode: message.code, targetPublicKey };
    const other = await createFamily(rig);
    assert.equal((await refusalOf(rig.submit(rig.root, "otp_auth", asked, other.within))).message, "Invalid OTP code");
    const name = "FEATURE_NAME_OTP_EMAIL_AUTH";
    await rig.submit(bob, "remove_organization_feature", { name }, within);
    assert.match(
      (await refusalOf(rig.submit(rig.root, "otp_auth", asked, within))).message,
      /FEATURE_NAME_OTP_EMAIL_AUTH is off in organization/,
    );
    await rig.submit(bob, "set_organization_feature", { name, value: "" }, within);
    await rig.submit(bob, "update_user_email", { userId: ann.userId, userEmail: "new@example.com" }, within);
    const moved = await refusalOf(rig.submit(rig.root, "otp_auth", asked, within));
    assert.match(moved.message, /^Invalid OTP code: the user no longer has this contact/);
  },
);

onBothDatabases("text messages have a feature of their own, and take no others", async (rig) => {
  const { within, bob } = await createFamily(rig);
  const asked = { otpType: "OTP_TYPE_SMS", contact: "+15551234567", otpLength: 6, alphanumeric: false };
  const { message } = await start(rig, within, asked);
  assert.deepEqual([message.channel, message.to], ["sms", "+15551234567"]);
  assert.match(message.code, /^[0-9]{6}$/);
  await rig.submit(bob, "remove_organization_feature", { name: "FEATURE_NAME_SMS_AUTH" }, within);
  await assert.rejects(start(rig, within, asked), /FEATURE_NAME_SMS_AUTH is off in organization/);
  const nobody = start(rig, within, { otpType: "OTP_TYPE_EMAIL", contact: "nobody@example.com" });
  await assert.rejects(nobody, /^Error: no user of organization \S+ has the e-mail address/);
  const whatsApp = start(rig, within, { otpType: "OTP_TYPE_WHATSAPP", contact: "+15551234567" });
  await assert.rejects(whatsApp, /^Error: OTP_TYPE_WHATSAPP is not offered/);
  assert.equal((await messagesOf(rig, within.organizationId)).length, 1);
});

for (const [version, key] of [
  ["", "initOtpAuthResult"],
  ["_V2", "initOtpAuthResultV2"],
] as const) {
  onBothDatabases(`INIT_OTP_AUTH${version} answers under ${key}`, async (rig) => {
    const { organizationId, email } = await createFamily(rig);
    const parameters = { otpType: "OTP_TYPE_EMAIL", contact: email };
    const model = JSON.parse(Buffer.from(rig.body("init_otp_auth", parameters)).toString());
    const sent = { ...model, organizationId, type: `ACTIVITY_TYPE_INIT_OTP_AUTH${version}` };
    const { result } = await rig.send(rig.root, "init_otp_auth", Buffer.from(JSON.stringify(sent)));
    assert.deepEqual(Object.keys(result), [key]);
    assert.equal((await lastMessage(rig, organizationId)).appName, "Sub");
  });
}
