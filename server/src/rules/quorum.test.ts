import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs } from "../../test/activity_context.ts";
import { apiKey, organization, person } from "../../test/members.ts";
import { checkQuorum, refuseLockOut } from "./quorum.ts";

const ann = person("ann", { apiKeys: [apiKey(0)] });
const bob = person("bob", { apiKeys: [apiKey(1)] });
const session = person("session", { apiKeys: [apiKey(2, { expiresAtMs: nowMs + 1 })] });
const mail = person("mail", { userEmail: "mail@example.com" });
const { members, settings } = organization({ users: [ann, bob, session, mail] });

function check(threshold: number, ...userIds: string[]) {
  return () => checkQuorum({ threshold, userIds }, members.users, settings);
}

test("some or all of its members may make a quorum", () => {
  check(1, "ann", "bob")();
  check(2, "ann", "bob")();
});

test("a threshold below one is refused with the published text", () => {
  for (const threshold of [0, -1, -2147483648]) {
    assert.throws(check(threshold, "ann"), {
      code: "invalid_argument",
      message: "quorum threshold must be non-zero integer: how many of its users must approve, at least 1",
    });
  }
});

test("more approvals than members could never be reached; a member named twice is one", () => {
  assert.throws(check(2, "ann", "ann"), {
    code: "invalid_argument",
    message: "quorum threshold 2 is larger than its 1 user(s); name more users, or ask for fewer approvals",
  });
  assert.throws(check(2147483647, "ann", "bob"), { code: "invalid_argument" });
});

test("a quorum of nobody, or of a user that is not there, is refused with the published text", () => {
  for (const quorum of [check(1), check(1, "ann", "eve")]) {
    assert.throws(quorum, {
      code: "invalid_argument",
      message:
        /^quorum users missing: (name at least one user|this organization has no user `\w+`; create the user first, or name another)$/,
    });
  }
});

test("every member needs a way in that lasts, also when the others would do", () => {
  for (const userId of ["session", "mail"]) {
    assert.throws(check(1, "ann", userId), {
      code: "invalid_argument",
      message: `user missing valid credential: ${userId} (\`${members.users.get(userId)?.userName}\`); a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does`,
    });
  }
  const withLogin = organization({ features: ["FEATURE_NAME_OTP_EMAIL_AUTH"] }).settings;
  checkQuorum({ threshold: 1, userIds: ["mail"] }, members.users, withLogin);
});

test("a root user keeps a way in that lasts, even while it has one that does not", () => {
  const before = { user: { ...ann, apiKeys: [apiKey(0), apiKey(3, { expiresAtMs: nowMs + 1 })] }, settings };
  const after = { user: { ...ann, apiKeys: [apiKey(3, { expiresAtMs: nowMs + 1 })] }, settings };
  assert.throws(() => refuseLockOut(members, before, after, nowMs), {
    code: "invalid_argument",
    message:
      "user missing valid credential: ann; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does",
  });
});

test("a root user's contact does not make up for its last long-lived key, since nothing signs in by one yet", () => {
  const { settings } = organization({ features: ["FEATURE_NAME_EMAIL_AUTH", "FEATURE_NAME_SMS_AUTH"] });
  const contacts = { userEmail: "mail@example.com", userPhoneNumber: "+15551234567" };
  const lose = (userId: string, apiKeys = ann.apiKeys) => {
    const user = person(userId, { ...contacts, apiKeys });
    refuseLockOut(members, { user, settings }, { user: { ...user, apiKeys: session.apiKeys }, settings }, nowMs);
  };
  assert.throws(() => lose("ann"), {
    code: "invalid_argument",
    message:
      "user missing valid credential: ann; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does",
  });
  lose("bob");
  // Who was made a member by a contact alone keeps that.
  lose("ann", []);
});

test("another user may be left with a way in that ends, and not with none", () => {
  const before = { user: bob, settings };
  refuseLockOut(members, before, { user: { ...bob, apiKeys: session.apiKeys }, settings }, nowMs);
  assert.throws(() => refuseLockOut(members, before, { user: { ...bob, apiKeys: [] }, settings }, nowMs), {
    code: "invalid_argument",
    message:
      "user missing valid credential: bob; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does",
  });
});

test("who has no way in already can lose nothing", () => {
  refuseLockOut(members, { user: mail, settings }, { user: person("mail"), settings }, nowMs);
});
