import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { apiKey, organization, person } from "../../test/members.ts";
import type { Static } from "../fields/schema.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { put } from "../state/entities.ts";
import { setOrganizationFeature } from "./set_organization_feature.ts";

const name = "FEATURE_NAME_WEBAUTHN_ORIGINS";
const users = [person("ann", { apiKeys: [apiKey(0)] })];
const acme = organization({ users, features: ["FEATURE_NAME_SMS_AUTH"] });
const sms = { name: "FEATURE_NAME_SMS_AUTH" };

function run(params: Static<typeof setOrganizationFeature.params>, pages = acme) {
  return runActivity(setOrganizationFeature, pages, params);
}

test("a feature is added to those that are on, with its value", () => {
  const { changes, result } = run({ name, value: "https://example.com" });
  const features = [sms, { name, value: "https://example.com" }] as const;
  assert.deepEqual(changes, [put("settings", { ...acme.settings, features, updatedAtMs: nowMs })]);
  assert.deepEqual(result, { features });
});

test("a feature needs no value: none, null and an empty one are the same", () => {
  for (const value of [{}, { value: null }, { value: "" }]) {
    assert.deepEqual(run({ name, ...value }).result, { features: [sms, { name }] });
    assert.equal(activityValidators[setOrganizationFeature.type]?.({ name, ...value }), true);
  }
});

test("a feature that is on gets the new value and stays there once, also when the new one is none", () => {
  const pages = organization({ users, settings: { features: [{ name, value: "https://old.example" }, sms] } });
  assert.deepEqual(run({ name, value: "https://new.example" }, pages).result.features, [
    sms,
    { name, value: "https://new.example" },
  ]);
  assert.deepEqual(run({ name }, pages).result.features, [sms, { name }]);
});

test("only features with a published name exist", () => {
  const fits = (feature: string) => activityValidators[setOrganizationFeature.type]?.({ name: feature, value: "" });
  assert.equal(fits("FEATURE_NAME_AUTH_PROXY"), true);
  for (const feature of ["FEATURE_NAME_ADMIN", "sms", ""]) assert.equal(fits(feature), false);
});

test("no policy can grant it", () => {
  assert.equal(setOrganizationFeature.rootQuorumOnly, true);
});
