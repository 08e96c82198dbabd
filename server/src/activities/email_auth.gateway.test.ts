/** `email_auth` through gateway and signer: the session goes to the mailbox, and nowhere else. */
import assert from "node:assert/strict";
import { bundleReader, createFamily, emailCustomization, lastMessage, messagesOf } from "../../test/mail_rig.ts";
import { addPolicy, onBothDatabases, refusalOf } from "../../test/policy_rig.ts";
import { login, query } from "../../test/session_rig.ts";

type Keys = {
  apiKeys: { apiKeyId: string; apiKeyName: string; expirationSeconds: string; credential: { type: string } }[];
};

const type = "CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256";

onBothDatabases("a parent has a session mailed to a child's user, whose client alone can open it", async (rig) => {
  const { organizationId, within, ann, email } = await createFamily(rig);
  const { targetPublicKey, open } = bundleReader();
  const sender = { sendFromEmailAddress: "login@example.com", sendFromEmailSenderName: "Login" };
  const mail = { ...emailCustomization, magicLinkTemplate: "https://app.example.com/in#%s" };
  const asked = { email: email.toUpperCase(), targetPublicKey, emailCustomization: mail, ...sender };
  const { result } = await rig.submit(rig.root, "email_auth", asked, within);
  const { apiKeyId, ...others } = result.emailAuthResult as { apiKeyId: string };
  assert.deepEqual(others, { userId: ann.userId }, "neither bundle nor key is shown");
  const { code, createdAtMs, expiresAtMs, ...message } = await lastMessage(rig, organizationId);
  assert.equal(expiresAtMs - createdAtMs, 900_000);
  const { linkTemplate, fromAddress, fromName, ...words } = message;
  assert.deepEqual([linkTemplate, fromAddress, fromName], [mail.magicLinkTemplate, "login@example.com", "Login"]);
  // To the address as the user has it, whatever the request wrote.
  const expected = { channel: "email", to: email, purpose: "login", appName: "App", organizationName: "Sub" };
  assert.deepEqual(JSON.parse(JSON.stringify(words)), expected);
  const session = { ...ann, privateKey: open(code) };
  const { apiKeys }: Keys = await query(rig, "get_api_keys", { organizationId, userId: ann.userId }, session);
  const key = apiKeys.find((each) => each.apiKeyId === apiKeyId);
  assert.deepEqual([key?.credential.type, key?.expirationSeconds], [type, "900"]);
  assert.match(key?.apiKeyName ?? "", /^Email Auth - \d{4}-\d\d-\d\dT/);
  await rig.submit(session, "create_user_tag", { userTagName: "t", userIds: [] }, within);
});

onBothDatabases("a new one ends the others of its type when told so, and no login", async (rig) => {
  const { organizationId, within, ann, email } = await createFamily(rig);
  const { session: other } = await login(rig, ann, within);
  const { targetPublicKey, open } = bundleReader();
  const asked = { email, targetPublicKey, emailCustomization };
  await rig.submit(rig.root, "email_auth", asked, within);
  const first = { ...ann, privateKey: open((await lastMessage(rig, organizationId)).code) };
  rig.signer.clock.nowMs += 10;
  await rig.submit(rig.root, "email_auth", { ...asked, invalidateExisting: true, apiKeyName: "second" }, within);
  const second = { ...ann, privateKey: open((await lastMessage(rig, organizationId)).code) };
  const { apiKeys }: Keys = await query(rig, "get_api_keys", { organizationId, userId: ann.userId }, second);
  assert.deepEqual(apiKeys.map(({ credential }) => credential.type).sort(), [
    "CREDENTIAL_TYPE_API_KEY_P256",
    type,
    "CREDENTIAL_TYPE_LOGIN",
  ]);
  assert.ok(apiKeys.some(({ apiKeyName }) => apiKeyName === "second"));
  await assert.rejects(query(rig, "whoami", { organizationId }, first), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
  await query(rig, "whoami", { organizationId }, other);
});

onBothDatabases("the parent's policies decide, and its members without one are refused", async (rig) => {
  const { organizationId, within, bob, email } = await createFamily(rig);
  const eve = await rig.newPerson("eve");
  const { targetPublicKey } = bundleReader();
  const send = (person: typeof eve) =>
    rig.submit(person, "email_auth", { email, targetPublicKey, emailCustomization }, within);
  assert.equal((await refusalOf(send(eve))).code, 7);
  const condition = "activity.resource == 'AUTH' && activity.action == 'CREATE' && activity.kind == 'EMAIL_AUTH'";
  await addPolicy(rig, { condition, consensus: "approvers.count() >= 2" });
  assert.equal((await refusalOf(send(eve))).code, 7, "nothing waits in a child for votes of its parent");
  assert.deepEqual(await messagesOf(rig, organizationId), []);
  await addPolicy(rig, { condition });
  await send(eve);
  // The child's own quorum needs the parent's leave.
  assert.match((await refusalOf(send(bob))).message, /FEATURE_NAME_SUB_ORGANIZATION_CODES is off/);
  await rig.submit(rig.root, "set_organization_feature", { name: "FEATURE_NAME_SUB_ORGANIZATION_CODES" });
  await send(bob);
  assert.equal((await messagesOf(rig, organizationId)).length, 2);
});

onBothDatabases("what is not right about the request sends nothing and makes nothing", async (rig) => {
  const { organizationId, within, ann, bob, email } = await createFamily(rig);
  const { targetPublicKey } = bundleReader();
  const asked = { email, targetPublicKey, emailCustomization };
  const refusal = async (changes: object) =>
    (await refusalOf(rig.submit(rig.root, "email_auth", { ...asked, ...changes }, within))).message;
  assert.match(
    await refusal({ email: "nobody@example.com" }),
    /^no user of organization \S+ has the e-mail address `nobody@/,
  );
  assert.equal(await refusal({ email: "" }), "missing parameter: email");
  assert.match(await refusal({ email: "ann" }), /^invalid email address/);
  assert.match(await refusal({ targetPublicKey: "04" }), /^invalid target public key/);
  assert.match(await refusal({ expirationSeconds: "0" }), /^invalid api key expiration/);
  const badLink = { ...emailCustomization, magicLinkTemplate: "javascript:alert(%s)" };
  assert.match(await refusal({ emailCustomization: badLink }), /^the message cannot be sent: magicLinkTemplate/);
  await rig.submit(bob, "update_user_email", { userId: bob.userId, userEmail: email.toLowerCase() }, within);
  assert.match(await refusal({}), /^several users of organization \S+ have the e-mail address/);
  await rig.submit(bob, "update_user_email", { userId: bob.userId, userEmail: "" }, within);
  await rig.submit(bob, "remove_organization_feature", { name: "FEATURE_NAME_EMAIL_AUTH" }, within);
  assert.equal(
    await refusal({}),
    `request not authorized: FEATURE_NAME_EMAIL_AUTH is off in organization ${organizationId}; turn it on with set_organization_feature`,
  );
  assert.deepEqual(await messagesOf(rig, organizationId), []);
  const { apiKeys }: Keys = await query(rig, "get_api_keys", { organizationId, userId: ann.userId }, ann);
  assert.equal(apiKeys.length, 1);
});

onBothDatabases("one mailbox gets three at once, however they are asked for", async (rig) => {
  const { organizationId, within, email } = await createFamily(rig);
  const { targetPublicKey } = bundleReader();
  const asked = { email, targetPublicKey, emailCustomization };
  await rig.submit(rig.root, "email_auth", asked, within);
  await rig.submit(rig.root, "init_user_email_recovery", asked, within);
  await rig.submit(rig.root, "init_otp_auth", { otpType: "OTP_TYPE_EMAIL", contact: email, appName: "App" }, within);
  const refused = await refusalOf(rig.submit(rig.root, "email_auth", asked, within));
  assert.deepEqual([refused.code, refused.message.startsWith("Max number of OTPs have been initiated")], [8, true]);
  assert.equal((await messagesOf(rig, organizationId)).length, 3);
});

onBothDatabases("a top-level organization has it off until its quorum turns it on, for its own users", async (rig) => {
  const { organizationId, root } = rig;
  await rig.submit(root, "update_user_email", { userId: root.userId, userEmail: "root@example.com" });
  const { targetPublicKey, open } = bundleReader();
  const asked = { email: "root@example.com", targetPublicKey, emailCustomization };
  assert.match(
    (await refusalOf(rig.submit(root, "email_auth", asked))).message,
    /FEATURE_NAME_EMAIL_AUTH is off in organization/,
  );
  await rig.submit(root, "set_organization_feature", { name: "FEATURE_NAME_EMAIL_AUTH", value: "" });
  await rig.submit(root, "email_auth", asked);
  const session = { ...root, privateKey: open((await lastMessage(rig, organizationId)).code) };
  await query(rig, "whoami", { organizationId }, session);
});

for (const version of ["", "_V2"] as const) {
  onBothDatabases(`EMAIL_AUTH${version} needs no name of an application`, async (rig) => {
    const { organizationId, ann, email } = await createFamily(rig);
    const { targetPublicKey, open } = bundleReader();
    const model = JSON.parse(Buffer.from(rig.body("email_auth", { email, targetPublicKey })).toString());
    const sent = { ...model, organizationId, type: `ACTIVITY_TYPE_EMAIL_AUTH${version}` };
    const { result } = await rig.send(rig.root, "email_auth", Buffer.from(JSON.stringify(sent)));
    assert.deepEqual(Object.keys(result.emailAuthResult as object).sort(), ["apiKeyId", "userId"]);
    const { code, appName } = await lastMessage(rig, organizationId);
    assert.equal(appName, "Sub");
    await query(rig, "whoami", { organizationId }, { ...ann, privateKey: open(code) });
  });
}
