/** create_sub_organization, delete_sub_organization. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { authenticatorParams } from "../passkeys.ts";
import { invalid, noSuchOrganization } from "../refusals.ts";
import { assertAccepted, assertRefused, type Refusal } from "../wire.ts";
import { badUsers, olderKey, sortedKeys, toKeys } from "./create_users.ts";
import { activityEntry, type BadInput } from "./entry.ts";
import { envelope, type Fixture, type Json } from "./fixture.ts";
import { ethereum, privateKeyParams, solana } from "./keys.ts";
import { expiringKey, type KeyParams, keyParams, type UserParams, userParams } from "./people.ts";
import { badPath } from "./wallet_accounts.ts";

type RootUser = Omit<UserParams, "userTags">;
type Params = { subOrganizationName: string; rootUsers: RootUser[]; rootQuorumThreshold: number };

function rootUser(more: Partial<RootUser> = {}): RootUser {
  const { userTags: _, ...user } = userParams(more);
  return user;
}

function params(more: Partial<Params> = {}): Params {
  return { subOrganizationName: `Sub ${randomUUID()}`, rootUsers: [rootUser()], rootQuorumThreshold: 1, ...more };
}

function invalidCaller(message: string): Refusal {
  return { status: 403, code: 7, message, errorCode: "INVALID_ACTIVITY_CALLER" };
}

/** The one sub-organization that is new. */
function newSub({
  before,
  after,
}: {
  before: { subOrganizationIds: string[] };
  after: { subOrganizationIds: string[] };
}) {
  const added = after.subOrganizationIds.filter((id) => !before.subOrganizationIds.includes(id));
  assert.equal(added.length, 1);
  return added[0] ?? "";
}

/** What the parent's members see of it. */
async function look(fixture: Fixture, organizationId: string) {
  const at = { ...fixture.parent, organizationId };
  const { users } = await fixture.ask("list_users", {}, fixture.parent.member, at);
  const { configs } = await fixture.ask("get_organization_configs", {}, fixture.parent.member, at);
  return { users, configs };
}

const missingCredential = invalid(
  /^user missing valid credential: [0-9a-f-]{36} \(`[^`]+`\); a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does$/,
);

export const createSubOrganization = activityEntry<Params>({
  good: () =>
    params({
      rootUsers: [
        rootUser({
          userEmail: "owner@example.com",
          userPhoneNumber: "+15551234567",
          apiKeys: [keyParams(), expiringKey()],
        }),
        rootUser({ apiKeys: [keyParams("API_KEY_CURVE_SECP256K1")] }),
      ],
      rootQuorumThreshold: 2,
    }),
  required: [
    "subOrganizationName",
    "rootUsers",
    "rootUsers.0.userName",
    ...["apiKeyName", "publicKey", "curveType"].map((name) => `rootUsers.0.apiKeys.0.${name}`),
    "rootQuorumThreshold",
  ],
  result: (_, seen) => ({ subOrganizationId: newSub(seen), rootUserIds: seen.result.rootUserIds }),
  async shows({ rootUsers, rootQuorumThreshold: threshold }, { before, after, result }, fixture) {
    const { subOrganizationId, rootUserIds } = result;
    assert.deepEqual({ ...after, subOrganizationIds: before.subOrganizationIds }, before);
    const { users, configs } = await look(fixture, subOrganizationId);
    assert.deepEqual(configs.quorum, { threshold, userIds: rootUserIds });
    assert.equal(users.length, rootUsers.length);
    rootUsers.forEach((sent, index) => {
      const { userName, userEmail, userPhoneNumber, apiKeys } = users.find(
        ({ userId }: Json) => userId === rootUserIds[index],
      );
      assert.deepEqual(
        { userName, userEmail, userPhoneNumber, apiKeys: toKeys(apiKeys) },
        { userEmail: undefined, userPhoneNumber: undefined, ...pick(sent) },
      );
    });
    assert.deepEqual(
      configs.features.map(({ name }: Json) => name).sort(),
      ["EMAIL_AUTH", "EMAIL_RECOVERY", "OTP_EMAIL_AUTH", "SMS_AUTH"].map((name) => `FEATURE_NAME_${name}`),
    );
  },
  bad: [
    // A contact whose login is on would be a credential here; the keys are what these users lack.
    ...badUsers
      .filter(({ name }) => name !== "no credential")
      .map(
        ({ name, more, refusal, kept }): BadInput<Params> => ({
          name,
          bend: (good, fixture) => {
            return { ...good, rootUsers: [{ ...rootUser(), ...more(fixture) }, ...good.rootUsers.slice(1)] };
          },
          refusal: typeof refusal === "function" ? ({ rootUsers }) => refusal(rootUsers[0]) : refusal,
          ...(kept && { kept: "FAILED" }),
        }),
      ),
    ...[0, -1].map(
      (rootQuorumThreshold): BadInput<Params> => ({
        name: `a threshold of ${rootQuorumThreshold}`,
        bend: (good) => ({ ...good, rootQuorumThreshold }),
        refusal: invalid("quorum threshold must be non-zero integer: how many of its users must approve, at least 1"),
        kept: "FAILED",
      }),
    ),
    {
      name: "more approvals than there are users",
      bend: (good) => ({ ...good, rootQuorumThreshold: 3 }),
      refusal: invalid("quorum threshold 3 is larger than its 2 user(s); name more users, or ask for fewer approvals"),
      kept: "FAILED",
    },
    {
      name: "no root user",
      bend: (good) => ({ ...good, rootUsers: [] }),
      refusal: invalid("quorum users missing: name at least one user"),
      kept: "FAILED",
    },
    {
      name: "a root user without a credential",
      bend: (good) => ({ ...good, rootUsers: [...good.rootUsers, { userName: "Nobody" }] }),
      refusal: missingCredential,
      kept: "FAILED",
    },
    {
      name: "a root user whose only key will expire",
      bend: (good) => ({ ...good, rootUsers: [rootUser({ apiKeys: [expiringKey()] })], rootQuorumThreshold: 1 }),
      refusal: missingCredential,
      kept: "FAILED",
    },
    {
      name: "a contact whose login is switched off",
      bend: (good) => ({
        ...good,
        rootUsers: [rootUser({ apiKeys: [], userEmail: "mail@example.com", userPhoneNumber: "+15551234567" })],
        rootQuorumThreshold: 1,
        disableEmailAuth: true,
        disableOtpEmailAuth: true,
        disableSmsAuth: true,
      }),
      refusal: missingCredential,
      kept: "FAILED",
    },
    {
      name: "one key for two root users",
      bend: (good) => {
        const apiKeys = [keyParams()];
        return { ...good, rootUsers: [rootUser({ apiKeys }), rootUser({ apiKeys })] };
      },
      refusal: ({ rootUsers }) => ({
        status: 409,
        code: 6,
        message: `public key \`${rootUsers[0].apiKeys[0].publicKey}\` already belongs to a user of this organization; make another key pair`,
      }),
      kept: "FAILED",
    },
    {
      name: "a wallet with an account of no path",
      bend: (good) => {
        const account = { curve: "CURVE_SECP256K1", addressFormat: "ADDRESS_FORMAT_ETHEREUM", path: "44'/60'" };
        const accounts = [{ ...account, pathFormat: "PATH_FORMAT_BIP32" }];
        return { ...good, wallet: { walletName: "Wallet", accounts } };
      },
      refusal: invalid(badPath),
      kept: "FAILED",
    },
    {
      name: "a token that is none",
      bend: (good) => ({ ...good, verificationToken: "token" }),
      refusal: invalid("invalid verification token: not three parts"),
      kept: "FAILED",
    },
    {
      name: "in a sub-organization",
      at: "sub",
      bend: (good) => good,
      refusal: invalidCaller(
        "create_sub_organization cannot be called by sub-organizations: name the parent in organizationId",
      ),
      kept: "FAILED",
    },
  ],
  foreign: [],
  versions: {
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7: () => params(),
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V6: () => params(),
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V5: () => params({ rootUsers: [rootUser({ apiKeys: [olderKey()] })] }),
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V4: () => ({ ...params(), rootUsers: [olderRootUser()] }),
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3: () => ({ ...params(), rootUsers: [olderRootUser()], privateKeys: [] }),
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V2: () => ({ ...params(), rootUsers: [olderRootUser()] }),
  },
  also: {
    "each login can be switched off at birth": async (fixture) => {
      const { subOrganizationId } = await fixture.done("create_sub_organization", {
        ...params(),
        disableEmailRecovery: true,
        disableEmailAuth: true,
        disableSmsAuth: true,
        disableOtpEmailAuth: true,
      });
      assert.deepEqual((await look(fixture, subOrganizationId)).configs.features, []);
    },
    "an e-mail address alone lets a root user in": async (fixture) => {
      const rootUsers = [{ userName: "Mail", userEmail: "mail@example.com" }];
      await fixture.done("create_sub_organization", { ...params(), rootUsers });
    },
    "the first version has one root user, whose passkey opens its sub-organization": async (fixture) => {
      const { place, send } = fixture;
      const rootAuthenticator = authenticatorParams();
      const parameters = { name: "First", rootAuthenticator };
      const body = envelope("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION", place.organizationId, parameters);
      const answer = await send({ kind: "submit", path: "create_sub_organization", body, key: place.root.p256 });
      assertAccepted(answer);
      const { subOrganizationId } = answer.json.activity.result.createSubOrganizationResult;
      const at = { ...fixture.parent, organizationId: subOrganizationId };
      const { users } = await fixture.ask("list_users", {}, fixture.parent.member, at);
      assert.deepEqual(
        users.map(({ authenticators }: Json) => authenticators.map(({ credentialId }: Json) => credentialId)),
        [[rootAuthenticator.attestation.credentialId]],
      );
    },
    "a wallet is born with it": async (fixture) => {
      const wallet = { walletName: "Wallet", accounts: [ethereum, solana] };
      const { subOrganizationId, wallet: made } = await fixture.done("create_sub_organization", {
        ...params(),
        wallet,
      });
      const at = { ...fixture.parent, organizationId: subOrganizationId };
      const { walletId, addresses } = made;
      const { accounts } = await fixture.ask("list_wallet_accounts", { walletId }, fixture.parent.member, at);
      assert.deepEqual(
        accounts.map(({ address }: Json) => address),
        addresses,
      );
    },
    "private keys of the third version are born with it": async (fixture) => {
      const parameters = { ...params(), rootUsers: [olderRootUser()], privateKeys: [privateKeyParams()] };
      const { place } = fixture;
      const body = envelope("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3", place.organizationId, parameters);
      const answer = await fixture.send({
        kind: "submit",
        path: "create_sub_organization",
        body,
        key: place.root.p256,
      });
      assertAccepted(answer);
      const { subOrganizationId, privateKeys } = answer.json.activity.result.createSubOrganizationResultV3;
      const at = { ...fixture.parent, organizationId: subOrganizationId };
      const shown = await fixture.ask("list_private_keys", {}, fixture.parent.member, at);
      assert.deepEqual(
        shown.privateKeys.map(({ privateKeyId, addresses }: Json) => ({ privateKeyId, addresses })),
        privateKeys,
      );
    },
  },
});

/** Before identity providers, and before keys had curves. */
function olderRootUser() {
  const { oauthProviders: _, ...user } = rootUser({ apiKeys: [olderKey()] });
  return user;
}

function pick({ userName, userEmail, userPhoneNumber, apiKeys }: RootUser) {
  return {
    userName,
    ...(userEmail !== undefined && { userEmail }),
    ...(userPhoneNumber !== undefined && { userPhoneNumber }),
    apiKeys: sortedKeys(apiKeys as KeyParams[]),
  };
}

export const deleteSubOrganization = activityEntry<{ deleteWithoutExport: boolean }>({
  runsIn: "sub",
  endsPlace: true,
  good: () => ({ deleteWithoutExport: true }),
  required: [],
  result: (_, __, { place }) => ({ subOrganizationUuid: place.organizationId }),
  async shows(_, __, fixture) {
    const { organizationIds } = await fixture.ask("list_suborgs", {}, fixture.parent.root, fixture.parent);
    assert.equal(organizationIds.includes(fixture.place.organizationId), false);
    for (const { p256: key } of [fixture.place.root, fixture.parent.root]) {
      const body = { organizationId: fixture.place.organizationId };
      assertRefused(await fixture.send({ kind: "query", path: "whoami", body, key }), noSuchOrganization);
    }
  },
  bad: [
    {
      name: "in a top-level organization",
      at: "parent",
      bend: (good) => good,
      refusal: invalidCaller("this organization is not a sub-organization: name the one to delete in organizationId"),
      kept: "FAILED",
    },
  ],
  foreign: [],
});
