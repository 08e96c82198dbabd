import assert from "node:assert/strict";
import { test } from "node:test";
import { activityContext, nowMs } from "../../test/activity_context.ts";
import { apiKey, keyParams, organization, person, publicKey } from "../../test/members.ts";
import type { FeatureName } from "../fields/features.ts";
import type { ApiKey, User } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";
import { hasCredential, hasLastingCredential, newApiKey, refuseKnownCredentials, withApiKeys } from "./credentials.ts";

const expired = { expiresAtMs: nowMs };
const live = { expiresAtMs: nowMs + 1 };

/** `count` keys, the first of them the `first`th. */
function keys(count: number, changes: Partial<ApiKey> = {}, first = 0): ApiKey[] {
  return Array.from({ length: count }, (_, index) => apiKey(first + index, changes));
}

const refuseKnown = (members: MembersPage, added: readonly ApiKey[]) =>
  refuseKnownCredentials(
    members,
    added.map((entity) => ({ kind: "apiKey", entity })),
  );

const idsOf = ({ apiKeys }: User) => apiKeys.map((key) => key.apiKeyId);

test("a key is stored under its curve, in its one spelling, with the type of its curve", () => {
  const context = activityContext();
  assert.deepEqual(newApiKey(context, keyParams(1, { publicKey: publicKey(1).toUpperCase() })), {
    ...apiKey(1),
    apiKeyId: "new 0",
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  });
  for (const curve of ["SECP256K1", "ED25519"] as const) {
    const curveType = `API_KEY_CURVE_${curve}` as const;
    const key = newApiKey(context, keyParams(1, { curveType, publicKey: publicKey(1, curveType) }));
    assert.equal(key.curve, curveType);
    assert.equal(key.type, `CREDENTIAL_TYPE_API_KEY_${curve}`);
  }
});

test("a public key that is none of its curve is refused", () => {
  const context = activityContext();
  const curveType = "API_KEY_CURVE_ED25519";
  for (const params of [
    keyParams(1, { publicKey: "02" }),
    keyParams(1, { publicKey: "zz" }),
    keyParams(1, { curveType }),
  ]) {
    assert.throws(() => newApiKey(context, params), { code: "invalid_argument", message: /^malformed public key/ });
  }
});

test("a lifetime is a decimal string of seconds from now; without one a key never ends", () => {
  const context = activityContext();
  const expiryOf = (expirationSeconds: string | null) =>
    newApiKey(context, keyParams(1, { expirationSeconds })).expiresAtMs;
  assert.equal(expiryOf("1"), nowMs + 1_000);
  assert.equal(expiryOf("900"), nowMs + 900_000);
  assert.equal(expiryOf("10000000000"), nowMs + 10_000_000_000_000);
  assert.ok(!("expiresAtMs" in newApiKey(context, keyParams(1))));
  assert.equal(expiryOf(null), undefined);
});

test("a lifetime that is no whole number above zero is refused with the published text, an empty one too", () => {
  for (const expirationSeconds of ["", "0", "-1", "1.5", "1e3", " 1", "900s", "0x10", "10000000001", "9".repeat(40)]) {
    assert.throws(() => newApiKey(activityContext(), keyParams(1, { expirationSeconds })), {
      code: "invalid_argument",
      message:
        "invalid api key expiration: expirationSeconds is a whole number of seconds, at least 1; leave it out for a key that never expires",
    });
  }
});

test("the eleventh long-lived key is refused, whether it comes alone or with others", () => {
  const full = {
    code: "resource_exhausted",
    message:
      "user has exceeded maximum long-lived api keys: delete one with delete_api_keys, or set expirationSeconds for the new one",
  };
  const context = activityContext();
  assert.equal(withApiKeys(person("ann", { apiKeys: keys(9) }), keys(1, {}, 9), context).apiKeys.length, 10);
  assert.throws(() => withApiKeys(person("ann", { apiKeys: keys(10) }), keys(1, {}, 10), context), full);
  assert.throws(() => withApiKeys(person("ann"), keys(11), context), full);
});

test("a user with as many long-lived keys as allowed, or more, may still add an expiring one", () => {
  const ann = person("ann", { apiKeys: keys(3) });
  const context = activityContext({ limits: { longLivedApiKeysPerUser: 2 } });
  assert.equal(withApiKeys(ann, keys(1, live, 3), context).apiKeys.length, 4);
});

test("the eleventh expiring key takes the place of all that are over, and of no other", () => {
  const apiKeys = [...keys(2, live), ...keys(2, expired, 2), ...keys(6, live, 4), apiKey(10)];
  const next = withApiKeys(person("ann", { apiKeys }), [apiKey(11, live)], activityContext());
  assert.deepEqual(
    idsOf(next),
    [0, 1, 4, 5, 6, 7, 8, 9, 10, 11].map((n) => `key ${n}`),
  );
  assert.equal(next.updatedAtMs, nowMs);
});

test("with none that is over, the oldest make room, wherever they stand in the list", () => {
  const ages = [5, 1, 9, 3, 7, 0, 8, 2, 6, 4];
  const apiKeys = ages.map((age, index) => apiKey(index, { ...live, createdAtMs: age }));
  const next = withApiKeys(person("ann", { apiKeys }), keys(2, live, 10), activityContext());
  // Ages 0 and 1 are gone.
  assert.deepEqual(
    idsOf(next),
    [0, 2, 3, 4, 6, 7, 8, 9, 10, 11].map((n) => `key ${n}`),
  );
});

test("expired keys stay until room is needed, and a long-lived key needs none", () => {
  const apiKeys = keys(9, expired);
  const context = activityContext();
  assert.equal(withApiKeys(person("ann", { apiKeys }), [apiKey(9, live)], context).apiKeys.length, 10);
  assert.equal(withApiKeys(person("ann", { apiKeys: keys(12, live) }), [apiKey(12)], context).apiKeys.length, 13);
});

test("an eviction never takes a long-lived key", () => {
  const apiKeys = [apiKey(0, { createdAtMs: 0 }), ...keys(10, live, 1)];
  assert.ok(idsOf(withApiKeys(person("ann", { apiKeys }), [apiKey(11, live)], activityContext())).includes("key 0"));
});

test("more expiring keys at once than a user may have are refused, since none of them could make room", () => {
  const full = {
    code: "resource_exhausted",
    message: "user has exceeded maximum short-lived api keys: ask for fewer at once",
  };
  assert.equal(withApiKeys(person("ann"), keys(10, live), activityContext()).apiKeys.length, 10);
  assert.throws(() => withApiKeys(person("ann"), keys(11, live), activityContext()), full);
  const none = activityContext({ limits: { expiringApiKeysPerUser: 0 } });
  assert.throws(() => withApiKeys(person("ann"), keys(1, live), none), full);
});

test("a key that any user of the organization has, even an expired one, cannot be had twice", () => {
  const { members } = organization({ users: [person("ann", { apiKeys: keys(1, expired) })] });
  const known = {
    code: "already_exists",
    message: `public key \`${publicKey(0)}\` already belongs to a user of this organization; make another key pair`,
  };
  refuseKnown(members, [apiKey(1)]);
  assert.throws(() => refuseKnown(members, [apiKey(1), apiKey(0)]), known);
  assert.throws(() => refuseKnown(organization().members, [apiKey(0), apiKey(0)]), known);
});

test("the same bytes under another curve are another key", () => {
  const { members } = organization({ users: [person("ann", { apiKeys: [apiKey(0)] })] });
  refuseKnown(members, [apiKey(0, { curve: "API_KEY_CURVE_SECP256K1" })]);
});

const email = { userEmail: "ann@example.com" };
const phone = { userPhoneNumber: "+15551234567" };
const signIns: [what: string, user: Partial<User>, features: FeatureName[], now: boolean, lasting: boolean][] = [
  ["nothing", {}, [], false, false],
  ["a long-lived key", { apiKeys: [apiKey(0)] }, [], true, true],
  ["a key that expires", { apiKeys: [apiKey(0, live)] }, [], true, false],
  ["a key that has expired", { apiKeys: [apiKey(0, expired)] }, [], false, false],
  ["an e-mail address while no login is on", email, [], false, false],
  ["an e-mail address with e-mail login on", email, ["FEATURE_NAME_EMAIL_AUTH"], true, true],
  ["an e-mail address with e-mail codes on", email, ["FEATURE_NAME_OTP_EMAIL_AUTH"], true, true],
  ["an e-mail address with SMS login on", email, ["FEATURE_NAME_SMS_AUTH"], false, false],
  ["an e-mail address with recovery on", email, ["FEATURE_NAME_EMAIL_RECOVERY"], false, false],
  ["a phone number while no login is on", phone, [], false, false],
  ["a phone number with SMS login on", phone, ["FEATURE_NAME_SMS_AUTH"], true, true],
  ["a phone number with e-mail login on", phone, ["FEATURE_NAME_EMAIL_AUTH"], false, false],
  ["every login on and no contact", {}, ["FEATURE_NAME_EMAIL_AUTH", "FEATURE_NAME_SMS_AUTH"], false, false],
];
for (const [what, user, features, now, lasting] of signIns) {
  test(`${what}: ${now ? (lasting ? "a way in that lasts" : "a way in for now") : "no way in"}`, () => {
    const { settings } = organization({ features });
    assert.equal(hasCredential(person("ann", user), settings, nowMs), now);
    assert.equal(hasLastingCredential(person("ann", user), settings), lasting);
  });
}
