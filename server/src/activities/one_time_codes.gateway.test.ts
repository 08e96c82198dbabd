/** `init_otp` and `verify_otp` through gateway and signer, on both databases. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { Fault, faultCodes } from "@keystead/core/fault.ts";
import { verifyOtpVerificationToken } from "@turnkey/crypto";
import { createGatewayRig, type GatewayRig, Refused } from "../../test/gateway_rig.ts";
import {
  bodyOf,
  codeParams,
  encryptAnswer,
  initTypes,
  messageOf,
  sendBody,
  sendType,
  startCode,
  startedOf,
  tokenOf,
} from "../../test/one_time_codes.ts";
import { dialects } from "../../test/open_test_store.ts";
import { newKey, query } from "../../test/session_rig.ts";
import { openKeyring } from "../signer/secrets/keyring.ts";
import { findVersion } from "../store/organizations.ts";

const verifyV1 = "ACTIVITY_TYPE_VERIFY_OTP";
const wrong = { message: "Invalid OTP code" };
const tooMany = { message: /^Max number of OTPs have been initiated/ };

function claimsOf(token: string): Record<string, string> {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
}

/** The failure as the wire has it. */
async function failureOf(sent: Promise<unknown>) {
  const error = await sent.then(
    () => assert.fail("it was done"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof Fault)
    return { code: faultCodes[error.code], message: error.message, errorCode: error.errorCode };
  assert.ok(error instanceof Refused, String(error));
  const { code, message, errorCode } = error.failure;
  return { code, message, errorCode };
}

const countOf = async ({ store }: GatewayRig, table: "otp_codes" | "otp_attempts" | "outbox" | "activities") =>
  (await store.db.selectFrom(table).select("organization_id").execute()).length;

for (const dialect of dialects) {
  describe(`one-time codes on ${dialect}`, () => {
    test("a code comes by message, its encrypted answer gets a token, and the organization stays as it is", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const before = await findVersion(rig.store, rig.organizationId);
      const started = await startCode(rig);
      assert.match(started.code, /^[0-9A-HJKMNP-TV-Z]{9}$/);
      const { publicKey } = newKey();
      const encryptedOtpBundle = await encryptAnswer(rig, started, started.code.toLowerCase(), publicKey);
      const { otpId } = started;
      const body = rig.body("verify_otp", { otpId, encryptedOtpBundle });
      const activity = await rig.send(rig.root, "verify_otp", body);
      const token = tokenOf(activity);
      const { otp } = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring).publicKeys;
      assert.ok(await verifyOtpVerificationToken(token, otp), "the published client verifies it under our key");
      const { id, exp, ...claims } = claimsOf(token);
      assert.match(id ?? "", /^[0-9a-f-]{36}$/);
      assert.equal(exp, String(rig.signer.clock.nowMs + 3_600_000));
      assert.deepEqual(claims, {
        organization_id: rig.organizationId,
        verification_type: "OTP_TYPE_EMAIL",
        contact: "user@example.com",
        public_key: publicKey,
      });
      assert.deepEqual(await rig.send(rig.root, "verify_otp", body), activity, "the same bytes again");
      assert.equal(await findVersion(rig.store, rig.organizationId), before);
      const again = { otpId, encryptedOtpBundle, expirationSeconds: "60" };
      assert.deepEqual(await failureOf(rig.submit(rig.root, "verify_otp", again)), {
        code: 3,
        message: "Invalid OTP code: code was used already; request a new code",
        errorCode: "",
      });
    });

    test("the token is given to whoever sends the same stamped bytes, and to nobody else", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const bob = await rig.newPerson("bob");
      const { otpId, code } = await startCode(rig, codeParams(), { type: "ACTIVITY_TYPE_INIT_OTP_V2" });
      const body = bodyOf(rig, verifyV1, { otpId, otpCode: code });
      const activity = await sendBody(rig, body);
      const token = tokenOf(activity);
      assert.deepEqual(Object.keys(activity.result.verifyOtpResult as object), ["verificationToken"]);
      assert.equal(claimsOf(token).public_key, undefined);
      assert.equal(tokenOf(await sendBody(rig, body, { by: bob })), "");
      const seen = (by: typeof bob) =>
        query<{ activity: typeof activity }>(
          rig,
          "get_activity",
          { organizationId: rig.organizationId, activityId: activity.id },
          by,
        );
      assert.equal(tokenOf((await seen(bob)).activity), "");
      assert.equal(tokenOf((await seen(rig.root)).activity), "");
      assert.equal(tokenOf(await sendBody(rig, body)), token);
      const rows = JSON.stringify(await rig.store.db.selectFrom("activities").select(["result"]).execute());
      assert.ok(!rows.includes(token), "no row holds it");
    });

    test("every version answers in its own keys, and V1 and V2 answers are not mixed", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const { publicKey } = newKey();
      for (const type of initTypes) {
        const isEncrypted = type.endsWith("V3");
        const { appName: _, ...first } = codeParams(`${type.slice(-2).toLowerCase()}@example.com`);
        const parameters = type.endsWith("OTP") ? first : { ...first, appName: "Example" };
        const started = await startCode(rig, parameters, { type });
        assert.deepEqual("otpEncryptionTargetBundle" in started, isEncrypted, type);
        const { otpId, code } = started;
        const plain = () => sendType(rig, verifyV1, { otpId, otpCode: code, publicKey, expirationSeconds: "86400" });
        if (isEncrypted) {
          assert.match((await failureOf(plain())).message, /answer it with ACTIVITY_TYPE_VERIFY_OTP_V2/);
          continue;
        }
        const encrypted = rig.submit(rig.root, "verify_otp", { otpId, encryptedOtpBundle: "{}" });
        assert.match((await failureOf(encrypted)).message, /has no target bundle/);
        const claims = claimsOf(tokenOf(await plain()));
        assert.deepEqual(
          [claims.public_key, claims.exp],
          [publicKey, String(rig.signer.clock.nowMs + 86_400_000)],
          "a wrong form costs no attempt",
        );
      }
      // Fields of other versions are as unknown as any.
      const bent = { ...codeParams("bent@example.com"), isEncrypted: false, otpEncryptionTargetBundle: "" };
      assert.ok(startedOf(await rig.submit(rig.root, "init_otp", { ...bent })).otpEncryptionTargetBundle);
    });

    test("three answers are compared; the code is locked then, also for the right one", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const { publicKey } = newKey();
      const started = await startCode(rig);
      const { otpId } = started;
      const answer = async (typed: string) =>
        rig.submit(rig.root, "verify_otp", {
          otpId,
          encryptedOtpBundle: await encryptAnswer(rig, started, typed, publicKey),
        });
      const guess = started.code.startsWith("0") ? "100000000" : "000000000";
      for (let attempt = 0; attempt < 3; attempt++) {
        assert.deepEqual(await failureOf(answer(guess)), { code: 3, message: "Invalid OTP code", errorCode: "" });
      }
      assert.match((await failureOf(answer(started.code))).message, /^Invalid OTP code: too many attempts/);
    });

    test("an answer after the code's end is refused", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const short = codeParams("user@example.com", { expirationSeconds: "60", otpLength: 6, alphanumeric: false });
      const started = await startCode(rig, short);
      assert.match(started.code, /^[0-9]{6}$/);
      rig.signer.clock.nowMs += 60_001;
      const { publicKey } = newKey();
      const encryptedOtpBundle = await encryptAnswer(rig, started, started.code, publicKey);
      const late = rig.submit(rig.root, "verify_otp", { otpId: started.otpId, encryptedOtpBundle });
      assert.match((await failureOf(late)).message, /^Invalid OTP code: code expired/);
    });

    test("a contact has three live codes at most, and a fourth is refused in the words that clients look for", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      for (const contact of ["user@example.com", "USER@example.com", "user@EXAMPLE.com"]) {
        await rig.submit(rig.root, "init_otp", codeParams(contact));
      }
      const fourth = await failureOf(rig.submit(rig.root, "init_otp", codeParams()));
      assert.match(fourth.message, tooMany.message);
      assert.deepEqual([fourth.code, fourth.errorCode], [8, "RATE_LIMIT_EXCEEDED"]);
      const identifier = { userIdentifier: "10.0.0.1" };
      for (const name of ["a", "b", "c"]) {
        await rig.submit(rig.root, "init_otp", codeParams(`${name}@example.com`, identifier));
      }
      await assert.rejects(rig.submit(rig.root, "init_otp", codeParams("d@example.com", identifier)), tooMany);
      assert.equal(await countOf(rig, "outbox"), 6);
    });

    test("the same body is the same code, and one message", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const body = rig.body("init_otp", codeParams());
      const first = await rig.send(rig.root, "init_otp", body);
      assert.deepEqual(await rig.send(rig.root, "init_otp", body), first);
      assert.deepEqual([await countOf(rig, "outbox"), await countOf(rig, "otp_codes")], [1, 1]);
    });

    test("the message says what the parameters say, and nothing of mail goes into a text message", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const mail = {
        sendFromEmailAddress: "login@example.com",
        sendFromEmailSenderName: "Example login",
        replyToEmailAddress: "help@example.com",
        emailCustomization: {
          logoUrl: "https://example.com/logo.png",
          magicLinkTemplate: "https://example.com/login?code=%s",
          templateVariables: '{"name":"Ann"}',
          templateId: "any",
        },
      };
      const smsCustomization = { template: "{{.OtpCode}} is your code" };
      const activities = [
        await rig.submit(rig.root, "init_otp", codeParams("user@example.com", { ...mail, smsCustomization })),
        await rig.submit(rig.root, "init_otp", codeParams("+15551234567", { ...mail, smsCustomization })),
      ];
      const { appName: _, ...first } = codeParams("first@example.com");
      const nameless = { ...first, sendFromEmailSenderName: "Nobody" };
      activities.push(await sendType(rig, "ACTIVITY_TYPE_INIT_OTP", nameless));
      const opened = await Promise.all(activities.map((activity) => messageOf(rig, activity)));
      const given = opened.map((message) =>
        Object.fromEntries(Object.entries(message).filter(([, value]) => value !== undefined)),
      );
      const times = given.map(({ createdAtMs, expiresAtMs }) => Number(expiresAtMs) - Number(createdAtMs));
      assert.deepEqual(times, [300_000, 300_000, 300_000]);
      const words = given.map(({ createdAtMs: _, expiresAtMs: __, code: ___, ...message }) => message);
      const common = { purpose: "code", organizationName: "First" };
      assert.deepEqual(words, [
        {
          ...common,
          channel: "email",
          to: "user@example.com",
          appName: "Example",
          fromAddress: "login@example.com",
          fromName: "Example login",
          replyTo: "help@example.com",
          logoUrl: "https://example.com/logo.png",
          linkTemplate: "https://example.com/login?code=%s",
        },
        {
          ...common,
          channel: "sms",
          to: "+15551234567",
          appName: "Example",
          smsTemplate: "{{.OtpCode}} is your code",
        },
        { ...common, channel: "email", to: "first@example.com", appName: "First" },
      ]);
    });

    test("bad input leaves a failed row and nothing else, and does not count as a code", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const before = await countOf(rig, "activities");
      const bad: readonly [more: object, code: number, message: RegExp][] = [
        [{ contact: "nobody" }, 3, /^invalid email address/],
        [{ contact: "" }, 3, /^missing parameter: contact/],
        [{ otpType: "OTP_TYPE_SMS" }, 3, /^invalid phone number/],
        [{ otpType: "OTP_TYPE_WHATSAPP" }, 12, /^OTP_TYPE_WHATSAPP is not offered/],
        [{ otpLength: 5 }, 3, /^invalid otpLength/],
        [{ expirationSeconds: "601" }, 3, /^invalid expirationSeconds/],
        [
          { replyToEmailAddress: "a@b\r\nBcc: c@d" },
          3,
          /^the message cannot be sent: replyToEmailAddress has control characters/,
        ],
        [{ sendFromEmailAddress: "a@example.com, b@example.com" }, 3, /^the message cannot be sent: the sender/],
        [{ emailCustomization: { logoUrl: "http://example.com/a.png" } }, 3, /the logo needs https/],
        [
          { emailCustomization: { magicLinkTemplate: "https://%s.example.com/" } },
          3,
          /magicLinkTemplate is no address/,
        ],
        [{ emailCustomization: { magicLinkTemplate: "javascript://x/%s" } }, 3, /magicLinkTemplate is no address/],
        [{ emailCustomization: { templateVariables: "[1]" } }, 3, /^invalid templateVariables/],
        [{ emailCustomization: { templateVariables: "{" } }, 3, /^invalid templateVariables/],
      ];
      for (const [more, code, message] of bad) {
        const failure = await failureOf(rig.submit(rig.root, "init_otp", codeParams("user@example.com", more)));
        assert.match(failure.message, message);
        assert.equal(failure.code, code, failure.message);
      }
      const sms = codeParams("+15551234567", { smsCustomization: { template: "no code" } });
      assert.match((await failureOf(rig.submit(rig.root, "init_otp", sms))).message, /has no \{\{\.OtpCode\}\}/);
      assert.deepEqual(
        [await countOf(rig, "outbox"), await countOf(rig, "otp_codes"), await countOf(rig, "activities")],
        [0, 0, before + bad.length + 1],
      );
      for (let codes = 0; codes < 3; codes++) await rig.submit(rig.root, "init_otp", codeParams());
    });

    test("what is no answer to a code of this organization is refused like a wrong one, and claims nothing", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const child = await rig.newSubOrganization(1, ["ann"]);
      const [ann] = child.people;
      assert.ok(ann);
      const { organizationId } = child;
      const type = "ACTIVITY_TYPE_INIT_OTP_V2";
      const { otpId, code } = await startCode(rig, codeParams(), { type });
      for (const unknown of [randomUUID(), "x", otpId.toUpperCase()]) {
        await assert.rejects(sendType(rig, verifyV1, { otpId: unknown, otpCode: code }), wrong);
      }
      await assert.rejects(sendType(rig, verifyV1, { otpId, otpCode: code }, { by: ann, organizationId }), wrong);
      for (const expirationSeconds of ["0", "86401", "1.5", ""]) {
        const failure = await failureOf(sendType(rig, verifyV1, { otpId, otpCode: code, expirationSeconds }));
        assert.match(failure.message, /^invalid expirationSeconds: a verification token lasts/);
      }
      assert.equal(await countOf(rig, "otp_attempts"), 0);
      await rig.submit(rig.root, "set_organization_feature", { name: "FEATURE_NAME_SUB_ORGANIZATION_CODES" });
      const own = await startCode(rig, codeParams(), { type, by: ann, organizationId });
      const answer = { otpId: own.otpId, otpCode: own.code };
      const token = tokenOf(await sendType(rig, verifyV1, answer, { by: ann, organizationId }));
      assert.equal(claimsOf(token).organization_id, organizationId, "a sub-organization's own code is its own");
      await assert.rejects(rig.submit(rig.root, "init_otp", { ...codeParams() }, { organizationId }), {
        message: /^organization mismatch/,
      });
    });

    test("whom no policy allows it is refused at once, and a policy of one-time codes allows it", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const bob = await rig.newPerson("bob");
      await assert.rejects(rig.submit(bob, "init_otp", { ...codeParams() }), { message: /sufficient permissions/ });
      await rig.submit(rig.root, "create_policy", {
        policyName: "Codes",
        effect: "EFFECT_ALLOW",
        consensus: `approvers.any(user, user.id == '${bob.userId}')`,
        condition: "activity.resource == 'OTP' && activity.action in ['CREATE', 'VERIFY']",
        notes: "",
      });
      const type = "ACTIVITY_TYPE_INIT_OTP_V2";
      const { otpId, code } = await startCode(rig, codeParams(), { type, by: bob });
      assert.match(tokenOf(await sendType(rig, verifyV1, { otpId, otpCode: code }, { by: bob })), /^eyJ/);
    });
  });
}
