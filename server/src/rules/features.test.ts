import assert from "node:assert/strict";
import { test } from "node:test";
import { organization } from "../../test/members.ts";
import { isFeatureOn, subOrganizationFeatures } from "./features.ts";

test("a feature is on while the settings list it", () => {
  const { settings } = organization({ features: ["FEATURE_NAME_SMS_AUTH"] });
  assert.equal(isFeatureOn(settings, "FEATURE_NAME_SMS_AUTH"), true);
  assert.equal(isFeatureOn(settings, "FEATURE_NAME_EMAIL_AUTH"), false);
});

test("a new sub-organization has all logins and recovery on, each with the field that says otherwise", () => {
  assert.deepEqual(Object.fromEntries(subOrganizationFeatures.map(({ name, disabledBy }) => [disabledBy, name])), {
    disableEmailRecovery: "FEATURE_NAME_EMAIL_RECOVERY",
    disableEmailAuth: "FEATURE_NAME_EMAIL_AUTH",
    disableSmsAuth: "FEATURE_NAME_SMS_AUTH",
    disableOtpEmailAuth: "FEATURE_NAME_OTP_EMAIL_AUTH",
  });
});
