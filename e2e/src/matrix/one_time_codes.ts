/** init_otp, verify_otp, list_email_events: codes are read where the server writes its messages, and answered with the published package. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { encryptOtpCodeToBundle, generateP256KeyPair } from "@turnkey/crypto";
import { patienceMs } from "../../../core/test/patience.ts";
import { messagesTo, messageTo } from "../mailbox.ts";
import { exhausted, invalid, unimplemented } from "../refusals.ts";
import { assertRefused } from "../wire.ts";
import { codesBelow, letSubOrganizationsSendCodes, lookFor } from "./codes_below.ts";
import { activityEntry, type BadInput, queryEntry } from "./entry.ts";
import { envelope, type Fixture, type Json } from "./fixture.ts";
import type { Place } from "./stage.ts";

type CodeParams = { otpType: string; contact: string; appName: string } & Record<string, unknown>;

const client = generateP256KeyPair();

/** Contacts are asked for three codes at most: everybody has one of its own. */
const newContact = () => `${randomUUID()}@example.com`;

function codeParams(more: object = {}): CodeParams {
  return { otpType: "OTP_TYPE_EMAIL", contact: newContact(), appName: "Example", ...more };
}

type BadCode = readonly [name: string, change: object, message: string | RegExp];

const badCodes: readonly BadCode[] = [
  ["a contact that is no address", { contact: "nobody" }, /^invalid email address: `nobody`/],
  ["no contact", { contact: "" }, "missing parameter: contact"],
  ["an address for a phone number", { otpType: "OTP_TYPE_SMS" }, /^invalid phone number/],
  ["five characters", { otpLength: 5 }, "invalid otpLength: a code has 6 to 9 characters"],
  ["ten characters", { otpLength: 10 }, "invalid otpLength: a code has 6 to 9 characters"],
  ...["0", "", "-1", "1.5", "601"].map(
    (expirationSeconds): BadCode => [
      `a lifetime of \`${expirationSeconds}\``,
      { expirationSeconds },
      "invalid expirationSeconds: a code lasts a whole number of seconds from 1 to 600",
    ],
  ),
  [
    "a sender that is two",
    { sendFromEmailAddress: "a@example.com,b@example.com" },
    "the message cannot be sent: the sender is not one address",
  ],
  [
    "replies to no address",
    { replyToEmailAddress: "example.com" },
    "the message cannot be sent: the address for replies is not one address",
  ],
  [
    "a logo without TLS",
    { emailCustomization: { logoUrl: "http://example.com/logo.png" } },
    "the message cannot be sent: the logo needs https",
  ],
  [
    "a link that has no place for the code",
    { emailCustomization: { magicLinkTemplate: "https://example.com/" } },
    "the message cannot be sent: magicLinkTemplate is no address with %s in it",
  ],
  [
    "variables that are no object",
    { emailCustomization: { templateVariables: "[]" } },
    "invalid templateVariables: must be a JSON object, as text",
  ],
  [
    "a text message without the code",
    { otpType: "OTP_TYPE_SMS", contact: "+15551234567", smsCustomization: { template: "Hello" } },
    "the message cannot be sent: smsCustomization.template has no {{.OtpCode}}",
  ],
];

const look = {
  emailCustomization: {
    logoUrl: "https://example.com/logo.png",
    magicLinkTemplate: "https://example.com/%s",
    templateVariables: "{}",
    templateId: "none",
  },
  smsCustomization: { template: "{{.OtpCode}}" },
  sendFromEmailAddress: "login@example.com",
  sendFromEmailSenderName: "Example",
  replyToEmailAddress: "help@example.com",
};

export const initOtp = activityEntry<CodeParams>({
  good: async (fixture) =>
    codeParams({
      otpLength: 6,
      alphanumeric: false,
      expirationSeconds: "600",
      userIdentifier: randomUUID(),
      ...(await lookFor(fixture, look)),
    }),
  required: ["otpType", "contact", "appName"],
  result(_, { result }, { place }) {
    assert.match(result.otpId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const { data, ...signed } = JSON.parse(result.otpEncryptionTargetBundle);
    assert.deepEqual(Object.keys(signed).sort(), ["dataSignature", "enclaveQuorumPublic", "version"]);
    const { targetPublic, ...whose } = JSON.parse(Buffer.from(data, "hex").toString());
    assert.match(targetPublic, /^04[0-9a-f]{128}$/);
    assert.deepEqual(whose, { organizationId: place.organizationId, userId: "" });
    return { otpId: result.otpId, otpEncryptionTargetBundle: result.otpEncryptionTargetBundle };
  },
  shows: (_, { before, after }) => assert.deepEqual(after, before),
  bad: [
    ...badCodes.map(
      ([name, change, message]): BadInput<CodeParams> => ({
        name,
        bend: () => codeParams(change),
        refusal: name === "a contact that is no address" ? invalid(message, "INVALID_EMAIL") : invalid(message),
        kept: "FAILED",
      }),
    ),
    {
      name: "WhatsApp",
      bend: () => codeParams({ otpType: "OTP_TYPE_WHATSAPP", contact: "+15551234567" }),
      refusal: unimplemented("OTP_TYPE_WHATSAPP is not offered; use OTP_TYPE_EMAIL or OTP_TYPE_SMS"),
      kept: "FAILED",
    },
    {
      name: "another kind of contact",
      bend: () => codeParams({ otpType: "OTP_TYPE_PIGEON" }),
      refusal: invalid(
        "invalid request body: field `parameters.otpType` must be one of OTP_TYPE_EMAIL, OTP_TYPE_SMS, OTP_TYPE_WHATSAPP",
      ),
    },
    {
      name: "a name with a line end",
      bend: () => codeParams({ appName: "a\r\nBcc: b@example.com" }),
      refusal: invalid(/^invalid request body: field `parameters.appName`/),
    },
  ],
  foreign: [],
  neverWaits: true,
  versions: {
    ACTIVITY_TYPE_INIT_OTP: () => ({
      otpType: "OTP_TYPE_EMAIL",
      contact: newContact(),
      emailCustomization: { appName: "Example" },
    }),
    ACTIVITY_TYPE_INIT_OTP_V2: () => codeParams({ otpType: "OTP_TYPE_SMS", contact: "+15551234567" }),
  },
  also: {
    "the code arrives once, and what is refused sends nothing": async (fixture) => {
      const [contact, refused] = [newContact(), newContact()];
      const bad = { contact: refused, otpLength: 5 };
      assertRefused(await fixture.submit("init_otp", codeParams(bad)), invalid(/^invalid otpLength/));
      const body = envelope("ACTIVITY_TYPE_INIT_OTP_V3", fixture.place.organizationId, codeParams({ contact }));
      for (let sent = 0; sent < 2; sent++) {
        await fixture.send({ kind: "submit", path: "init_otp", body, key: fixture.place.root.p256 });
      }
      const { channel, subject, text, code } = await messageTo(contact);
      assert.deepEqual([channel, subject], ["email", "Your verification code for Example"]);
      assert.match(code, /^[0-9A-HJKMNP-TV-Z]{9}$/);
      assert.ok(text.includes(code) && text.includes(`Sent for ${fixture.place.organizationName}.`));
      await eventsOf(fixture, contact, fixture.place);
      assert.equal(messagesTo(contact).length, 1);
      assert.deepEqual(messagesTo(refused), []);
    },
    "a contact has three live codes": async (fixture) => {
      const contact = newContact();
      for (const spelling of [contact, contact.toUpperCase(), contact]) {
        await fixture.done("init_otp", codeParams({ contact: spelling }));
      }
      assertRefused(await fixture.submit("init_otp", codeParams({ contact })), {
        ...exhausted(/^Max number of OTPs have been initiated/),
        errorCode: "RATE_LIMIT_EXCEEDED",
      });
      // However many sub-organizations ask.
      await letSubOrganizationsSendCodes(fixture);
      assertRefused(await fixture.submit("init_otp", codeParams({ contact }), fixture.sub.root, fixture.sub), {
        ...exhausted(/^Max number of OTPs have been initiated/),
        errorCode: "RATE_LIMIT_EXCEEDED",
      });
      await fixture.done("init_otp", codeParams(), fixture.sub.root, fixture.sub);
    },
    "users of a sub-organization need the parent's leave, and choose the application's name alone": async (fixture) => {
      const { parent, sub } = fixture;
      const feature = { name: codesBelow };
      await fixture.done("set_organization_feature", feature, parent.root, parent);
      await fixture.done("remove_organization_feature", feature, parent.root, parent);
      const contact = newContact();
      const ask = (more: object = {}) => fixture.submit("init_otp", codeParams({ contact, ...more }), sub.root, sub);
      assertRefused(await ask(), {
        status: 403,
        code: 7,
        errorCode: "REQUEST_NOT_AUTHORIZED",
        message: `request not authorized: ${codesBelow} is off in organization ${parent.organizationId}; turn it on with set_organization_feature`,
      });
      await letSubOrganizationsSendCodes(fixture);
      for (const [field, own] of Object.entries({
        "emailCustomization.magicLinkTemplate": {
          emailCustomization: { magicLinkTemplate: "https://evil.example/%s" },
        },
        "emailCustomization.logoUrl": { emailCustomization: { logoUrl: "https://evil.example/" } },
        "smsCustomization.template": { smsCustomization: { template: "{{.OtpCode}} https://evil.example" } },
        sendFromEmailAddress: { sendFromEmailAddress: "login@example.com" },
        sendFromEmailSenderName: { sendFromEmailSenderName: "Bank" },
        replyToEmailAddress: { replyToEmailAddress: "evil@example.com" },
      })) {
        const message = `invalid ${field}: users of a sub-organization choose only the appName of a message; send it with a key of the parent`;
        assertRefused(await ask(own), invalid(message));
      }
      assert.deepEqual(messagesTo(contact), []);
      await ask();
      assert.equal((await messageTo(contact)).channel, "email");
    },
  },
});

type Started = { otpId: string; otpEncryptionTargetBundle: string; code: string };

/** A code that lasts for as long as any may: suites that send every endpoint's body to every other take their time. */
async function startCode(fixture: Fixture, more: object = {}): Promise<Started> {
  await lookFor(fixture, {});
  const params = codeParams({ expirationSeconds: "600", ...more });
  const { otpId, otpEncryptionTargetBundle } = await fixture.done("init_otp", params);
  return { otpId, otpEncryptionTargetBundle, code: (await messageTo(params.contact)).code };
}

/** As the published client encrypts an answer, given the key that our server signs target bundles with. */
function encrypt({ otpEncryptionTargetBundle }: Started, typed: string): Promise<string> {
  const { enclaveQuorumPublic } = JSON.parse(otpEncryptionTargetBundle);
  return encryptOtpCodeToBundle(typed, otpEncryptionTargetBundle, client.publicKey, enclaveQuorumPublic);
}

type Answer = { otpId: string; encryptedOtpBundle: string; expirationSeconds: string };

async function answerTo(started: Started, typed = started.code): Promise<Answer> {
  return { otpId: started.otpId, encryptedOtpBundle: await encrypt(started, typed), expirationSeconds: "60" };
}

const wrongFor = ({ code }: Started) => (code.startsWith("0") ? "111111111" : "000000000");

export const verifyOtp = activityEntry<Answer>({
  good: async (fixture) => answerTo(await startCode(fixture)),
  required: ["otpId", "encryptedOtpBundle"],
  result(_, { result }, { place }) {
    const [header = "", payload = ""] = result.verificationToken.split(".");
    assert.equal(Buffer.from(header, "base64url").toString(), '{"typ":"JWT","alg":"ES256"}');
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    assert.deepEqual(
      [claims.organization_id, claims.verification_type, claims.public_key],
      [place.organizationId, "OTP_TYPE_EMAIL", client.publicKey],
    );
    assert.match(claims.exp, /^\d{13}$/);
    return { verificationToken: result.verificationToken };
  },
  shows: (_, { before, after }) => assert.deepEqual(after, before),
  bad: [
    {
      name: "a wrong code",
      bend: async (_, fixture) => {
        const started = await startCode(fixture);
        return answerTo(started, wrongFor(started));
      },
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
      name: "an answer that is no bundle",
      bend: (good) => ({ ...good, encryptedOtpBundle: "{}" }),
      refusal: invalid("Invalid OTP code"),
      kept: "FAILED",
    },
    ...["0", "", "86401"].map(
      (expirationSeconds): BadInput<Answer> => ({
        name: `a token that lasts \`${expirationSeconds}\``,
        bend: (good) => ({ ...good, expirationSeconds }),
        refusal: invalid(
          "invalid expirationSeconds: a verification token lasts a whole number of seconds from 1 to 86400",
        ),
        kept: "FAILED",
      }),
    ),
  ],
  foreign: [],
  neverWaits: true,
  needsMessage: true,
  bearerField: "verificationToken",
  bearerParams: ["otpCode", "encryptedOtpBundle"],
  versions: {
    async ACTIVITY_TYPE_VERIFY_OTP(fixture) {
      const { place } = fixture;
      const params = codeParams();
      const body = envelope("ACTIVITY_TYPE_INIT_OTP_V2", place.organizationId, params);
      const { json } = await fixture.send({ kind: "submit", path: "init_otp", body, key: place.root.p256 });
      const { otpId } = json.activity.result.initOtpResult;
      const { code } = await messageTo(params.contact);
      return { otpId, otpCode: code, publicKey: client.publicKey };
    },
  },
  also: {
    "a code is spent by one answer, and locked by three wrong ones": async (fixture) => {
      const [spent, locked] = [await startCode(fixture), await startCode(fixture)];
      await fixture.done("verify_otp", await answerTo(spent));
      assertRefused(
        await fixture.submit("verify_otp", await answerTo(spent)),
        invalid("Invalid OTP code: code was used already; request a new code"),
      );
      for (let attempt = 0; attempt < 3; attempt++) {
        const refused = await fixture.submit("verify_otp", await answerTo(locked, wrongFor(locked)));
        assertRefused(refused, invalid("Invalid OTP code"));
      }
      assertRefused(
        await fixture.submit("verify_otp", await answerTo(locked)),
        invalid("Invalid OTP code: too many attempts; request a new code"),
      );
    },
    "a code of the parent is none of its sub-organization's": async (fixture) => {
      const { sub } = fixture;
      const answer = await answerTo(await startCode(fixture));
      assertRefused(await fixture.submit("verify_otp", answer, sub.root, sub), invalid("Invalid OTP code"));
    },
  },
});

/** What became of mail to a contact, once something has. */
async function eventsOf(fixture: Fixture, email: string, place: Place): Promise<Json[]> {
  for (const deadline = Date.now() + patienceMs; ; ) {
    const { emailEvents } = await fixture.ask("list_email_events", { email }, place.root, place);
    if (emailEvents.length > 0) return emailEvents;
    assert.ok(Date.now() < deadline, "no event");
    await pause(50);
  }
}

export const listEmailEvents = queryEntry<{ email: string; eventType: string; paginationOptions: object }>({
  async good(fixture, place) {
    const contact = newContact();
    await letSubOrganizationsSendCodes(fixture);
    await fixture.done("init_otp", codeParams({ contact }), place.root, place);
    await eventsOf(fixture, contact, place);
    return { email: contact, eventType: "Send", paginationOptions: { limit: "10" } };
  },
  required: ["email"],
  answer({ email }, { emailEvents, ...nothing }) {
    assert.deepEqual(nothing, {});
    assert.equal(emailEvents.length, 1);
    const { id, organizationId, messageId, timestamp, createdAt, ...event } = emailEvents[0];
    assert.deepEqual(event, { eventType: "Send", fromAddress: "", toAddress: email, senderTenant: "", details: {} });
    for (const each of [id, organizationId, messageId])
      assert.match(each, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.ok(Math.abs(Number(timestamp) - Date.now()) < patienceMs && createdAt === timestamp);
  },
  bad: [
    {
      name: "no address",
      bend: (good) => ({ ...good, email: "nobody" }),
      refusal: invalid(/^invalid email address: `nobody`/, "INVALID_EMAIL"),
    },
    {
      name: "an empty address",
      bend: (good) => ({ ...good, email: "" }),
      refusal: invalid("invalid request body: field `email` must not have fewer than 1 characters"),
    },
    {
      name: "a page of nothing",
      bend: (good) => ({ ...good, paginationOptions: { limit: "0" } }),
      refusal: invalid("invalid pagination limit: `0` is not a number from 1 to 100"),
    },
    {
      name: "a cursor that is not there",
      bend: (good) => ({ ...good, paginationOptions: { after: "x" } }),
      refusal: invalid("invalid pagination cursor: there is no `x` in this list"),
    },
  ],
  foreign: [],
  also: {
    "events come newest first, in pages, and to no other address": async (fixture) => {
      const { place } = fixture;
      const contact = newContact();
      for (let sent = 0; sent < 3; sent++) await fixture.done("init_otp", codeParams({ contact }));
      let all: Json[] = [];
      for (const deadline = Date.now() + patienceMs; all.length < 3 && Date.now() < deadline; await pause(50)) {
        all = await eventsOf(fixture, contact, place);
      }
      assert.equal(all.length, 3);
      assert.deepEqual(
        all.map(({ id }) => id),
        all
          .map(({ id }) => id)
          .toSorted()
          .reverse(),
      );
      const page = async (paginationOptions: object) =>
        (await fixture.ask("list_email_events", { email: contact.toUpperCase(), paginationOptions })).emailEvents;
      assert.deepEqual(await page({ limit: "2" }), all.slice(0, 2));
      assert.deepEqual(await page({ limit: "2", before: all[1]?.id }), all.slice(2));
      assert.deepEqual(await page({ after: all[1]?.id }), all.slice(0, 1));
      const others = await fixture.ask("list_email_events", { email: newContact() });
      assert.deepEqual(others, { emailEvents: [] });
      const bounced = await fixture.ask("list_email_events", { email: contact, eventType: "Bounce" });
      assert.deepEqual(bounced, { emailEvents: [] });
    },
  },
});
