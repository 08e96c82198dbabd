import assert from "node:assert/strict";
import { test } from "node:test";
import { p256 } from "@noble/curves/nist.js";
import { activityContext, type ContextChanges, nowMs } from "../../test/activity_context.ts";
import { apiKey, keyParams, organization, person, publicKey } from "../../test/members.ts";
import { passkeyParams } from "../../test/passkeys.ts";
import { put } from "../state/entities.ts";
import { changedUser, type NewUserParams, newUser, refuseKeysByText } from "./users.ts";

const nothing = { apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] };

function create(params: Partial<NewUserParams>) {
  return newUser(activityContext(), { userName: "Ann", ...nothing, ...params });
}

test("a new user has what was given and nothing else; contacts that are null or empty are absent", () => {
  const user = { userId: "new 0", userName: "Ann", userTags: [], apiKeys: [], createdAtMs: nowMs, updatedAtMs: nowMs };
  assert.deepEqual(create({}), user);
  assert.deepEqual(create({ userEmail: null, userPhoneNumber: "" }), user);
  const contacts = { userEmail: "ann@example.com", userPhoneNumber: "+15551234567" };
  assert.deepEqual(create({ ...contacts, userTags: ["a", "b", "a"] }), { ...user, ...contacts, userTags: ["a", "b"] });
});

test("a new user's id comes before those of its keys, which keep their order", () => {
  const user = create({ apiKeys: [keyParams(1), keyParams(2)] });
  assert.equal(user.userId, "new 0");
  assert.deepEqual(
    user.apiKeys.map((key) => [key.apiKeyId, key.apiKeyName]),
    [
      ["new 1", "key 1"],
      ["new 2", "key 2"],
    ],
  );
});

test("a new user is refused for a bad contact, passkey or identity, and for too many keys", () => {
  assert.throws(() => create({ userEmail: "ann" }), { code: "invalid_argument", errorCode: "INVALID_EMAIL" });
  assert.throws(() => create({ userPhoneNumber: "5551234567" }), { code: "invalid_argument" });
  assert.throws(() => create({ authenticators: [passkeyParams(0, { challenge: "b3RoZXI" })] }), {
    code: "invalid_argument",
    message: "invalid authenticator attestation: the challenge differs",
  });
  assert.throws(() => create({ oauthProviders: [{ providerName: "p" }] }), {
    code: "invalid_argument",
    message: "invalid oauth provider: give either oidcToken or oidcClaims",
  });
  assert.throws(() => create({ apiKeys: Array.from({ length: 11 }, (_, n) => keyParams(n)) }), {
    code: "resource_exhausted",
    message:
      "user has exceeded maximum long-lived api keys: delete one with delete_api_keys, or set expirationSeconds for the new one",
  });
});

test("keys are counted and compared by their texts alone: in any case, compressed or not", () => {
  const curves = {
    ...activityContext().curves,
    compressPoint: () => assert.fail("curve work"),
  };
  const { members } = organization({ users: [person("ann", { apiKeys: [apiKey(0)] })] });
  const refuse = (asked: Parameters<typeof refuseKeysByText>[1], changes: ContextChanges = {}) =>
    refuseKeysByText(members, asked, activityContext({ curves, ...changes }));
  const known = { code: "already_exists", message: new RegExp(publicKey(0)) };
  const uncompressed = p256.Point.fromHex(publicKey(0)).toHex(false);
  for (const spelling of [publicKey(0), publicKey(0).toUpperCase(), uncompressed]) {
    const again = keyParams(0, { publicKey: spelling });
    assert.throws(() => refuse([{ apiKeys: [keyParams(1)] }, { apiKeys: [keyParams(2), again] }]), known);
  }
  assert.throws(() => refuse([{ apiKeys: [keyParams(1)] }, { apiKeys: [keyParams(1)] }]), { code: "already_exists" });
  const limits = { longLivedApiKeysPerUser: 1, expiringApiKeysPerUser: 1 };
  const user = members.users.get("ann");
  assert.ok(user);
  refuse([{ apiKeys: [keyParams(1)] }, { apiKeys: [keyParams(2)] }], { limits });
  assert.throws(() => refuse([{ user, apiKeys: [keyParams(1)] }], { limits }), { message: /maximum long-lived/ });
  const expiring = [1, 2].map((n) => keyParams(n, { expirationSeconds: "60" }));
  assert.throws(() => refuse([{ apiKeys: expiring }], { limits }), { message: /maximum short-lived/ });
  // What is wrong with these is said by who knows the curve.
  for (const publicKey of ["zz", "02", "06".repeat(33)]) refuse([{ apiKeys: [keyParams(1, { publicKey })] }]);
});

test("one activity makes 200 keys and no more", () => {
  const { members } = organization();
  const context = activityContext({ limits: { longLivedApiKeysPerUser: 1_000 } });
  const apiKeys = Array.from({ length: 100 }, (_, n) => keyParams(n));
  const others = apiKeys.map((key) => ({ ...key, curveType: "API_KEY_CURVE_SECP256K1" as const }));
  refuseKeysByText(members, [{ apiKeys }, { apiKeys: others }], context);
  assert.throws(
    () => refuseKeysByText(members, [{ apiKeys }, { apiKeys: others }, { apiKeys: [keyParams(100)] }], context),
    {
      code: "invalid_argument",
      message: "one activity may create at most 200 api keys, and this one asks for 201",
    },
  );
});

const ann = person("ann", { apiKeys: [apiKey(0)] });
const bob = person("bob", { userEmail: "bob@example.com", userPhoneNumber: "+15551234567", userTags: ["a"] });
const pages = organization({ users: [ann, bob], features: ["FEATURE_NAME_EMAIL_AUTH"] });

function change(userId: string, what: Parameters<typeof changedUser>[3]) {
  return changedUser(pages, activityContext(), userId, what);
}

test("what is not given stays as it was, credentials included", () => {
  assert.deepEqual(change("bob", {}), put("user", { ...bob, updatedAtMs: nowMs }));
  assert.deepEqual(change("ann", { userName: "Anna" }), put("user", { ...ann, userName: "Anna", updatedAtMs: nowMs }));
});

test("an empty contact is removed, not stored", () => {
  const { userPhoneNumber: _, ...rest } = bob;
  assert.deepEqual(change("bob", { userPhoneNumber: "" }), put("user", { ...rest, updatedAtMs: nowMs }));
});

test("a contact that is a user's only way in cannot be removed", () => {
  assert.throws(() => change("bob", { userEmail: "" }), {
    code: "invalid_argument",
    message:
      "user missing valid credential: bob; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does",
  });
});

test("a user that is not there is not found", () => {
  assert.throws(() => change("eve", { userName: "x" }), {
    code: "not_found",
    message: "unable to find user eve in organization acme",
  });
});
