import assert from "node:assert/strict";
import { test } from "node:test";
import { type ContextChanges, nowMs, runActivity } from "../../test/activity_context.ts";
import { apiKey, keyParams, organization, person, publicKey } from "../../test/members.ts";
import { authenticator, passkeyParams } from "../../test/passkeys.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import type { CreateUsersParams } from "../fields/new_users.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { put } from "../state/entities.ts";
import { createUsers } from "./create_users.ts";

const ann = person("ann", { apiKeys: [apiKey(0)] });
const acme = organization({ users: [ann], tags: ["a", "b"] });

type UserParams = CreateUsersParams["users"][number];

function user(changes: Partial<UserParams> = {}): UserParams {
  return {
    userName: "Bob",
    apiKeys: [keyParams(1)],
    authenticators: [],
    oauthProviders: [],
    userTags: [],
    ...changes,
  };
}

function run(users: UserParams[], context: ContextChanges = {}, pages = acme) {
  return runActivity(createUsers, pages, { users }, context);
}

test("users are made with their keys, contacts and tags, and answered in the order asked", () => {
  const contacts = { userEmail: "bob@example.com", userPhoneNumber: "+15551234567" };
  const second = user({ userName: "Cleo", apiKeys: [keyParams(2, { expirationSeconds: "60" })] });
  const { changes, result } = run([user({ ...contacts, userTags: ["b", "a", "b"] }), second]);
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const bob = { userId: "new 0", userName: "Bob", ...contacts, userTags: ["b", "a"], ...times };
  const cleo = { userId: "new 2", userName: "Cleo", userTags: [], ...times };
  assert.deepEqual(changes, [
    put("user", { ...bob, apiKeys: [apiKey(1, { apiKeyId: "new 1", ...times })] }),
    put("user", { ...cleo, apiKeys: [apiKey(2, { apiKeyId: "new 3", expiresAtMs: nowMs + 60_000, ...times })] }),
  ]);
  assert.deepEqual(result, { userIds: ["new 0", "new 2"] });
});

test("two users may have one name", () => {
  assert.equal(run([user({ userName: "ann" }), user({ userName: "ann", apiKeys: [keyParams(2)] })]).changes.length, 2);
});

test("a user without any way in is refused, and so are all with it", () => {
  assert.throws(() => run([user(), user({ apiKeys: [] })]), {
    code: "invalid_argument",
    message:
      "user missing valid credential: new 2 (`Bob`); a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does",
  });
});

const contact = { userEmail: "bob@example.com", userPhoneNumber: "+15551234567", apiKeys: [] };
for (const feature of ["EMAIL_AUTH", "OTP_EMAIL_AUTH", "SMS_AUTH"] as const) {
  test(`a contact is a way in while ${feature} is on, and not otherwise`, () => {
    const pages = organization({ users: [ann], features: [`FEATURE_NAME_${feature}`] });
    assert.equal(run([user(contact)], {}, pages).changes.length, 1);
    assert.throws(() => run([user(contact)]), {
      message:
        "user missing valid credential: new 0 (`Bob`); a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does",
    });
  });
}

test("a key of another user of the organization is refused, and one that two new users share", () => {
  for (const users of [[user({ apiKeys: [keyParams(0)] })], [user(), user()]]) {
    assert.throws(() => run(users), {
      code: "already_exists",
      message: /already belongs to a user of this organization/,
    });
  }
});

test("what the keys' texts tell is refused before any curve work", () => {
  const curves = { ...nodeCurves, compressPoint: () => assert.fail("curve work") };
  const first = user({ apiKeys: [keyParams(1), keyParams(2)] });
  assert.throws(() => run([first, user({ apiKeys: [keyParams(0)] })], { curves }), { code: "already_exists" });
  const many = Array.from({ length: 3 }, () => user({ apiKeys: Array.from({ length: 100 }, () => keyParams(1)) }));
  assert.throws(() => run(many, { curves }), {
    code: "invalid_argument",
    message: "one activity may create at most 200 api keys, and this one asks for 300",
  });
});

test("an unknown tag is not found", () => {
  assert.throws(() => run([user({ userTags: ["a", "z"] })]), {
    code: "not_found",
    message: "unable to find user tag z in organization acme",
  });
});

test("a passkey is credential enough, and no two users share one", () => {
  const [change] = run([user({ apiKeys: [], authenticators: [passkeyParams(0)] })]).changes;
  assert.ok(change?.op === "put" && change.kind === "user");
  assert.deepEqual(
    change.value.authenticators?.map(({ credentialId }) => credentialId),
    [authenticator(0).credentialId],
  );
  const twice = [0, 0].map((n) => user({ apiKeys: [], authenticators: [passkeyParams(n)] }));
  assert.throws(() => run(twice), { code: "already_exists", message: /^authenticator with credential id/ });
});

test("passkeys are counted before any is verified", () => {
  const curves = { ...nodeCurves, sha256: () => assert.fail("work"), compressPoint: () => assert.fail("work") };
  const some = (length: number) =>
    user({ apiKeys: [], authenticators: Array.from({ length }, () => passkeyParams(1)) });
  assert.throws(() => run([some(11)], { curves }), {
    code: "resource_exhausted",
    message: "user has exceeded maximum authenticators: delete one with delete_authenticators first",
  });
  assert.throws(
    () =>
      run(
        Array.from({ length: 21 }, () => some(10)),
        { curves },
      ),
    {
      code: "invalid_argument",
      message: "one activity may create at most 200 authenticators, and this one asks for 210",
    },
  );
});

test("the limit counts users that are there and users that come, in parents and sub-organizations by their own number", () => {
  const three = [user(), user({ apiKeys: [keyParams(2)] }), user({ apiKeys: [keyParams(3)] })];
  const limits = { usersPerOrganization: 4, usersPerSubOrganization: 3 };
  assert.equal(run(three, { limits }).changes.length, 3);
  assert.throws(() => run(three, { limits, parentId: "parent" }), {
    code: "resource_exhausted",
    message: /^organization has reached its limit of 3 users; /,
  });
});

test("parameters need every list, allow null for contacts, and tolerate keys nobody knows", () => {
  const fits = (value: unknown) => activityValidators[createUsers.type]?.({ users: [value] });
  assert.equal(fits(user()), true);
  assert.equal(fits({ ...user(), userEmail: null, userPhoneNumber: null, color: "red" }), true);
  for (const list of ["apiKeys", "authenticators", "oauthProviders", "userTags"] as const) {
    const { [list]: _, ...rest } = user();
    assert.equal(fits(rest), false, list);
    assert.equal(fits({ ...rest, [list]: null }), false, list);
  }
  assert.equal(fits(user({ apiKeys: [keyParams(1, { expirationSeconds: null })] })), true);
  assert.equal(fits({ ...user(), apiKeys: [{ ...keyParams(1), expirationSeconds: 60 }] }), false);
  assert.equal(fits({ ...user(), apiKeys: [{ ...keyParams(1), curveType: "API_KEY_CURVE_P384" }] }), false);
  assert.equal(activityValidators[createUsers.type]?.({ users: [] }), false);
});

const attestation = { credentialId: "raw", clientDataJson: "data", attestationObject: "object" };
const keyV1 = { apiKeyName: "key 1", publicKey: publicKey(1), expirationSeconds: "60" };
const passkey = { authenticatorName: "phone", challenge: "x", attestation: { ...attestation, transports: [] } };
const passkeyV1 = {
  authenticatorName: "phone",
  userId: "nobody",
  challenge: "x",
  attestation: {
    id: "id",
    rawId: "raw",
    type: "public-key",
    response: { clientDataJson: "data", attestationObject: "object" },
    clientExtensionResults: {},
  },
};
const link = { providerName: "issuer", oidcToken: "token" };
const bob = { userName: "Bob", userEmail: "bob@example.com", userTags: ["a"] };

const translations: [suffix: string, older: object, newest: object][] = [
  [
    "_V3",
    {
      ...bob,
      userPhoneNumber: "+15551234567",
      apiKeys: [keyParams(1)],
      authenticators: [passkey],
      oauthProviders: [link],
    },
    {
      ...bob,
      userPhoneNumber: "+15551234567",
      apiKeys: [keyParams(1)],
      authenticators: [passkey],
      oauthProviders: [link],
    },
  ],
  [
    "_V2",
    { ...bob, apiKeys: [keyV1], authenticators: [passkey] },
    { ...bob, apiKeys: [{ ...keyV1, curveType: "API_KEY_CURVE_P256" }], authenticators: [passkey], oauthProviders: [] },
  ],
  [
    "",
    { ...bob, accessType: "ACCESS_TYPE_ALL", apiKeys: [keyV1], authenticators: [passkeyV1] },
    { ...bob, apiKeys: [{ ...keyV1, curveType: "API_KEY_CURVE_P256" }], authenticators: [passkey], oauthProviders: [] },
  ],
];
for (const [suffix, older, newest] of translations) {
  const type = `ACTIVITY_TYPE_CREATE_USERS${suffix}`;
  const version = createUsers.versions?.find((candidate) => candidate.type === type);

  test(`${type} is translated to the newest form`, () => {
    assert.equal(activityValidators[type]?.({ users: [older] }), true);
    assert.deepEqual(version?.translate({ users: [older] } as never), { users: [newest] });
    assert.equal(activityValidators[createUsers.type]?.({ users: [newest] }), true);
  });

  test(`${type}: what only a later version has is left aside, unchecked as it is`, () => {
    const stuffed = { userPhoneNumber: [5], oauthProviders: "x", ...older };
    assert.equal(activityValidators[type]?.({ users: [stuffed] }), true);
    assert.deepEqual(version?.translate({ users: [stuffed] } as never), { users: [newest] });
  });
}
