/** enable_auth_proxy, update_auth_proxy_config, disable_auth_proxy. What goes through the proxy is in the server's own tests. */
import assert from "node:assert/strict";
import { invalid } from "../refusals.ts";
import type { Refusal } from "../wire.ts";
import { activityEntry } from "./entry.ts";
import type { Fixture, Json } from "./fixture.ts";

const feature = "FEATURE_NAME_AUTH_PROXY";
const userName = "Auth Proxy";

const withoutFeature = (features: readonly Json[]) => features.filter(({ name }) => name !== feature);
const withoutUser = (users: readonly Json[]) => users.filter((user) => user.userName !== userName);

async function enabled(fixture: Fixture): Promise<void> {
  await fixture.done("enable_auth_proxy", {});
}

const notBelow: Refusal = {
  status: 403,
  code: 7,
  message: "only an organization without a parent has an auth proxy",
  errorCode: "INVALID_ACTIVITY_CALLER",
};

const notThere: Refusal = {
  status: 400,
  code: 9,
  message: "this organization has no auth proxy: enable it with enable_auth_proxy",
};

export const enableAuthProxy = activityEntry<object>({
  good: () => ({}),
  required: [],
  result(_, { after }) {
    const { userId } = after.users.find((user) => user.userName === userName) ?? assert.fail("no user was made");
    return { userId };
  },
  shows(_, { before, after }) {
    assert.deepEqual(after.features, [...withoutFeature(before.features), { name: feature }]);
    assert.equal(after.users.length, withoutUser(before.users).length + 1);
    const user = after.users.find((each) => each.userName === userName);
    assert.deepEqual([user?.apiKeys, user?.authenticators, user?.userTags], [[], [], []]);
    const common = { features: [], users: [] };
    assert.deepEqual({ ...after, ...common }, { ...before, ...common });
  },
  bad: [{ name: "a sub-organization", at: "sub", bend: (good) => good, refusal: notBelow, kept: "FAILED" }],
  foreign: [],
});

export const disableAuthProxy = activityEntry<object>({
  good: async (fixture) => {
    await enabled(fixture);
    return {};
  },
  required: [],
  result: () => ({}),
  shows(_, { before, after }) {
    assert.deepEqual(after, { ...before, features: withoutFeature(before.features) });
    assert.equal(after.features.length, before.features.length - 1);
  },
  bad: [{ name: "none there", at: "sub", bend: (good) => good, refusal: notThere, kept: "FAILED" }],
  foreign: [],
});

export const updateAuthProxyConfig = activityEntry<Json>({
  good: async (fixture) => {
    await enabled(fixture);
    return {
      allowedOrigins: ["https://app.example.com"],
      allowedAuthMethods: ["email", "passkey"],
      otpLength: 6,
      otpAlphanumeric: false,
      emailCustomizationParams: { appName: "Example" },
      walletKitSettings: { enabledSocialProviders: ["google"], oauthClientIds: { google: "id" } },
    };
  },
  required: [],
  result(_, { result }) {
    assert.match(result.configId, /^[0-9a-f-]{36}$/);
    return { configId: result.configId };
  },
  shows(_, { before, after }) {
    assert.deepEqual(after, before);
  },
  bad: [
    { name: "none there", at: "sub", bend: (good) => good, refusal: notThere, kept: "FAILED" },
    {
      name: "part of an origin",
      bend: () => ({ allowedOrigins: ["https://*.example.com"] }),
      refusal: invalid(/^invalid allowedOrigins: `https:\/\/\*\.example\.com` is no origin like/),
      kept: "FAILED",
    },
    {
      name: "a method that is none",
      bend: () => ({ allowedAuthMethods: ["pigeon"] }),
      refusal: invalid("invalid allowedAuthMethods: `pigeon` is none of email, sms, passkey, wallet, oauth"),
      kept: "FAILED",
    },
    {
      name: "a long code",
      bend: () => ({ otpLength: 10 }),
      refusal: invalid("invalid otpLength: a whole number from 6 to 9"),
      kept: "FAILED",
    },
    {
      name: "a captcha that nobody checks",
      bend: () => ({ captchaEnabled: true }),
      refusal: {
        status: 400,
        code: 9,
        message: "captchaEnabled needs a captcha provider: the operator sets KEYSTEAD_CAPTCHA",
      },
      kept: "FAILED",
    },
    {
      name: "a text message without a code",
      bend: () => ({ smsCustomizationParams: { template: "hello" } }),
      refusal: invalid("the message cannot be sent: smsCustomization.template has no {{.OtpCode}}"),
      kept: "FAILED",
    },
  ],
  foreign: [],
});
