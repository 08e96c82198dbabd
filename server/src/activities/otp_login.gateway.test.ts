/** Logins by verification tokens, through gateway and signer on both databases. */
import assert from "node:assert/strict";
import { makeSessionJwt } from "@keystead/core/crypto/session_jwt.ts";
import { type FaultCode, faultCodes } from "@keystead/core/fault.ts";
import { loginParams, newHome, provenEmail, unboundLogin, userIn, versionOf } from "../../test/code_login_rig.ts";
import type { GatewayRig } from "../../test/gateway_rig.ts";
import { addPolicy, onBothDatabases, refusalOf } from "../../test/policy_rig.ts";
import { claimsOf, newKey, query } from "../../test/session_rig.ts";
import { contactSignature, type HeldToken, heldToken, loginSignature } from "../../test/verification_tokens.ts";
import { openKeyring } from "../signer/secrets/keyring.ts";

const ann = { userEmail: "ann@example.com" };
const isCode = (code: FaultCode) => faultCodes[code];

function sessionOf({ result }: { result: Record<string, unknown> }) {
  return claimsOf((result.otpLoginResult as { session: string }).session);
}

onBothDatabases("the parent's server signs a child's user in; the session's key speaks for that user", async (rig) => {
  const { organizationId, people } = await newHome(rig, ann);
  const [{ userId }] = people;
  const parentBefore = await versionOf(rig, rig.organizationId);
  const held = heldToken(rig.signer, { contact: "Ann@Example.com" });
  const key = newKey();
  const activity = await rig.submit(rig.root, "otp_login", { ...loginParams(held, key) }, { organizationId });
  const claims = sessionOf(activity);
  assert.deepEqual(
    [claims.user_id, claims.organization_id, claims.public_key],
    [userId, organizationId, key.publicKey],
  );
  const session = { userId, userName: "", privateKey: key.privateKey };
  const me = await query<{ userId: string }>(rig, "whoami", { organizationId }, session);
  assert.equal(me.userId, userId);
  assert.deepEqual((await userIn(rig, organizationId, userId)).emailVerified, { by: "code" });
  assert.equal(await versionOf(rig, rig.organizationId), parentBefore);
});

onBothDatabases("a bound token is good for several logins, each signed for by its holder", async (rig) => {
  const { organizationId } = await newHome(rig, ann);
  const held = heldToken(rig.signer);
  for (let n = 0; n < 3; n++) await rig.submit(rig.root, "otp_login", loginParams(held), { organizationId });
  const body = rig.body("otp_login", loginParams(held), { organizationId });
  const first = await rig.send(rig.root, "otp_login", body);
  const version = await versionOf(rig, organizationId);
  assert.deepEqual((await rig.send(rig.root, "otp_login", body)).result, first.result);
  assert.equal(await versionOf(rig, organizationId), version);
});

onBothDatabases("an unbound token makes one login, however many ask at once", async (rig) => {
  const { organizationId } = await newHome(rig, ann);
  const held = heldToken(rig.signer, { unbound: true });
  const bodies = [1, 2, 3, 4].map(() => unboundLogin(rig, organizationId, held));
  const answers = await Promise.allSettled(bodies.map((body) => rig.send(rig.root, "otp_login", body)));
  assert.equal(answers.filter(({ status }) => status === "fulfilled").length, 1);
  const later = await refusalOf(rig.send(rig.root, "otp_login", unboundLogin(rig, organizationId, held)));
  assert.equal(later.code, isCode("invalid_argument"));
  assert.match(later.message, /^invalid verification token: it has made its login/);
  // Another one for the same contact is another login.
  const other = heldToken(rig.signer, { unbound: true });
  await rig.send(rig.root, "otp_login", unboundLogin(rig, organizationId, other));
});

onBothDatabases("a token that does not count is refused with its reason, and nothing changes", async (rig) => {
  const { organizationId } = await newHome(rig, ann);
  const { organizationId: elsewhere } = await newHome(rig, ann);
  const before = await versionOf(rig, organizationId);
  const held = heldToken(rig.signer);
  const other = heldToken(rig.signer);
  const { publicKey } = newKey();
  const good = loginParams(held, { ...newKey(), publicKey });
  const flipped = held.token.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  const { notarizer, otp } = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring);
  const claims = { expiresAtSeconds: 9e9, publicKey, sessionType: "s", userId: "u", organizationId };
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const oidc = `${encoded({ alg: "RS256", typ: "JWT", kid: "1" })}.${encoded({ iss: "https://a", sub: "s" })}.AAAA`;
  const cases: [what: string, params: object, message: RegExp][] = [
    ["altered", { ...good, verificationToken: flipped }, /token: (its signature does not verify|not base64url)/],
    ["no token", { ...good, verificationToken: "abc" }, /token: not three parts/],
    ["expired", loginParams(heldToken(rig.signer, { expiresAtMs: rig.signer.clock.nowMs })), /token: it has expired/],
    ["another child's", loginParams(heldToken(rig.signer, { organizationId: elsewhere })), /issued by another organ/],
    ["a session", { ...good, verificationToken: makeSessionJwt(notarizer, claims) }, /another kind of token/],
    ["a session by its own key", { ...good, verificationToken: makeSessionJwt(otp, claims) }, /another kind of token/],
    ["an identity provider's", { ...good, verificationToken: oidc }, /another kind of token/],
    ["signed by another key", { ...good, clientSignature: loginSignature(other, publicKey) }, /not that of the verif/],
    [
      "signed for another token",
      { ...good, clientSignature: loginSignature({ ...other, holder: held.holder }, publicKey) },
      /names another verification token/,
    ],
    [
      "signed for another session key",
      { ...good, clientSignature: loginSignature(held, newKey().publicKey) },
      /names another publicKey/,
    ],
    ["bound to no key", loginParams(heldToken(rig.signer, { unbound: true })), /token is bound to no key/],
  ];
  for (const [what, params, message] of cases) {
    const refusal = await refusalOf(rig.submit(rig.root, "otp_login", params, { organizationId }));
    assert.equal(refusal.code, isCode("invalid_argument"), what);
    assert.match(refusal.message, message, what);
  }
  const unsigned = await refusalOf(rig.send(rig.root, "otp_login", unboundLogin(rig, organizationId, held)));
  assert.match(unsigned.message, /^missing parameter: clientSignature/);
  assert.equal(await versionOf(rig, organizationId), before);
  await rig.submit(rig.root, "otp_login", good, { organizationId });
});

async function loginFails(rig: GatewayRig, organizationId: string, held: HeldToken) {
  const { code, errorCode } = (await refusalOf(
    rig.submit(rig.root, "otp_login", loginParams(held), { organizationId }),
  )) as { code: number; errorCode?: string };
  return { code, errorCode };
}

onBothDatabases("exactly one user must have the contact; who proved it comes before who wrote it down", async (rig) => {
  const notFound = { code: isCode("unauthenticated"), errorCode: "CREDENTIAL_NOT_FOUND" };
  const conflict = { code: isCode("unauthenticated"), errorCode: "CREDENTIAL_CONFLICT" };
  const held = heldToken(rig.signer);
  const { organizationId: nobody } = await newHome(rig, { userEmail: "bob@example.com" });
  assert.deepEqual(await loginFails(rig, nobody, held), notFound);
  const { organizationId, people } = await newHome(rig, ann, { userEmail: "ANN@example.com" });
  assert.deepEqual(await loginFails(rig, organizationId, held), conflict);
  const [first] = people;
  await rig.submit(first, "update_user_email", provenEmail(rig, first, ann.userEmail), { organizationId });
  const activity = await rig.submit(rig.root, "otp_login", loginParams(held), { organizationId });
  assert.equal(sessionOf(activity).user_id, first.userId);
  // A phone number is no e-mail address, whatever it looks like.
  const sms = heldToken(rig.signer, { verificationType: "OTP_TYPE_SMS", contact: "+15551234567" });
  assert.deepEqual(await loginFails(rig, organizationId, sms), notFound);
  // The Kelvin sign is no k, though Unicode lower-cases it to one.
  const { organizationId: ofKim } = await newHome(rig, { userEmail: "kim@example.com" });
  assert.deepEqual(await loginFails(rig, ofKim, heldToken(rig.signer, { contact: "\u212aim@example.com" })), notFound);
});

onBothDatabases("a child that wants no sign-in by codes is not opened by its parent either", async (rig) => {
  const { organizationId, people } = await newHome(rig, { ...ann, userPhoneNumber: "+15551234567" });
  const [owner] = people;
  await rig.submit(owner, "remove_organization_feature", { name: "FEATURE_NAME_OTP_EMAIL_AUTH" }, { organizationId });
  const refusal = await refusalOf(
    rig.submit(rig.root, "otp_login", loginParams(heldToken(rig.signer)), { organizationId }),
  );
  assert.equal(refusal.code, isCode("permission_denied"));
  assert.match(refusal.message, /FEATURE_NAME_OTP_EMAIL_AUTH is off/);
  const sms = heldToken(rig.signer, { verificationType: "OTP_TYPE_SMS", contact: "+15551234567" });
  await rig.submit(rig.root, "otp_login", loginParams(sms), { organizationId });
  assert.deepEqual((await userIn(rig, organizationId, owner.userId)).phoneVerified, { by: "code" });
});

onBothDatabases("whoever of the parent asks needs its policies, and in a child its own", async (rig) => {
  const { organizationId, people } = await newHome(rig, ann);
  const eve = await rig.newPerson("eve");
  const params = () => loginParams(heldToken(rig.signer));
  const refusal = await refusalOf(rig.submit(eve, "otp_login", params(), { organizationId }));
  assert.equal(refusal.code, isCode("permission_denied"));
  await addPolicy(rig, { condition: "activity.kind == 'OTP_LOGIN'" });
  await rig.submit(eve, "otp_login", params(), { organizationId });
  await rig.submit(people[0], "otp_login", params(), { organizationId });
});

onBothDatabases("a change of a contact takes its mark away, and other changes do not", async (rig) => {
  const { organizationId, people } = await newHome(rig, ann);
  const [owner] = people;
  const within = { organizationId };
  const { userId } = owner;
  const isVerified = async () => (await userIn(rig, organizationId, userId)).emailVerified !== undefined;
  await rig.submit(rig.root, "otp_login", loginParams(heldToken(rig.signer)), within);
  await rig.submit(owner, "update_user", { userId, userName: "Anna", userEmail: ann.userEmail }, within);
  await rig.submit(owner, "update_user_phone_number", { userId, userPhoneNumber: "+15551234567" }, within);
  assert.equal(await isVerified(), true);
  await rig.submit(owner, "update_user", { userId, userEmail: "else@example.com" }, within);
  assert.equal(await isVerified(), false);
  await rig.submit(owner, "update_user_email", { userId, ...ann }, within);
  assert.equal(await isVerified(), false, "it was not proved anew");
  const wrong = { userId, ...ann, verificationToken: heldToken(rig.signer, { contact: "else@example.com" }).token };
  const refusal = await refusalOf(rig.submit(owner, "update_user_email", wrong, within));
  assert.match(refusal.message, /it was not issued for this e-mail address/);
  const contact = "+15551234567";
  const sms = heldToken(rig.signer, { verificationType: "OTP_TYPE_SMS", contact });
  const clientSignature = contactSignature(sms, userId, contact);
  const proof = { userId, userPhoneNumber: contact, verificationToken: sms.token, clientSignature };
  await rig.submit(owner, "update_user_phone_number", proof, within);
  assert.deepEqual((await userIn(rig, organizationId, userId)).phoneVerified, { by: "code" });
});
