import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { apiKey, organization, person } from "../../test/members.ts";
import type { FeatureName } from "../fields/features.ts";
import { put } from "../state/entities.ts";
import { removeOrganizationFeature } from "./remove_organization_feature.ts";

const ann = person("ann", { apiKeys: [apiKey(0)] });
const bob = person("bob", { userEmail: "bob@example.com" });
const otp = "FEATURE_NAME_OTP_EMAIL_AUTH";
const email = "FEATURE_NAME_EMAIL_AUTH";

function run(name: FeatureName, pages = organization({ users: [ann], features: [otp, email] })) {
  return runActivity(removeOrganizationFeature, pages, { name });
}

test("the feature goes and the others stay", () => {
  const { settings } = organization({ users: [ann], features: [otp, email] });
  const { changes, result } = run(otp);
  assert.deepEqual(changes, [put("settings", { ...settings, features: [{ name: email }], updatedAtMs: nowMs })]);
  assert.deepEqual(result, { features: [{ name: email }] });
});

test("removing what is not on changes nothing", () => {
  assert.deepEqual(run("FEATURE_NAME_SMS_AUTH").result.features, [{ name: otp }, { name: email }]);
});

test("a login that is somebody's only way in stays, for root users and others", () => {
  const missing = {
    code: "invalid_argument",
    message:
      "user missing valid credential: bob; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does",
  };
  assert.throws(() => run(otp, organization({ users: [ann, bob], features: [otp] })), missing);
  assert.throws(() => run(otp, organization({ users: [bob], features: [otp] })), missing);
});

test("one of two logins by the same contact may go", () => {
  assert.equal(run(otp, organization({ users: [ann, bob], features: [otp, email] })).changes.length, 1);
});

test("a root user whose keys expire needs the login; another user does not", () => {
  const session = { ...bob, apiKeys: [apiKey(1, { expiresAtMs: nowMs + 1 })] };
  assert.throws(() => run(otp, organization({ users: [session], features: [otp] })), { code: "invalid_argument" });
  assert.equal(run(otp, organization({ users: [ann, session], features: [otp] })).changes.length, 1);
});

test("no policy can grant it", () => {
  assert.equal(removeOrganizationFeature.rootQuorumOnly, true);
});
