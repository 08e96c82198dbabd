import assert from "node:assert/strict";
import { test } from "node:test";
import { type ContextChanges, nowMs, runActivity } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { apiKey, keyParams, organization, person, publicKey } from "../../test/members.ts";
import { authenticator, passkeyParams } from "../../test/passkeys.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { nodeSigning } from "../curves/node_signing.ts";
import {
  type CreateSubOrganizationParams,
  olderPartsOf,
  type RootUserParams,
  withOlderParts,
} from "../fields/new_sub_organization.ts";
import type { PrivateKeyParams } from "../fields/private_keys.ts";
import { activityForms } from "../generated/activities.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { put, type Settings } from "../state/entities.ts";
import { seedOfWallet } from "../state/wallet_secret.ts";
import { createSubOrganization } from "./create_sub_organization.ts";

const acme = organization({ users: [person("ann", { apiKeys: [apiKey(0)] })] });
const key = { apiKeys: [keyParams(1)] };

function run(params: Partial<CreateSubOrganizationParams> = {}, context: ContextChanges = {}) {
  const needed = { subOrganizationName: "Sub", rootQuorumThreshold: 1, rootUsers: [{ userName: "Bob", ...key }] };
  return runActivity(createSubOrganization, acme, { ...needed, ...params }, context);
}

function settingsOf({ births }: ReturnType<typeof run>): Settings {
  const change = births?.[0]?.changes.find(({ kind }) => kind === "settings");
  assert.ok(change?.op === "put" && change.kind === "settings");
  return change.value;
}

const withUsers = (...rootUsers: RootUserParams[]) => run({ rootUsers });

test("an organization is born with its users, its quorum and its settings, and the parent stays as it was", () => {
  const cleo = { userName: "Cleo", userEmail: "cleo@example.com", userPhoneNumber: "+15551234567" };
  const { changes, births, result } = run({ rootUsers: [{ userName: "Bob", ...key }, cleo], rootQuorumThreshold: 2 });
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const features = ["EMAIL_RECOVERY", "EMAIL_AUTH", "SMS_AUTH", "OTP_EMAIL_AUTH"];
  assert.deepEqual(changes, []);
  assert.deepEqual(births, [
    {
      organizationId: "new 0",
      organizationName: "Sub",
      changes: [
        put("settings", {
          organizationName: "Sub",
          features: features.map((name) => ({ name: `FEATURE_NAME_${name}` })),
          ...times,
        }),
        put("user", {
          userId: "new 1",
          userName: "Bob",
          userTags: [],
          apiKeys: [apiKey(1, { apiKeyId: "new 2", proven: true, ...times })],
          ...times,
        }),
        put("user", { userId: "new 3", ...cleo, userTags: [], apiKeys: [], ...times }),
        put("rootQuorum", { threshold: 2, userIds: ["new 1", "new 3"] }),
      ],
    },
  ]);
  assert.deepEqual(result, { subOrganizationId: "new 0", rootUserIds: ["new 1", "new 3"] });
});

const switches = {
  disableEmailRecovery: "FEATURE_NAME_EMAIL_RECOVERY",
  disableEmailAuth: "FEATURE_NAME_EMAIL_AUTH",
  disableSmsAuth: "FEATURE_NAME_SMS_AUTH",
  disableOtpEmailAuth: "FEATURE_NAME_OTP_EMAIL_AUTH",
};
for (const [field, feature] of Object.entries(switches)) {
  test(`${field} leaves ${feature} off, and only that; false and null leave it on`, () => {
    const names = settingsOf(run({ [field]: true })).features.map(({ name }) => name);
    assert.deepEqual(
      names,
      Object.values(switches).filter((name) => name !== feature),
    );
    for (const value of [false, null]) assert.equal(settingsOf(run({ [field]: value })).features.length, 4);
  });
}

test("a sub-organization cannot create one", () => {
  assert.throws(() => run({}, { parentId: "parent" }), {
    code: "permission_denied",
    errorCode: "INVALID_ACTIVITY_CALLER",
    message: "create_sub_organization cannot be called by sub-organizations: name the parent in organizationId",
  });
});

test("the parent's own key may be a root user's key, and two root users may not share one", () => {
  assert.equal(withUsers({ userName: "Ann", apiKeys: [keyParams(0)] }).births?.length, 1);
  assert.throws(() => withUsers({ userName: "Bob", ...key }, { userName: "Cleo", ...key }), {
    code: "already_exists",
    message: `public key \`${publicKey(1)}\` already belongs to a user of this organization; make another key pair`,
  });
});

test("a root user needs a credential that does not expire", () => {
  const missing = {
    code: "invalid_argument",
    message:
      "user missing valid credential: new 1 (`Bob`); a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does",
  };
  assert.throws(() => withUsers({ userName: "Bob" }), missing);
  assert.throws(() => withUsers({ userName: "Bob", apiKeys: [keyParams(1, { expirationSeconds: "900" })] }), missing);
});

test("a contact is a credential while its login is on in the new organization", () => {
  const email = { userName: "Bob", userEmail: "bob@example.com" };
  const phone = { userName: "Bob", userPhoneNumber: "+15551234567" };
  assert.equal(withUsers(email).births?.length, 1);
  assert.equal(withUsers(phone).births?.length, 1);
  const missing = {
    code: "invalid_argument",
    message:
      "user missing valid credential: new 1 (`Bob`); a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does",
  };
  assert.equal(run({ rootUsers: [email], disableEmailAuth: true }).births?.length, 1);
  assert.throws(() => run({ rootUsers: [email], disableEmailAuth: true, disableOtpEmailAuth: true }), missing);
  assert.throws(() => run({ rootUsers: [phone], disableSmsAuth: true }), missing);
});

const thresholds: [what: string, params: Partial<CreateSubOrganizationParams>, message: string][] = [
  [
    "a threshold of zero",
    { rootQuorumThreshold: 0 },
    "quorum threshold must be non-zero integer: how many of its users must approve, at least 1",
  ],
  [
    "a negative threshold",
    { rootQuorumThreshold: -1 },
    "quorum threshold must be non-zero integer: how many of its users must approve, at least 1",
  ],
  [
    "a threshold above its users",
    { rootQuorumThreshold: 2 },
    "quorum threshold 2 is larger than its 1 user(s); name more users, or ask for fewer approvals",
  ],
  ["no root users", { rootUsers: [] }, "quorum users missing: name at least one user"],
];
for (const [what, params, message] of thresholds) {
  test(`${what} is refused`, () => {
    assert.throws(() => run(params), { code: "invalid_argument", message });
  });
}

test("what the keys' texts tell is refused before any curve work", () => {
  const curves = { ...nodeCurves, compressPoint: () => assert.fail("curve work") };
  const twice = { rootUsers: [1, 2, 1].map((n) => ({ userName: "Bob", apiKeys: [keyParams(n)] })) };
  assert.throws(() => run(twice, { curves }), { code: "already_exists" });
  const apiKeys = Array.from({ length: 100 }, () => keyParams(1));
  assert.throws(() => run({ rootUsers: [1, 2, 3].map(() => ({ userName: "Bob", apiKeys })) }, { curves }), {
    code: "invalid_argument",
    message: "one activity may create at most 200 api keys, and this one asks for 300",
  });
});

const wallet = { walletName: "w", accounts: [] };
const passkey = passkeyParams(7);
const clientSignature = {
  publicKey: publicKey(1),
  scheme: "CLIENT_SIGNATURE_SCHEME_API_P256",
  message: "m",
  signature: "s",
} as const;
const link = { providerName: "issuer", oidcToken: "token" };
test("an identity that nobody vouches for is refused, and nothing is born", () => {
  const claims = { providerName: "issuer", oidcClaims: { iss: "https://a.example", sub: "s", aud: "a" } };
  assert.throws(() => run({ rootUsers: [{ userName: "Bob", ...key, oauthProviders: [claims] }] }), {
    code: "invalid_argument",
    message: /^invalid oauth provider: oidcClaims need an oidcToken/,
  });
});

test("a token that is none, and a client signature without a token, are refused", () => {
  assert.throws(() => run({ verificationToken: "a.b.c" }), {
    code: "invalid_argument",
    message: "invalid verification token: it is another kind of token",
  });
  assert.throws(() => run({ clientSignature }), {
    code: "invalid_argument",
    message: "missing parameter: verificationToken: clientSignature says what it is used for",
  });
});

test("a root user with nothing but a passkey can act, and the parent's stamp proves it", () => {
  const [birth] = run({ rootUsers: [{ userName: "Bob", authenticators: [passkey] }] }).births ?? [];
  const users = birth?.changes.flatMap((change) => (change.op === "put" && change.kind === "user" ? change.value : []));
  assert.deepEqual(
    users?.map(({ authenticators }) => authenticators?.map(({ credentialId, proven }) => [credentialId, proven])),
    [[[authenticator(7).credentialId, true]]],
  );
});

test("the parent's list of origins binds the passkeys that a sub-organization is made with", () => {
  const rootUsers = [{ userName: "Bob", authenticators: [passkey] }];
  assert.throws(() => run({ rootUsers }, { allowedOrigins: () => ["https://other.example"] }), {
    code: "invalid_argument",
    message: /^invalid authenticator attestation: the origin .* is not an allowed one$/,
  });
});

const ethereum = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
} as const;

test("a wallet is born with its organization, belongs to it alone and counts there", () => {
  const asked = { walletName: "Own", accounts: [ethereum, { ...ethereum, path: "m/1", name: "second" }] };
  const { changes, records, births, result } = run({ wallet: { ...asked, mnemonicLength: 24 } });
  assert.deepEqual([changes, records], [[], undefined]);
  const [birth] = births ?? [];
  const made = birth?.records ?? [];
  assert.deepEqual(
    made.map(({ record }) => [record.kind, record.organizationId]),
    [
      ["wallet", "new 0"],
      ["walletAccount", "new 0"],
      ["walletAccount", "new 0"],
    ],
  );
  assert.deepEqual(birth?.changes.at(-1), put("keyCounts", { wallets: 1, privateKeys: 0 }));
  const [first] = made;
  assert.ok(first?.record.kind === "wallet");
  assert.equal(first.secret.length, 2 + 32);
  const addresses = made.flatMap(({ record }) => (record.kind === "walletAccount" ? record.address : []));
  assert.deepEqual(result.wallet, { walletId: first.record.walletId, addresses });
  // Told apart from the parent's own: the same mnemonic may be in both.
  const parents = testKeyAccess().blindIndex(
    "wallet",
    seedOfWallet(nodeSigning.keys, first.record.language, first.secret),
  );
  assert.notEqual(first.blindIndex, parents);
});

test("a wallet that cannot be derived, or is more than a sub-organization may have, keeps it from being born", () => {
  assert.throws(() => run({ wallet: { walletName: "w", accounts: [{ ...ethereum, path: "x" }] } }), {
    code: "invalid_argument",
    message: /^invalid path: write it like m/,
  });
  assert.throws(() => run({ wallet: { walletName: "w", accounts: [ethereum, ethereum] } }), {
    code: "invalid_argument",
    message: "invalid path: accounts 0 and 1 of the request are the same",
  });
  assert.throws(() => run({ wallet }, { limits: { walletsPerSubOrganization: 0 } }), {
    code: "resource_exhausted",
    message: /^organization has reached its limit of 0 wallets; /,
  });
});

test("every version with a wallet takes one and answers with it", () => {
  const rootUser = { userName: "Bob", apiKeys: [{ ...keyParams(1) }], authenticators: [] };
  for (const suffix of ["_V4", "_V5", "_V6", "_V7", "_V8"]) {
    const type = `ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION${suffix}`;
    const params = {
      subOrganizationName: "Sub",
      rootQuorumThreshold: 1,
      rootUsers: [{ ...rootUser, oauthProviders: [] }],
      wallet: { walletName: "w", accounts: [ethereum] },
    };
    assert.equal(activityValidators[type]?.(params), true, type);
    const form = activityForms.get(type);
    assert.ok(form);
    const { result } = run(form.translate(params) as CreateSubOrganizationParams);
    const { wallet } = form.answer(result) as typeof result;
    assert.match(wallet?.addresses[0] ?? "", /^0x[0-9a-fA-F]{40}$/);
  }
});

const hotKey = (changes: Partial<PrivateKeyParams> = {}): PrivateKeyParams => ({
  privateKeyName: "hot",
  curve: "CURVE_SECP256K1",
  addressFormats: ["ADDRESS_FORMAT_ETHEREUM"],
  ...changes,
});

test("the third version's private keys are born with their organization, count there and stand in its result", () => {
  const type = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3";
  const form = activityForms.get(type);
  assert.ok(form);
  const rootUsers = [{ userName: "Bob", apiKeys: [keyParams(1)], authenticators: [] }];
  const asked = { subOrganizationName: "Sub", rootQuorumThreshold: 1, rootUsers };
  const params = {
    ...asked,
    privateKeys: [hotKey(), hotKey({ privateKeyName: "cold", curve: "CURVE_P256", addressFormats: [] })],
  };
  assert.equal(activityValidators[type]?.(params), true);
  const { births, result } = run(form.translate(params) as CreateSubOrganizationParams);
  const [birth] = births ?? [];
  const made = birth?.records ?? [];
  assert.deepEqual(birth?.changes.at(-1), put("keyCounts", { wallets: 0, privateKeys: 2 }));
  const shown = made.map(({ record, secret, blindIndex }) => {
    assert.ok(record.kind === "privateKey");
    assert.deepEqual([record.organizationId, record.imported, secret.length], ["new 0", false, 32]);
    assert.notEqual(blindIndex, testKeyAccess().blindIndex("privateKey", secret), "the parent's would be another");
    return { privateKeyId: record.privateKeyId, addresses: record.addresses };
  });
  assert.deepEqual(shown[1]?.addresses, []);
  assert.match(shown[0]?.addresses[0]?.address ?? "", /^0x[0-9a-fA-F]{40}$/);
  assert.deepEqual(form.answer(result), { subOrganizationId: "new 0", rootUserIds: ["new 1"], privateKeys: shown });
  const none = run(form.translate({ ...params, privateKeys: [] }) as CreateSubOrganizationParams);
  assert.deepEqual(none.births?.[0]?.records, undefined);
  assert.deepEqual(form.answer(none.result).privateKeys, []);
});

const badKeys: [what: string, privateKeys: PrivateKeyParams[], refusal: { code: string; message: string }][] = [
  [
    "a name twice",
    [hotKey(), hotKey({ privateKeyName: "HOT" })],
    { code: "invalid_argument", message: "private key label must be unique: `HOT` exists" },
  ],
  [
    "a tag, of which a new organization has none",
    [hotKey({ privateKeyTags: ["tag"] })],
    { code: "not_found", message: "unable to find private key tag tag in organization new 0" },
  ],
];
for (const [what, privateKeys, refusal] of badKeys) {
  test(`private keys with ${what} keep it from being born`, () => {
    assert.throws(() => run(withOlderParts({}, { privateKeys })), refusal);
  });
}

test("private keys keep to their curve's formats and to a sub-organization's limit", () => {
  const withKey = (changes: Parameters<typeof hotKey>[0] = {}) =>
    withOlderParts({}, { privateKeys: [hotKey(changes)] });
  assert.throws(() => run(withKey({ curve: "CURVE_ED25519" })), { code: "invalid_argument" });
  assert.throws(() => run(withKey(), { limits: { privateKeysPerSubOrganization: 0 } }), {
    code: "resource_exhausted",
    message: /^organization has reached its limit of 0 private keys; /,
  });
});

test("what is not built may be null or empty", () => {
  const none = { wallet: null, verificationToken: null, clientSignature: null, privateKeys: [] };
  const user = { userName: "Bob", ...key, authenticators: [], oauthProviders: null };
  assert.equal(run({ ...none, rootUsers: [user] }).births?.length, 1);
});

test("there may be as many root users as a sub-organization may have users", () => {
  const users = [1, 2, 3].map((n) => ({ userName: `User ${n}`, apiKeys: [keyParams(n)] }));
  const limits = { usersPerOrganization: 0, usersPerSubOrganization: 2 };
  assert.equal(run({ rootUsers: users.slice(0, 2) }, { limits }).births?.length, 1);
  assert.throws(() => run({ rootUsers: users }, { limits }), {
    code: "resource_exhausted",
    message: /^organization has reached its limit of 2 users; /,
  });
});

test("root users carry no tags, whatever a body says: a new organization has none", () => {
  const stuffed = { userName: "Bob", ...key, userTags: ["forged"], userId: "forged", createdAtMs: 0 };
  const user = withUsers(stuffed).births?.[0]?.changes.find(({ kind }) => kind === "user");
  assert.ok(user?.op === "put" && user.kind === "user");
  assert.deepEqual([user.value.userTags, user.value.userId, user.value.createdAtMs], [[], "new 1", nowMs]);
});

test("parameters may leave out lists, write null for what is optional, and hold keys nobody knows", () => {
  const params = { subOrganizationName: "Sub", rootUsers: [{ userName: "Bob" }], rootQuorumThreshold: 1 };
  const fits = (changes: object) => activityValidators[createSubOrganization.type]?.({ ...params, ...changes });
  assert.equal(fits({}), true);
  assert.equal(fits({ generateAppProofs: false, rootUsers: [{ userName: "Bob", apiKeys: null, color: "red" }] }), true);
  for (const field of ["wallet", "verificationToken", "clientSignature", ...Object.keys(switches)]) {
    assert.equal(fits({ [field]: null }), true, field);
  }
  for (const field of Object.keys(params)) {
    assert.equal(fits({ [field]: undefined }), false, field);
    assert.equal(fits({ [field]: null }), false, field);
  }
  assert.equal(fits({ rootQuorumThreshold: "1" }), false);
  assert.equal(fits({ disableSmsAuth: "yes" }), false);
});

const organizationParams = { subOrganizationName: "Sub", rootQuorumThreshold: 1 };
const keyV1 = { apiKeyName: "key 1", publicKey: publicKey(1), expirationSeconds: "60" };
const p256 = { ...keyV1, curveType: "API_KEY_CURVE_P256" };
const bob = { userName: "Bob", userEmail: "bob@example.com", authenticators: [passkey] };
const early = { wallet, disableEmailRecovery: true, disableEmailAuth: true };
const late = { disableSmsAuth: true, disableOtpEmailAuth: true, verificationToken: "t", clientSignature };
const phone = { userPhoneNumber: "+15551234567" };
const privateKeys: PrivateKeyParams[] = [
  { privateKeyName: "k", curve: "CURVE_P256", privateKeyTags: [], addressFormats: [] },
];

/** Each older version's published parameters, and what they are in the newest form. */
const translations: [suffix: string, older: object, newest: object][] = [
  [
    "_V7",
    {
      ...organizationParams,
      ...early,
      ...late,
      rootUsers: [{ ...bob, ...phone, apiKeys: [p256], oauthProviders: [link] }],
    },
    withOlderParts(
      {
        ...organizationParams,
        ...early,
        ...late,
        rootUsers: [{ ...bob, ...phone, apiKeys: [p256], oauthProviders: [link] }],
      },
      { signUpForm: "signup" },
    ),
  ],
  [
    "_V6",
    { ...organizationParams, ...early, rootUsers: [{ ...bob, apiKeys: [p256], oauthProviders: [link] }] },
    { ...organizationParams, ...early, rootUsers: [{ ...bob, apiKeys: [p256], oauthProviders: [link] }] },
  ],
  [
    "_V5",
    { ...organizationParams, ...early, rootUsers: [{ ...bob, apiKeys: [keyV1], oauthProviders: [link] }] },
    { ...organizationParams, ...early, rootUsers: [{ ...bob, apiKeys: [p256], oauthProviders: [link] }] },
  ],
  [
    "_V4",
    { ...organizationParams, ...early, rootUsers: [{ ...bob, apiKeys: [keyV1] }] },
    { ...organizationParams, ...early, rootUsers: [{ ...bob, apiKeys: [p256] }] },
  ],
  [
    "_V3",
    { ...organizationParams, privateKeys, rootUsers: [{ ...bob, apiKeys: [keyV1] }] },
    withOlderParts({ ...organizationParams, rootUsers: [{ ...bob, apiKeys: [p256] }] }, { privateKeys }),
  ],
  [
    "_V2",
    { ...organizationParams, rootUsers: [{ ...bob, apiKeys: [keyV1] }] },
    { ...organizationParams, rootUsers: [{ ...bob, apiKeys: [p256] }] },
  ],
  [
    "",
    { name: "Sub", rootAuthenticator: passkey },
    { ...organizationParams, rootUsers: [{ userName: "Root user", apiKeys: [], authenticators: [passkey] }] },
  ],
];
for (const [suffix, older, newest] of translations) {
  const type = `ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION${suffix}`;
  const form = activityForms.get(type);

  test(`${type} is translated to the newest form`, () => {
    assert.equal(activityValidators[type]?.(older), true);
    assert.deepEqual(form?.translate(older), newest);
    assert.equal(activityValidators[createSubOrganization.type]?.(newest), true);
  });

  test(`${type}: what only a later version has is left aside, unchecked as it is`, () => {
    const forged = { disableSmsAuth: "x", clientSignature: 5, privateKeys: ["x"], ...older };
    const users = "rootUsers" in older ? (older.rootUsers as object[]) : undefined;
    const rootUsers = users?.map((user) => ({ userPhoneNumber: [5], oauthProviders: "x", userTags: ["t"], ...user }));
    const stuffed = rootUsers === undefined ? forged : { ...forged, rootUsers };
    assert.equal(activityValidators[type]?.(stuffed), true);
    assert.deepEqual(form?.translate(stuffed), newest);
  });
}

test("the third version's result lists the private keys it made: none", () => {
  const result = { subOrganizationId: "new 0", rootUserIds: ["new 1"] };
  const answer = activityForms.get("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3")?.answer(result);
  assert.deepEqual(answer, { ...result, privateKeys: [] });
});

test("a body of the newest version is none of an older one, whatever fields it has", () => {
  const type = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8";
  const rootUsers = [{ userName: "Bob", ...key }];
  const asked = { subOrganizationName: "Sub", rootQuorumThreshold: 1, rootUsers };
  for (const privateKeys of [[hotKey()], 5, null, [{ curve: "x", addressFormats: [] }]]) {
    const stuffed = { ...asked, signUpForm: "signup", privateKeys };
    assert.equal(activityValidators[type]?.(stuffed), true);
    const params = activityForms.get(type)?.translate(stuffed) as CreateSubOrganizationParams;
    assert.equal(createSubOrganization.cost?.(params), createSubOrganization.cost?.(asked));
    assert.equal(run(params).births?.[0]?.records, undefined);
    assert.deepEqual(olderPartsOf(params), {}, "nor is its client signature read as an older one's");
  }
});
