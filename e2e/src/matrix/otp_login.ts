/** otp_login, with the token that came with the place. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type ClientSignature, signLogin } from "../client_signature.ts";
import { createKey } from "../key_pairs.ts";
import { invalid } from "../refusals.ts";
import { activityEntry, type BadInput } from "./entry.ts";
import type { Fixture, Json } from "./fixture.ts";
import { badLifetimes, claimsOf, newKeyOf, tooLong } from "./sessions.ts";
import type { Place } from "./stage.ts";

type OtpLogin = {
  verificationToken: string;
  publicKey: string;
  clientSignature: ClientSignature;
  expirationSeconds: string;
};

const ready = new WeakSet<Place>();

/** Whoever has the contact signs in where that is on. */
async function letCodesSignIn(fixture: Fixture, place: Place): Promise<void> {
  if (ready.has(place)) return;
  ready.add(place);
  const { root, verified } = place;
  await fixture.done("set_organization_feature", { name: "FEATURE_NAME_OTP_EMAIL_AUTH" }, root, place);
  await fixture.done("update_user_email", { userId: root.userId, userEmail: verified.contact }, root, place);
}

export function loginWith({ verified }: Place, publicKey = createKey().publicKey, holder = verified.holder): OtpLogin {
  return {
    verificationToken: verified.token,
    publicKey,
    clientSignature: signLogin(holder, verified.token, publicKey),
    expirationSeconds: "3600",
  };
}

const badToken = (name: string, bend: (token: string) => string, why: string): BadInput<OtpLogin> => ({
  name,
  bend: (good) => ({ ...good, verificationToken: bend(good.verificationToken) }),
  refusal: invalid(`invalid verification token: ${why}`),
  kept: "FAILED",
});

const badSignature = (
  name: string,
  bend: (good: OtpLogin, fixture: Fixture) => Partial<ClientSignature>,
  why: string,
): BadInput<OtpLogin> => ({
  name,
  bend: (good, fixture) => ({ ...good, clientSignature: { ...good.clientSignature, ...bend(good, fixture) } }),
  refusal: invalid(`invalid client signature: ${why}`),
  kept: "FAILED",
});

/** A signature of the right form over something else. */
const otherSignature = (text: string) => createHash("sha512").update(text).digest("hex");

export const otpLogin = activityEntry<OtpLogin>({
  async good(fixture) {
    await letCodesSignIn(fixture, fixture.place);
    return loginWith(fixture.place);
  },
  required: [
    "verificationToken",
    "publicKey",
    "clientSignature",
    "clientSignature.publicKey",
    "clientSignature.scheme",
    "clientSignature.message",
    "clientSignature.signature",
  ],
  result({ publicKey }, { result }, { place }) {
    const { exp, ...claims } = claimsOf(result.session);
    const { organizationId, root } = place;
    const expected = { public_key: publicKey, session_type: "SESSION_TYPE_READ_WRITE" };
    assert.deepEqual(claims, { ...expected, user_id: root.userId, organization_id: organizationId });
    assert.ok(exp > Date.now() / 1000);
    return result;
  },
  shows({ publicKey }, seen, fixture) {
    const { credential, expirationSeconds } = newKeyOf(fixture, seen);
    assert.deepEqual(credential, { publicKey, type: "CREDENTIAL_TYPE_LOGIN" });
    assert.equal(expirationSeconds, "3600");
  },
  bad: [
    ...(badLifetimes as BadInput<OtpLogin>[]),
    tooLong as BadInput<OtpLogin>,
    badToken("no token", () => "abc", "not three parts"),
    badToken("another kind of token", (token) => `${token.slice(3)}`, "it is another kind of token"),
    badToken(
      "an altered token",
      (token) => token.replace(/[^.]{8}$/, "AAAAAAAA").replace(/.$/, "A"),
      "its signature does not verify",
    ),
    badSignature(
      "a signature over another key",
      (good) => {
        const message = good.clientSignature.message.replace(good.publicKey, createKey().publicKey);
        return { message };
      },
      "it does not verify",
    ),
    badSignature(
      "another signature",
      ({ publicKey }) => ({ signature: otherSignature(publicKey) }),
      "it does not verify",
    ),
    badSignature(
      "another key's signature",
      () => ({ publicKey: createKey().publicKey }),
      "its key is not that of the verification token",
    ),
    {
      name: "a token that is bound to no key",
      bend: (good, { place }) => ({ ...good, verificationToken: place.verified.unboundToken }),
      refusal: invalid("invalid client signature: the verification token is bound to no key"),
      kept: "FAILED",
    },
  ],
  foreign: [],
  neverWaits: true,
  openToParent: true,
  bearerField: "session",
  bearerParams: ["verificationToken"],
  versions: {
    async ACTIVITY_TYPE_OTP_LOGIN(fixture) {
      await letCodesSignIn(fixture, fixture.place);
      return { verificationToken: fixture.place.verified.unboundToken, publicKey: createKey().publicKey };
    },
  },
  also: {
    "the parent's server signs a user of its sub-organization in, and nobody else there": async (fixture) => {
      const { parent, sub } = fixture;
      await fixture.done("set_organization_feature", { name: "FEATURE_NAME_OTP_EMAIL_AUTH" }, sub.root, sub);
      const unknown = await fixture.submit("otp_login", loginWith(parent), parent.root, sub);
      assert.equal(unknown.status, 401, unknown.text);
      assert.match(unknown.text, /CREDENTIAL_NOT_FOUND/);
      const { userId } = sub.member;
      await fixture.done("update_user_email", { userId, userEmail: parent.verified.contact }, sub.root, sub);
      const key = createKey();
      await fixture.done("otp_login", loginWith(parent, key.publicKey), parent.root, sub);
      const me = await fixture.ask("whoami", {}, { ...sub.member, p256: key }, sub);
      assert.equal(me.userId, userId);
      const found: Json = await fixture.ask("list_verified_suborgs", {}, parent.root, parent);
      assert.deepEqual(found.organizationIds, [sub.organizationId]);
    },
  },
});
