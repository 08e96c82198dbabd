/** One-time codes: one is asked for and arrives, one is answered, and a token signs a user in, in its own organization or by the parent. */
import assert from "node:assert/strict";
import { createKey } from "@keystead/e2e/key_pairs.ts";
import { messagesTo, messageTo } from "@keystead/e2e/mailbox.ts";
import type { ActivityEntry } from "@keystead/e2e/matrix/entry.ts";
import { type Fixture, fingerprintOf } from "@keystead/e2e/matrix/fixture.ts";
import { loginWith } from "@keystead/e2e/matrix/otp_login.ts";
import { activityTable } from "@keystead/e2e/matrix/table.ts";
import { type Act, bodyOf, checkOnce, isSealed, ownAct } from "./act.ts";
import { checkNotAbove } from "./sign_ins.ts";

const asksForCode: ActivityEntry = {
  ...activityTable.init_otp,
  async shows(sent, seen, fixture) {
    await activityTable.init_otp.shows(sent, seen, fixture);
    const { code } = await messageTo(sent.contact);
    assert.match(code, /^[0-9]{6}$/);
    assert.equal(messagesTo(sent.contact).length, 1, "a code that was committed once is one message");
  },
};

/** A token that outlives the trial, however slow the machine is. */
const answersCode: ActivityEntry = {
  ...activityTable.verify_otp,
  good: async (fixture) => ({ ...(await activityTable.verify_otp.good(fixture)), expirationSeconds: "86400" }),
};

export const askForCode: Act = ownAct("init_otp", asksForCode);
export const answerCode: Act = ownAct("verify_otp", answersCode);

const ready = new WeakSet<Fixture["place"]>();

/** The user whom the parent signs in has the contact of the parent's token. */
async function letParentSignIn({ done, parent, sub }: Fixture): Promise<void> {
  if (ready.has(sub)) return;
  const { userId } = sub.member;
  await done("set_organization_feature", { name: "FEATURE_NAME_OTP_EMAIL_AUTH" }, sub.root, sub);
  await done("update_user_email", { userId, userEmail: parent.verified.contact }, sub.root, sub);
  ready.add(sub);
}

export const loginByParent: Act = {
  name: "otp_login by the parent",
  at: "sub",
  isSealed: isSealed("otp_login"),
  async begin(fixture) {
    await letParentSignIn(fixture);
    const { parent, sub } = fixture;
    const key = createKey();
    const sent = bodyOf("otp_login", fixture, loginWith(parent, key.publicKey));
    return {
      path: "otp_login",
      caller: parent.root,
      body: JSON.stringify(sent),
      async check({ activity }) {
        assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
        assert.equal(activity.organizationId, sub.organizationId);
        const { userId } = await fixture.ask("whoami", {}, { ...sub.member, p256: key }, sub);
        assert.equal(userId, sub.member.userId);
        await checkOnce(fixture, sent);
        await checkNotAbove(fixture, fingerprintOf(sent));
      },
    };
  },
};
