import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { apiKey, organization, person } from "../../test/members.ts";
import { authenticator } from "../../test/passkeys.ts";
import { allowedOrigins, ownOrigins } from "../rules/allowed_origins.ts";
import type { Feature, Settings, User } from "../state/entities.ts";
import { setOrganizationFeature } from "./set_organization_feature.ts";
import { updateAllowedOrigins } from "./update_allowed_origins.ts";

const name = "FEATURE_NAME_WEBAUTHN_ORIGINS";
const ann = person("ann", { apiKeys: [apiKey(0)] });
const acme = (features: readonly Feature[] = [], users: readonly User[] = [ann]) =>
  organization({ users, settings: { features } });

function update(origins: string[], features: readonly Feature[] = []): Settings {
  const { changes, result } = runActivity(updateAllowedOrigins, acme(features), { allowedOrigins: origins });
  assert.deepEqual(result, {});
  const [change] = changes;
  assert.ok(change?.op === "put" && change.kind === "settings");
  return change.value;
}

function setFeature(value: string): Settings {
  const [change] = runActivity(setOrganizationFeature, acme(), { name, value }).changes;
  assert.ok(change?.op === "put" && change.kind === "settings");
  return change.value;
}

const origins = ["https://app.example.com", "http://localhost:3000", "android:apk-key-hash:abc_-"];

test("the list is the feature's value, whichever of the two is used to set it", () => {
  const settings = update(origins);
  assert.deepEqual(settings.features, [{ name, value: origins.join(",") }]);
  assert.equal(settings.updatedAtMs, nowMs);
  assert.deepEqual(setFeature(` ${origins.join(" , ")} `).features, settings.features);
  assert.deepEqual(ownOrigins(settings), origins);
});

test("a list replaces the one before and leaves other features alone", () => {
  const other = { name: "FEATURE_NAME_SMS_AUTH" };
  const before = [{ name, value: "https://old.example" }, other];
  assert.deepEqual(ownOrigins(update(["https://new.example", "https://new.example"], before)), ["https://new.example"]);
});

test("a list that is set and empty allows nothing; `*` alone is no list, and so is a feature that is off", () => {
  const before = [{ name, value: "https://old.example" }];
  for (const settings of [update([], before), setFeature(""), setFeature(" , ")]) {
    assert.deepEqual(settings.features, [{ name }]);
    assert.deepEqual(ownOrigins(settings), []);
  }
  for (const settings of [update(["*"], before), update(["*", "*"]), setFeature(" * ")]) {
    assert.deepEqual(settings.features, [{ name, value: "*" }]);
    assert.equal(ownOrigins(settings), undefined);
  }
  assert.equal(ownOrigins({ features: [] }), undefined);
  assert.throws(() => update(["*", "https://a.example"]), { code: "invalid_argument" });
});

test("nobody shuts the passkeys out that the root quorum needs to take it back", () => {
  const bob = person("bob", { authenticators: [authenticator(0)] });
  const eve = person("eve", {
    apiKeys: [apiKey(1, { expiresAtMs: nowMs + 1_000 })],
    authenticators: [authenticator(1)],
  });
  const refusal = { code: "invalid_argument", message: /^an empty list of origins allows no passkey/ };
  const quorum = (threshold: number, users: readonly User[]) =>
    organization({ users, rootQuorum: { threshold, userIds: users.map(({ userId }) => userId) } });
  for (const pages of [quorum(1, [bob]), quorum(1, [bob, eve]), quorum(2, [ann, bob])]) {
    assert.throws(() => runActivity(updateAllowedOrigins, pages, { allowedOrigins: [] }), refusal);
    assert.throws(() => runActivity(setOrganizationFeature, pages, { name }), refusal);
    runActivity(updateAllowedOrigins, pages, { allowedOrigins: ["*"] });
  }
  runActivity(updateAllowedOrigins, quorum(1, [ann, bob]), { allowedOrigins: [] });
});

test("what no browser calls an origin is refused, in both places", () => {
  const wrong = [
    "app.example.com",
    "https://app.example.com/",
    "https://App.example.com",
    "https://a.example/path",
    "https://*.example.com",
    "javascript:alert(1)",
    "android:apk-key-hash:",
    " https://a.example",
  ];
  for (const origin of wrong) {
    assert.throws(() => update([origin]), {
      code: "invalid_argument",
      message: /is not an origin: write it as browsers do/,
    });
    if (!origin.startsWith(" ")) assert.throws(() => setFeature(origin), { code: "invalid_argument" });
  }
  assert.throws(() => update(["https://a.example,https://b.example"]), { code: "invalid_argument" });
});

test("a parent's list binds its children: an origin must be in every list that there is", () => {
  const [a, b, c] = ["https://a.example", "https://b.example", "https://c.example"];
  const lists = (own: string[], parent: string[]) => allowedOrigins(update(own), update(parent));
  assert.equal(lists(["*"], ["*"]), undefined);
  assert.deepEqual(lists([a], ["*"]), [a]);
  assert.deepEqual(lists(["*"], [b]), [b]);
  assert.deepEqual(lists([a], []), []);
  assert.deepEqual(lists(["*"], []), []);
  assert.deepEqual(lists([], [b]), []);
  assert.deepEqual(lists([a, b], [b, c]), [b]);
  assert.deepEqual(lists([a], [b]), []);
  assert.deepEqual(allowedOrigins(update([a]), undefined), [a]);
});
