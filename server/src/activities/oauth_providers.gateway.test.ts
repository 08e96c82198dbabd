/** Identities at other issuers as credentials, and sign-in by them, through gateway and signer on both databases. */
import assert from "node:assert/strict";
import { Fault, faultCodes } from "@keystead/core/fault.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { decodeIssuerKey } from "@keystead/core/log/outside_values.ts";
import { makeIssuerKey } from "../../../core/test/oidc/test_issuer.ts";
import { enableProxy } from "../../test/auth_proxy_rig.ts";
import { testCaller } from "../../test/caller.ts";
import { newHome, olderBody, userIn, versionOf } from "../../test/code_login_rig.ts";
import { type GatewayRig, newUser, type Person } from "../../test/gateway_rig.ts";
import { addPolicy, ask, done, onBothDatabases, refusalOf } from "../../test/policy_rig.ts";
import { claimsOf, newKey, publicKeyOf, query } from "../../test/session_rig.ts";
import { testIssuer, testIssuerKey, testToken } from "../../test/test_issuers.ts";
import { getOauthProviders } from "../queries/get_oauth_providers.ts";
import { listSuborgs } from "../queries/list_suborgs.ts";
import { withoutMac } from "../state/authenticity.ts";
import type { User } from "../state/entities.ts";
import { listLeaves } from "../store/across.ts";
import { dialectOf } from "../views/dialect.ts";

/** Also one that left no trace, because it followed from what was brought. */
async function anyRefusalOf(request: Promise<unknown>): Promise<{ code: number; message: string }> {
  try {
    return await refusalOf(request);
  } catch (error) {
    if (error instanceof Fault) return { code: faultCodes[error.code], message: error.message };
    throw error;
  }
}

const identity = { issuer: testIssuer, audience: "client-1", subject: "subject-1" };
const claimsOfIdentity = { iss: testIssuer, sub: "subject-1", aud: "client-1" };
const now = (rig: GatewayRig) => rig.signer.clock.nowMs;
const byToken = (oidcToken: string, providerName = "Google") => ({ providerName, oidcToken });

async function homeWithProvider(rig: GatewayRig, claims: object = {}) {
  const { organizationId, people } = await newHome(rig, { userEmail: "ann@example.com" });
  const [ann] = people;
  const oauthProviders = [byToken(testToken(now(rig), { ...claims }))];
  const params = { userId: ann.userId, oauthProviders };
  const made = await done<{ providerIds: string[] }>(rig, ann, "create_oauth_providers", params, { organizationId });
  return { organizationId, ann, providerId: made.providerIds[0] ?? "" };
}

function login(rig: GatewayRig, person: Person, organizationId: string, params: object) {
  return rig.submit(person, "oauth_login", params, { organizationId });
}

const providersOf = ({ oauthProviders = [] }: User) =>
  oauthProviders.map(({ issuer, audience, subject }) => ({ issuer, audience, subject }));

onBothDatabases(
  "a user registers an identity by its token, which is not kept, and everybody sees whose it is",
  async (rig) => {
    const { organizationId, ann, providerId } = await homeWithProvider(rig);
    assert.deepEqual(providersOf(await userIn(rig, organizationId, ann.userId)), [identity]);
    for (const request of [{ userId: ann.userId }, {}]) {
      const { oauthProviders } = await ask(rig, ann, getOauthProviders, request, { organizationId });
      assert.deepEqual(
        oauthProviders.map(({ createdAt, updatedAt, ...rest }) => rest),
        [{ providerId, providerName: "Google", ...identity }],
      );
    }
    const find = (identityClaims: object) => {
      const none = {
        withBearer: () => assert.fail(),
        withAppProofs: () => assert.fail(),
        openProofs: () => assert.fail(),
        logStatement: () => assert.fail(),
        logFile: () => assert.fail(),
      };
      const access = { identity: { ...identity, ...identityClaims }, ...none };
      const request = { organizationId: rig.organizationId, filterType: "OIDC_TOKEN", filterValue: "token" };
      return listSuborgs.run(rig.store, testCaller({}), request, dialectOf(undefined), access);
    };
    assert.deepEqual(await find({}), { organizationIds: [organizationId] });
    for (const other of [{ audience: "client-2" }, { subject: "x" }, { issuer: `${testIssuer}/` }]) {
      assert.deepEqual(await find(other), { organizationIds: [] });
    }
  },
);

onBothDatabases("the leaf names the issuer's key that the token was held against", async (rig) => {
  const { organizationId } = await homeWithProvider(rig);
  const leaves = (await listLeaves(rig.store, undefined, 1_000)).filter((row) => row.organizationId === organizationId);
  const outside = leaves.flatMap(({ leaf }) => decodeLeaf(Uint8Array.from(withoutMac(leaf))).outside);
  assert.deepEqual(
    outside.flatMap(({ kind, value }) => {
      if (kind !== "issuerKey") return [];
      const { issuer, key } = decodeIssuerKey(value.value);
      return [[issuer, JSON.parse(key).kid]];
    }),
    [[testIssuer, testIssuerKey.kid]],
  );
});

onBothDatabases(
  "the parent's server signs a child's user in; the nonce binds the token to the session's key",
  async (rig) => {
    const { organizationId, ann } = await homeWithProvider(rig);
    const parentBefore = await versionOf(rig, rig.organizationId);
    const key = newKey();
    const oidcToken = testToken(now(rig), {}, key.publicKey);
    const activity = await login(rig, rig.root, organizationId, { oidcToken, publicKey: key.publicKey });
    const claims = claimsOf((activity.result.oauthLoginResult as { session: string }).session);
    assert.deepEqual([claims.user_id, claims.organization_id], [ann.userId, organizationId]);
    const session = { userId: ann.userId, userName: "", privateKey: key.privateKey };
    const me = await query<{ userId: string }>(rig, "whoami", { organizationId }, session);
    assert.equal(me.userId, ann.userId);
    assert.equal(await versionOf(rig, rig.organizationId), parentBefore);
    const before = await versionOf(rig, organizationId);
    const stolen = newKey();
    for (const [what, params] of Object.entries({
      "another key": { oidcToken, publicKey: stolen.publicKey },
      "another spelling of the key": { oidcToken, publicKey: key.publicKey.toUpperCase() },
      "no nonce": { oidcToken: testToken(now(rig)), publicKey: key.publicKey },
    })) {
      const refusal = await refusalOf(login(rig, rig.root, organizationId, params));
      assert.match(refusal.message, /^invalid OIDC token: its nonce is not the hash/, what);
    }
    assert.equal(await versionOf(rig, organizationId), before);
  },
);

onBothDatabases("the older oauth makes the key and sends it encrypted; its nonce names the target key", async (rig) => {
  const { organizationId, ann } = await homeWithProvider(rig);
  const target = newKey();
  const oidcToken = testToken(now(rig), {}, target.publicKey);
  const made = await done<Record<string, string>>(
    rig,
    rig.root,
    "oauth",
    { oidcToken, targetPublicKey: target.publicKey },
    { organizationId },
  );
  assert.equal(made.userId, ann.userId);
  assert.ok((made.credentialBundle ?? "").length > 100);
  const { apiKeys } = await userIn(rig, organizationId, ann.userId);
  const key = apiKeys.find(({ apiKeyId }) => apiKeyId === made.apiKeyId);
  assert.equal(key?.type, "CREDENTIAL_TYPE_OAUTH_KEY_P256");
  assert.match(key?.apiKeyName ?? "", /^Oauth - /);
  const other = newKey().publicKey;
  const refusal = await refusalOf(
    rig.submit(rig.root, "oauth", { oidcToken, targetPublicKey: other }, { organizationId }),
  );
  assert.match(refusal.message, /its nonce is not the hash/);
});

onBothDatabases("a token that nobody vouches for is refused with its reason, and nothing changes", async (rig) => {
  const { organizationId } = await homeWithProvider(rig);
  const before = await versionOf(rig, organizationId);
  const { publicKey } = newKey();
  const stranger = { ...makeIssuerKey("ES256", "x"), kid: testIssuerKey.kid };
  const rotated = makeIssuerKey("ES256", "never published");
  const good = testToken(now(rig), {}, publicKey);
  const cases: [what: string, oidcToken: string, message: RegExp][] = [
    ["altered", good.replace(/.{4}$/, "AAAA"), /its signature is not its issuer's/],
    ["another key under the name", testToken(now(rig), {}, publicKey, stranger), /its signature is not its issuer's/],
    ["an unknown key", testToken(now(rig), {}, publicKey, rotated), /its key is not one that its issuer publishes now/],
    ["expired", testToken(now(rig) - 4_000_000, {}, publicKey), /it has expired/],
    ["several audiences", testToken(now(rig), { aud: ["client-1", "b"] }, publicKey), /exactly one element/],
    ["unreachable", testToken(now(rig), { iss: "https://gone.example" }, publicKey), /`https:\/\/gone.example`/],
    ["no token", "abc", /neither a compact JWT nor base64 of one/],
  ];
  for (const [what, oidcToken, message] of cases) {
    const refusal = await anyRefusalOf(login(rig, rig.root, organizationId, { oidcToken, publicKey }));
    assert.equal(refusal.code, 3, what);
    assert.match(refusal.message, message, what);
  }
  const stranger2 = testToken(now(rig), { sub: "nobody" }, publicKey);
  const unknown = await refusalOf(login(rig, rig.root, organizationId, { oidcToken: stranger2, publicKey }));
  assert.equal(unknown.code, 16);
  assert.equal(await versionOf(rig, organizationId), before);
  await login(rig, rig.root, organizationId, { oidcToken: good, publicKey });
});

onBothDatabases("a rotated key signs in after one newer statement, and the retired one no more", async (rig) => {
  const { organizationId } = await homeWithProvider(rig);
  const next = makeIssuerKey("ES256", "next-key");
  const statementMs = now(rig);
  rig.issuers.publish(testIssuer, [next]);
  rig.signer.clock.nowMs += 61_000;
  const { publicKey } = newKey();
  const asked = rig.issuers.asked.length;
  await login(rig, rig.root, organizationId, { oidcToken: testToken(now(rig), {}, publicKey, next), publicKey });
  assert.ok(rig.issuers.asked.length > asked);
  const retired = { oidcToken: testToken(now(rig), {}, publicKey), publicKey };
  const refusal = await anyRefusalOf(login(rig, rig.root, organizationId, retired));
  assert.match(refusal.message, /its key is not one that its issuer publishes now/);
  assert.ok(now(rig) > statementMs);
});

onBothDatabases(
  "one identity belongs to one user of an organization: 6, OAUTH_PROVIDER_ALREADY_EXISTS",
  async (rig) => {
    const { organizationId, people } = await newHome(
      rig,
      { userEmail: "ann@example.com" },
      { userEmail: "bob@example.com" },
    );
    const [ann, bob] = people;
    assert.ok(bob);
    const oauthProviders = [byToken(testToken(now(rig)))];
    await done(rig, ann, "create_oauth_providers", { userId: ann.userId, oauthProviders }, { organizationId });
    for (const userId of [ann.userId, bob.userId]) {
      const refusal = (await refusalOf(
        rig.submit(ann, "create_oauth_providers", { userId, oauthProviders }, { organizationId }),
      )) as { code: number; errorCode?: string };
      assert.deepEqual([refusal.code, refusal.errorCode], [6, "OAUTH_PROVIDER_ALREADY_EXISTS"]);
    }
    const twice = [...oauthProviders, byToken(testToken(now(rig)), "again")];
    const other = twice.map((each) => ({ ...each, oidcToken: testToken(now(rig), { sub: "two" }) }));
    const both = { userId: bob.userId, oauthProviders: other };
    assert.equal((await refusalOf(rig.submit(bob, "create_oauth_providers", both, { organizationId }))).code, 6);
  },
);

onBothDatabases(
  "claims count beside a verified token of the same issuer and subject, in the call or stored",
  async (rig) => {
    const { organizationId, people } = await newHome(rig, { userEmail: "ann@example.com" });
    const [ann] = people;
    const add = (...oauthProviders: object[]) =>
      rig.submit(ann, "create_oauth_providers", { userId: ann.userId, oauthProviders }, { organizationId });
    const claimed = (changes: object) => ({ providerName: "p", oidcClaims: { ...claimsOfIdentity, ...changes } });
    for (const lonely of [[claimed({})], [claimed({ sub: "other" }), byToken(testToken(now(rig)))]]) {
      assert.match(
        (await refusalOf(add(...lonely))).message,
        /oidcClaims need an oidcToken with the same issuer and subject/,
      );
    }
    for (const neither of [{ providerName: "p" }, { ...claimed({}), oidcToken: testToken(now(rig)) }]) {
      assert.match((await refusalOf(add(neither))).message, /give either oidcToken or oidcClaims/);
    }
    const both = [claimed({ aud: "client-2" }), byToken(testToken(now(rig)))];
    assert.match((await refusalOf(add(...both))).message, /beside oidcClaims is not a client of this organization/);
    await enableProxy(rig);
    const named = { socialLinkingClientIds: [`${testIssuer}#client-1`] };
    await rig.submit(rig.root, "update_auth_proxy_config", named);
    await add(claimed({ aud: "client-2" }), byToken(testToken(now(rig))));
    await add(claimed({ aud: "client-3" }));
    const audiences = providersOf(await userIn(rig, organizationId, ann.userId)).map(({ audience }) => audience);
    assert.deepEqual(audiences, ["client-2", "client-1", "client-3"]);
  },
);

onBothDatabases(
  "a user has at most ten identities, and one activity is told so before a token is verified",
  async (rig) => {
    const { organizationId, people } = await newHome(rig, { userEmail: "ann@example.com" });
    const [ann] = people;
    const many = Array.from({ length: 11 }, (_, n) => byToken(testToken(now(rig), { sub: `s${n}` })));
    const add = (oauthProviders: object[]) =>
      rig.submit(ann, "create_oauth_providers", { userId: ann.userId, oauthProviders }, { organizationId });
    assert.equal((await refusalOf(add(many))).code, 8);
    assert.equal(rig.issuers.asked.length, 0);
    await add(many.slice(0, 10));
    assert.equal((await refusalOf(add(many.slice(10)))).code, 8);
  },
);

onBothDatabases(
  "identities come with new users and sub-organizations of every version, and are a way in",
  async (rig) => {
    const alone = { userName: "Olga", apiKeys: [], authenticators: [], userTags: [] };
    const provider = (sub: string) => [byToken(testToken(now(rig), { sub }))];
    const { userIds } = await done<{ userIds: string[] }>(rig, rig.root, "create_users", {
      users: [{ ...alone, oauthProviders: provider("olga") }],
    });
    assert.equal((await userIn(rig, rig.organizationId, userIds[0] ?? "")).oauthProviders?.[0]?.subject, "olga");
    const v3 = { users: [{ ...alone, userName: "Olaf", oauthProviders: provider("olaf") }] };
    await rig.send(rig.root, "create_users", olderBody(rig, "create_users", "ACTIVITY_TYPE_CREATE_USERS_V3", v3));
    for (const type of [4, 5, 6, 7, 8].map((version) => `ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V${version}`)) {
      const rootUsers = [{ ...alone, oauthProviders: provider(type) }];
      const body = olderBody(rig, "create_sub_organization", type, {
        ...{ subOrganizationName: type, rootQuorumThreshold: 1 },
        rootUsers: type.endsWith("V4") ? [{ ...rootUsers[0], apiKeys: newUser("k").user.apiKeys }] : rootUsers,
      });
      const { result } = await rig.send(rig.root, "create_sub_organization", body);
      const [born] = Object.values(result) as [{ subOrganizationId: string }];
      // V4 knows no identities: it leaves the list out.
      if (type.endsWith("V4")) continue;
      const key = newKey();
      const oidcToken = testToken(now(rig), { sub: type }, key.publicKey);
      await login(rig, rig.root, born.subOrganizationId, { oidcToken, publicKey: key.publicKey });
    }
  },
);

onBothDatabases("the last way in is not taken away, and an identity that is gone signs nobody in", async (rig) => {
  const { organizationId, ann, providerId } = await homeWithProvider(rig);
  const remove = (person: Person, providerIds: string[]) =>
    rig.submit(person, "delete_oauth_providers", { userId: ann.userId, providerIds }, { organizationId });
  assert.equal((await refusalOf(remove(ann, [providerId.replace(/.$/, "0"), providerId.replace(/.$/, "1")]))).code, 5);
  await remove(ann, [providerId]);
  const { publicKey } = newKey();
  const oidcToken = testToken(now(rig), {}, publicKey);
  assert.equal((await refusalOf(login(rig, rig.root, organizationId, { oidcToken, publicKey }))).code, 16);
  const only = [
    {
      ...newUser("x").user,
      apiKeys: [],
      userTags: [],
      oauthProviders: [byToken(testToken(now(rig), { sub: "only" }))],
    },
  ];
  const { userIds } = await done<{ userIds: string[] }>(rig, rig.root, "create_users", { users: only });
  const userId = userIds[0] ?? "";
  const own = (await userIn(rig, rig.organizationId, userId)).oauthProviders?.[0]?.providerId ?? "";
  const last = await refusalOf(rig.submit(rig.root, "delete_oauth_providers", { userId, providerIds: [own] }));
  assert.match(last.message, /user missing valid credential/);
});

onBothDatabases("a stranger, another's user and another organization change nobody's identities", async (rig) => {
  const { organizationId, people } = await newHome(rig, { userEmail: "ann@example.com" });
  const [ann] = people;
  const eve = await rig.newPerson("eve");
  const params = { userId: ann.userId, oauthProviders: [byToken(testToken(now(rig)))] };
  const cases: [what: string, code: number, send: () => Promise<unknown>][] = [
    // A parent's user may not add what no verified e-mail address vouches for.
    ["the parent", 7, () => rig.submit(rig.root, "create_oauth_providers", params, { organizationId })],
    [
      "a user without rights",
      7,
      () => rig.submit(eve, "create_oauth_providers", { ...params, userId: rig.root.userId }),
    ],
    ["a user of elsewhere", 5, () => rig.submit(rig.root, "create_oauth_providers", params)],
  ];
  for (const [what, code, send] of cases) assert.equal((await refusalOf(send())).code, code, what);
  const deny = await refusalOf(
    rig.submit(
      eve,
      "oauth_login",
      { oidcToken: testToken(now(rig)), publicKey: newKey().publicKey },
      { organizationId },
    ),
  );
  assert.equal(deny.code, 7);
  await addPolicy(rig, { condition: "activity.kind == 'OAUTH_LOGIN'" });
  const { publicKey } = newKey();
  await done(rig, ann, "create_oauth_providers", params, { organizationId });
  const oidcToken = testToken(now(rig), {}, publicKey);
  assert.equal((await login(rig, eve, organizationId, { oidcToken, publicKey })).status, "ACTIVITY_STATUS_COMPLETED");
});

onBothDatabases("the same bytes are one login, and a query shows neither token nor session", async (rig) => {
  const { organizationId } = await homeWithProvider(rig);
  const { publicKey } = newKey();
  const oidcToken = testToken(now(rig), {}, publicKey);
  const body = rig.body("oauth_login", { oidcToken, publicKey }, { organizationId });
  const first = await rig.send(rig.root, "oauth_login", body);
  const version = await versionOf(rig, organizationId);
  assert.deepEqual((await rig.send(rig.root, "oauth_login", body)).result, first.result);
  assert.equal(await versionOf(rig, organizationId), version);
  const rows = await rig.store.db.selectFrom("activities").select(["body", "result"]).execute();
  for (const row of rows) {
    assert.ok(
      !Buffer.from(row.body)
        .toString("utf8")
        .includes(oidcToken.split(".")[2] ?? ""),
    );
  }
});

onBothDatabases(
  "a verified address of a linking issuer is verified for its user, and lets a parent link it",
  async (rig) => {
    const google = "https://accounts.google.com";
    rig.issuers.publish(google, [testIssuerKey]);
    await enableProxy(rig);
    await rig.submit(rig.root, "update_auth_proxy_config", { socialLinkingClientIds: ["client-1"] });
    const { organizationId, people } = await newHome(rig, { userEmail: "ann@example.com" });
    const [ann] = people;
    const ofGoogle = { iss: google, email: "Ann@Example.com", email_verified: true };
    const token = (sub: string, changes: object = {}) => testToken(now(rig), { ...ofGoogle, sub, ...changes });
    const add = (person: Person, oidcToken: string) => {
      const params = { userId: ann.userId, oauthProviders: [byToken(oidcToken)] };
      return rig.submit(person, "create_oauth_providers", params, { organizationId });
    };
    // Nobody has verified the address yet.
    assert.equal((await refusalOf(add(rig.root, token("g1")))).code, 7);
    await add(ann, token("g0", { email_verified: false }));
    assert.equal((await userIn(rig, organizationId, ann.userId)).emailVerified, undefined);
    // Whoever runs another application where Ann signs in has such a token of hers.
    await add(ann, token("g0", { aud: "client-2" }));
    assert.equal((await userIn(rig, organizationId, ann.userId)).emailVerified, undefined);
    // A token for another key verifies nothing either: a thief who has seen a token has no other kind.
    await add(ann, testToken(now(rig), { ...ofGoogle, sub: "g4", aud: "client-1" }, newKey().publicKey));
    assert.equal((await userIn(rig, organizationId, ann.userId)).emailVerified, undefined);
    const added = await add(ann, testToken(now(rig), { ...ofGoogle, sub: "g1" }, publicKeyOf(ann)));
    const [providerId] = (added.result.createOauthProvidersResultV2 as { providerIds: string[] }).providerIds;
    assert.deepEqual((await userIn(rig, organizationId, ann.userId)).emailVerified, { by: "identity", providerId });
    await add(rig.root, token("g2"));
    for (const [what, bad] of Object.entries({
      "another address": token("g3", { email: "eve@example.com" }),
      "an address that nobody verified": token("g3", { email_verified: false }),
      "an issuer that does not link": testToken(now(rig), {
        sub: "g3",
        email: "ann@example.com",
        email_verified: true,
      }),
    })) {
      assert.equal((await refusalOf(add(rig.root, bad))).code, 7, what);
    }
    const subjects = (await userIn(rig, organizationId, ann.userId)).oauthProviders?.map(({ subject }) => subject);
    assert.deepEqual(subjects, ["g0", "g0", "g4", "g1", "g2"]);
    // The mark ends with its identity, whatever others there are.
    const remove = { userId: ann.userId, providerIds: [providerId] };
    await rig.submit(ann, "delete_oauth_providers", remove, { organizationId });
    assert.equal((await userIn(rig, organizationId, ann.userId)).emailVerified, undefined);
  },
);
