/** email_auth, init_otp_auth, otp_auth, init_user_email_recovery, recover_user: mail is read where the server writes it. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { decryptCredentialBundle, generateP256KeyPair } from "@turnkey/crypto";
import { type KeyPair, keyFrom } from "../key_pairs.ts";
import { messagesTo, messageTo } from "../mailbox.ts";
import { type AuthenticatorParams, authenticatorParams, createPasskey } from "../passkeys.ts";
import { invalid, notFound, policyRefusal, recoversOnly } from "../refusals.ts";
import { assertRefused, type Refusal } from "../wire.ts";
import type { Person } from "../world.ts";
import { lookFor } from "./codes_below.ts";
import { activityEntry, type BadInput, type Seen } from "./entry.ts";
import { exists, notOwnAct } from "./faults.ts";
import type { Fixture, Json } from "./fixture.ts";
import { byId, newUser } from "./people.ts";
import { badLifetimes, tooLong } from "./sessions.ts";

const reader = generateP256KeyPair();
const targetPublicKey = reader.publicKeyUncompressed;

const openBundle = (bundle: string): KeyPair =>
  keyFrom("API_KEY_CURVE_P256", new Uint8Array(Buffer.from(decryptCredentialBundle(bundle, reader.privateKey), "hex")));

type Feature = "EMAIL_AUTH" | "EMAIL_RECOVERY" | "OTP_EMAIL_AUTH" | "SMS_AUTH";

const turnOn = (fixture: Fixture, name: Feature, caller?: Person, at?: Fixture["place"]) =>
  fixture.done("set_organization_feature", { name: `FEATURE_NAME_${name}`, value: "" }, caller, at);

const isOff =
  (name: Feature) =>
  (_: Json, { sub }: Fixture): Refusal => ({
    status: 403,
    code: 7,
    errorCode: "REQUEST_NOT_AUTHORIZED",
    message: `request not authorized: FEATURE_NAME_${name} is off in organization ${sub.organizationId}; turn it on with set_organization_feature`,
  });

const newEmail = () => `${randomUUID()}@example.com`;

const mailLook = {
  sendFromEmailAddress: "login@example.com",
  sendFromEmailSenderName: "Example",
  replyToEmailAddress: "help@example.com",
};
const emailCustomization = {
  appName: "Example",
  logoUrl: "https://example.com/logo.png",
  magicLinkTemplate: "https://example.com/%s",
};

type Mailed = { email: string; targetPublicKey: string; expirationSeconds: string; emailCustomization: object } & Json;

/** Of a user of its own: a contact is sent few messages. */
async function mailed(fixture: Fixture, feature: Feature, more: object = {}): Promise<Mailed> {
  await turnOn(fixture, feature);
  const email = newEmail();
  await newUser(fixture, { userEmail: email });
  const { appName, ...ownWords } = emailCustomization;
  const look = { emailCustomization: { appName, ...(await lookFor(fixture, ownWords)) } };
  return { email, targetPublicKey, expirationSeconds: "3600", ...look, ...(await lookFor(fixture, mailLook)), ...more };
}

function userOf({ users }: Seen["after"], email: string): Json {
  return byId(users, "userEmail", email);
}

/** The one key that this user has now and did not have before. Everything else is as it was. */
function newKeyOf({ before, after }: Seen, userId: string): Json {
  const keys = (users: Json[]) => byId(users, "userId", userId).apiKeys as Json[];
  const known = keys(before.users).map(({ apiKeyId }) => apiKeyId);
  const added = keys(after.users).filter(({ apiKeyId }) => !known.includes(apiKeyId));
  assert.equal(added.length, 1);
  const others = (users: Json[]) => users.filter((user) => user.userId !== userId);
  assert.deepEqual({ ...after, users: others(after.users) }, { ...before, users: others(before.users) });
  return added[0];
}

/** Fails unless the mail has the key that the user has got. */
async function checkMailed(sent: Mailed, seen: Seen, type: string, subject: string): Promise<void> {
  const { credential, expirationSeconds } = newKeyOf(seen, userOf(seen.after, sent.email).userId);
  const message = await messageTo(sent.email);
  assert.deepEqual([message.channel, message.subject], ["email", subject]);
  assert.deepEqual(credential, { publicKey: openBundle(message.code).publicKey, type });
  assert.equal(expirationSeconds, "3600");
}

const badTarget: BadInput<Json> = {
  name: "a target that is no point",
  bend: (good) => ({ ...good, targetPublicKey: `04${"00".repeat(64)}` }),
  refusal: invalid("invalid target public key: expected the 66 or 130 hex digits of a point of P-256"),
  kept: "FAILED",
};

/** What both kinds of mailed keys are refused for. */
const badMails = (feature: Feature): BadInput<Json>[] => [
  ...badLifetimes,
  tooLong,
  badTarget,
  {
    name: "nobody's address",
    bend: (good) => ({ ...good, email: "nobody@example.com" }),
    refusal: (_, { place }) =>
      notFound(`no user of organization ${place.organizationId} has the e-mail address \`nobody@example.com\``),
    kept: "FAILED",
  },
  {
    name: "no address",
    bend: (good) => ({ ...good, email: "" }),
    refusal: invalid("missing parameter: email"),
    kept: "FAILED",
  },
  {
    name: "an address that is none",
    bend: (good) => ({ ...good, email: "nobody" }),
    refusal: invalid(/^invalid email address: `nobody`/, "INVALID_EMAIL"),
    kept: "FAILED",
  },
  {
    name: "an address of two users",
    async bend(good, fixture) {
      await newUser(fixture, { userEmail: good.email.toUpperCase() });
      return good;
    },
    refusal: ({ email }, { place }) => ({
      status: 400,
      code: 9,
      errorCode: "CREDENTIAL_CONFLICT",
      message: `several users of organization ${place.organizationId} have the e-mail address \`${email}\`; give each one of its own`,
    }),
    kept: "FAILED",
  },
  {
    name: "a link that runs a script",
    bend: (good) => ({ ...good, emailCustomization: { appName: "Example", magicLinkTemplate: "javascript:a(%s)" } }),
    refusal: invalid("the message cannot be sent: magicLinkTemplate is no address with %s in it"),
    kept: "FAILED",
  },
  { name: "a feature that is off", at: "sub", bend: (good) => good, refusal: isOff(feature), kept: "FAILED" },
];

/** The parent has it done in its sub-organization, and its members without a policy do not. */
async function actsBelow(fixture: Fixture, path: "email_auth" | "init_user_email_recovery", feature: Feature) {
  const { parent, sub } = fixture;
  await turnOn(fixture, feature, sub.root, sub);
  const email = newEmail();
  await fixture.done("update_user_email", { userId: sub.member.userId, userEmail: email }, sub.root, sub);
  const asked = { email, targetPublicKey, emailCustomization };
  assertRefused(await fixture.submit(path, asked, parent.member, sub), policyRefusal);
  assert.deepEqual(messagesTo(email), []);
  const { userId } = await fixture.done(path, asked, parent.root, sub);
  assert.equal(userId, sub.member.userId);
  return { person: { ...sub.member, p256: openBundle((await messageTo(email)).code) }, sub };
}

export const emailAuth = activityEntry<Mailed>({
  good: (fixture) => mailed(fixture, "EMAIL_AUTH", { apiKeyName: `Session ${randomUUID()}`, invalidateExisting: true }),
  required: ["email", "targetPublicKey", "emailCustomization", "emailCustomization.appName"],
  result({ email, apiKeyName }, { after }) {
    const { userId, apiKeys } = userOf(after, email);
    return { userId, apiKeyId: byId(apiKeys, "apiKeyName", apiKeyName).apiKeyId };
  },
  shows: (sent, seen) => checkMailed(sent, seen, "CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256", "Sign in to Example"),
  bad: badMails("EMAIL_AUTH"),
  foreign: [],
  neverWaits: true,
  openToParent: true,
  versions: {
    ACTIVITY_TYPE_EMAIL_AUTH: async (fixture) => {
      const { email } = await mailed(fixture, "EMAIL_AUTH");
      return { email, targetPublicKey };
    },
    ACTIVITY_TYPE_EMAIL_AUTH_V2: (fixture) => mailed(fixture, "EMAIL_AUTH"),
  },
  also: {
    "the parent has a session mailed to a user of its sub-organization": async (fixture) => {
      const { person, sub } = await actsBelow(fixture, "email_auth", "EMAIL_AUTH");
      assert.equal((await fixture.ask("whoami", {}, person, sub)).userId, sub.member.userId);
    },
  },
});

type CodeParams = { otpType: string; contact: string; appName: string } & Json;

async function codeParams(fixture: Fixture, more: object = {}): Promise<CodeParams> {
  await turnOn(fixture, "OTP_EMAIL_AUTH");
  const contact = newEmail();
  await newUser(fixture, { userEmail: contact });
  await lookFor(fixture, {});
  return { otpType: "OTP_TYPE_EMAIL", contact, appName: "Example", expirationSeconds: "600", ...more };
}

export const initOtpAuth = activityEntry<CodeParams>({
  good: async (fixture) =>
    codeParams(fixture, {
      otpLength: 6,
      alphanumeric: false,
      userIdentifier: randomUUID(),
      ...(await lookFor(fixture, {
        emailCustomization: { magicLinkTemplate: "https://example.com/%s" },
        smsCustomization: { template: "{{.OtpCode}}" },
        ...mailLook,
      })),
    }),
  required: ["otpType", "contact", "appName"],
  result(_, { result }) {
    assert.match(result.otpId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    return { otpId: result.otpId };
  },
  async shows({ contact }, { before, after }) {
    assert.deepEqual(after, before);
    assert.match((await messageTo(contact)).code, /^\d{6}$/);
  },
  bad: [
    {
      name: "nobody's address",
      bend: (good) => ({ ...good, contact: "nobody@example.com" }),
      refusal: (_, { place }) =>
        notFound(`no user of organization ${place.organizationId} has the e-mail address \`nobody@example.com\``),
      kept: "FAILED",
    },
    {
      name: "nobody's phone number",
      async bend(good, fixture) {
        await turnOn(fixture, "SMS_AUTH");
        return { ...good, otpType: "OTP_TYPE_SMS", contact: "+15551234567" };
      },
      refusal: (_, { place }) =>
        notFound(`no user of organization ${place.organizationId} has the phone number \`+15551234567\``),
      kept: "FAILED",
    },
    {
      name: "five characters",
      bend: (good) => ({ ...good, otpLength: 5 }),
      refusal: invalid("invalid otpLength: a code has 6 to 9 characters"),
      kept: "FAILED",
    },
    {
      name: "eleven minutes",
      bend: (good) => ({ ...good, expirationSeconds: "660" }),
      refusal: invalid("invalid expirationSeconds: a code lasts a whole number of seconds from 1 to 600"),
      kept: "FAILED",
    },
    {
      name: "a feature that is off",
      at: "sub",
      bend: (good) => good,
      refusal: isOff("OTP_EMAIL_AUTH"),
      kept: "FAILED",
    },
  ],
  foreign: [],
  neverWaits: true,
  openToParent: true,
  versions: {
    ACTIVITY_TYPE_INIT_OTP_AUTH: async (fixture) => {
      const { otpType, contact } = await codeParams(fixture);
      return { otpType, contact, emailCustomization: { appName: "Example" } };
    },
    ACTIVITY_TYPE_INIT_OTP_AUTH_V2: async (fixture) => {
      const { otpType, contact } = await codeParams(fixture);
      return { otpType, contact, otpLength: 7, alphanumeric: true };
    },
  },
});

type Answer = {
  otpId: string;
  otpCode: string;
  targetPublicKey: string;
  apiKeyName: string;
  expirationSeconds: string;
};

async function answer(fixture: Fixture): Promise<Answer> {
  const asked = await codeParams(fixture);
  const { otpId } = await fixture.done("init_otp_auth", asked);
  const { code: otpCode } = await messageTo(asked.contact);
  return { otpId, otpCode, targetPublicKey, apiKeyName: `Session ${randomUUID()}`, expirationSeconds: "3600" };
}

const wrongFor = (code: string) => `${code.startsWith("0") ? "1" : "0"}${code.slice(1)}`;

export const otpAuth = activityEntry<Answer>({
  good: answer,
  required: ["otpId", "otpCode", "targetPublicKey"],
  result({ apiKeyName }, { after, result }) {
    const { userId, apiKeys } = after.users.find((user) => byId(user.apiKeys, "apiKeyName", apiKeyName)) ?? {};
    const { apiKeyId } = byId(apiKeys, "apiKeyName", apiKeyName);
    return { userId, apiKeyId, credentialBundle: result.credentialBundle };
  },
  shows(_, seen) {
    const { credential, expirationSeconds } = newKeyOf(seen, seen.result.userId);
    const { publicKey } = openBundle(seen.result.credentialBundle);
    assert.deepEqual(credential, { publicKey, type: "CREDENTIAL_TYPE_OTP_AUTH_KEY_P256" });
    assert.equal(expirationSeconds, "3600");
  },
  bad: [
    ...badLifetimes,
    tooLong,
    badTarget,
    {
      name: "a wrong code",
      bend: (good) => ({ ...good, otpCode: wrongFor(good.otpCode) }),
      refusal: invalid("Invalid OTP code"),
      kept: "FAILED",
    },
    {
      name: "an answer to nothing",
      bend: (good) => ({ ...good, otpId: randomUUID() }),
      refusal: invalid("Invalid OTP code"),
      kept: "FAILED",
    },
    {
      name: "a code that proves a contact",
      async bend(good, fixture) {
        const contact = newEmail();
        const { otpId } = await fixture.done("init_otp", { otpType: "OTP_TYPE_EMAIL", contact, appName: "Example" });
        return { ...good, otpId };
      },
      refusal: invalid("this code was started with ACTIVITY_TYPE_INIT_OTP: answer it with ACTIVITY_TYPE_VERIFY_OTP"),
      kept: "FAILED",
    },
    {
      name: "a code of another organization",
      at: "sub",
      bend: (good) => good,
      refusal: invalid("Invalid OTP code"),
      kept: "FAILED",
    },
  ],
  foreign: [],
  neverWaits: true,
  openToParent: true,
  bearerField: "credentialBundle",
  bearerParams: ["otpCode"],
  needsMessage: true,
  also: {
    "a code is used up by the session that it brings": async (fixture) => {
      const good = await answer(fixture);
      await fixture.done("otp_auth", good);
      const used = invalid("Invalid OTP code: code was used already; request a new code");
      assertRefused(await fixture.submit("otp_auth", good), used);
    },
    "the parent signs a user of its sub-organization in": async (fixture) => {
      const { parent, sub } = fixture;
      await turnOn(fixture, "OTP_EMAIL_AUTH", sub.root, sub);
      const contact = newEmail();
      await fixture.done("update_user_email", { userId: sub.member.userId, userEmail: contact }, sub.root, sub);
      const asked = { otpType: "OTP_TYPE_EMAIL", contact, appName: "Example" };
      assertRefused(await fixture.submit("init_otp_auth", asked, parent.member, sub), policyRefusal);
      const { otpId } = await fixture.done("init_otp_auth", asked, parent.root, sub);
      const { code: otpCode } = await messageTo(contact);
      const { credentialBundle } = await fixture.done(
        "otp_auth",
        { otpId, otpCode, targetPublicKey },
        parent.root,
        sub,
      );
      const person = { ...sub.member, p256: openBundle(credentialBundle) };
      assert.equal((await fixture.ask("whoami", {}, person, sub)).userId, sub.member.userId);
    },
  },
});

export const initUserEmailRecovery = activityEntry<Mailed>({
  good: (fixture) => mailed(fixture, "EMAIL_RECOVERY"),
  required: ["email", "targetPublicKey", "emailCustomization", "emailCustomization.appName"],
  result: ({ email }, { after }) => ({ userId: userOf(after, email).userId }),
  shows: (sent, seen) =>
    checkMailed(sent, seen, "CREDENTIAL_TYPE_RECOVER_USER_KEY_P256", "Recover your Example account"),
  bad: badMails("EMAIL_RECOVERY"),
  foreign: [],
  neverWaits: true,
  openToParent: true,
  versions: {
    ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY: async (fixture) => {
      const { email } = await mailed(fixture, "EMAIL_RECOVERY");
      return { email, targetPublicKey };
    },
  },
  also: {
    "the parent has a recovery mailed to a user of its sub-organization, who recovers itself": async (fixture) => {
      const { person, sub } = await actsBelow(fixture, "init_user_email_recovery", "EMAIL_RECOVERY");
      assertRefused(
        await fixture.send({
          kind: "query",
          path: "list_users",
          key: person.p256,
          body: { organizationId: sub.organizationId },
        }),
        recoversOnly,
      );
      await fixture.done("recover_user", { userId: person.userId, authenticator: authenticatorParams() }, person, sub);
    },
  },
});

type Recovery = { userId: string; authenticator: AuthenticatorParams };

/** Who can send a recovery, by its user. */
const recovering = new Map<string, Person>();

/** A user with a recovery key, which is good for as long as any suite takes. */
export async function newRecovery(fixture: Fixture): Promise<Person> {
  const asked = await mailed(fixture, "EMAIL_RECOVERY", { expirationSeconds: "86400" });
  const { userId } = await fixture.done("init_user_email_recovery", asked);
  const { user } = await fixture.ask("get_user", { userId });
  const p256 = openBundle((await messageTo(asked.email)).code);
  const person = { ...fixture.place.member, userId, userName: user.userName, p256 };
  recovering.set(userId, person);
  return person;
}

export const recoverUser = activityEntry<Recovery>({
  good: async (fixture) => ({ userId: (await newRecovery(fixture)).userId, authenticator: authenticatorParams() }),
  callerOf: ({ userId }) => recovering.get(userId) ?? assert.fail("nobody recovers"),
  required: ["userId", "authenticator", "authenticator.challenge", "authenticator.attestation"],
  result: ({ userId }, { after }) => ({
    authenticatorId: byId(after.users, "userId", userId).authenticators.map(
      ({ authenticatorId }: Json) => authenticatorId,
    ),
  }),
  shows({ userId, authenticator }, { before, after }) {
    const others = (users: Json[]) => users.filter((user) => user.userId !== userId);
    assert.deepEqual({ ...after, users: others(after.users) }, { ...before, users: others(before.users) });
    const { authenticators, apiKeys } = byId(after.users, "userId", userId);
    assert.deepEqual(
      authenticators.map(({ credentialId }: Json) => credentialId),
      [authenticator.attestation.credentialId],
    );
    // The recovery key has ended.
    assert.deepEqual(
      apiKeys.map(({ credential }: Json) => credential.type),
      ["CREDENTIAL_TYPE_API_KEY_P256"],
    );
  },
  bad: [
    {
      name: "another user",
      bend: (good, { place }) => ({ ...good, userId: place.member.userId }),
      refusal: notOwnAct,
      kept: "REJECTED",
    },
    {
      name: "a passkey that somebody has",
      async bend(good, fixture) {
        const passkey = createPasskey();
        const userId = await newUser(fixture);
        const authenticators = [authenticatorParams(passkey)];
        await fixture.done("create_authenticators", { userId, authenticators });
        return { ...good, authenticator: authenticatorParams(passkey) };
      },
      refusal: exists(/already belongs to a user of this organization/),
      kept: "FAILED",
    },
    {
      name: "a registration of another challenge",
      bend: (good) => ({ ...good, authenticator: { ...good.authenticator, challenge: "other" } }),
      refusal: { status: 400, code: 3, message: /challenge/ },
      kept: "FAILED",
    },
  ],
  foreign: [],
  isOwnAct: true,
  needsMessage: true,
  also: {
    "nobody recovers with another credential, and a recovery key does nothing else": async (fixture) => {
      const person = await newRecovery(fixture);
      const { userId } = person;
      const parameters = { userId, authenticator: authenticatorParams() };
      assertRefused(await fixture.submit("recover_user", parameters), {
        status: 403,
        code: 7,
        errorCode: "REQUEST_NOT_AUTHORIZED",
        message:
          "request not authorized: recover_user is stamped with the key that init_user_email_recovery mails; with any other " +
          "credential use create_authenticators",
      });
      const authenticators = [parameters.authenticator];
      assertRefused(await fixture.submit("create_authenticators", { userId, authenticators }, person), recoversOnly);
      assert.equal((await fixture.ask("whoami", {}, person)).userId, userId);
      await fixture.done("recover_user", parameters, person);
      const again = { userId, authenticator: authenticatorParams() };
      assert.equal((await fixture.submit("recover_user", again, person)).status, 401);
    },
  },
});
