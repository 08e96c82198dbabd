/** Accounts that are found and linked by the e-mail address in an identity token, through the auth proxy, on both databases. */
import assert from "node:assert/strict";
import { enableProxy, noCredentials, type ProxyRig, signUpKey } from "../../../test/auth_proxy_rig.ts";
import { newHome, userIn, versionOf } from "../../../test/code_login_rig.ts";
import type { GatewayRig } from "../../../test/gateway_rig.ts";
import { onBothDatabasesWithLog } from "../../../test/leaf_checks.ts";
import { claimsOf, newKey } from "../../../test/session_rig.ts";
import { testIssuer, testIssuerKey, testToken } from "../../../test/test_issuers.ts";
import { heldToken, signUpSignature } from "../../../test/verification_tokens.ts";

const google = "https://accounts.google.com";
const email = "ann@example.com";
const client = "web-client";

type Account = { organizationId: string; userId: string };

/** A token of Google for the address, as another subject than anybody has registered. */
function googleToken(rig: GatewayRig, claims: object = {}, key?: { publicKey: string }): string {
  const linked = { iss: google, sub: "google-ann", aud: client, email: "Ann@Example.com", email_verified: true };
  return testToken(rig.signer.clock.nowMs, { ...linked, ...claims }, key?.publicKey);
}

async function openGoogle(rig: GatewayRig, settings: object = { socialLinkingClientIds: [client] }): Promise<ProxyRig> {
  rig.issuers.publish(google, [testIssuerKey]);
  const proxy = await enableProxy(rig);
  await rig.submit(rig.root, "update_auth_proxy_config", settings);
  return proxy;
}

/** Somebody who has signed up with a code: the address is verified. */
async function signUpByCode(rig: GatewayRig, proxy: ProxyRig, contact = email): Promise<Account> {
  const held = heldToken(rig.signer, { contact });
  const credentials = { apiKeys: [], authenticators: [], oauthProviders: [], email: contact };
  return proxy.ok<Account>("signup_v2", {
    ...noCredentials,
    userEmail: contact,
    verificationToken: held.token,
    clientSignature: signUpSignature(held, "signupV2", credentials),
  });
}

const subjectsOf = async (rig: GatewayRig, { organizationId, userId }: Account) =>
  ((await userIn(rig, organizationId, userId)).oauthProviders ?? []).map(({ subject }) => subject);

const login = (proxy: ProxyRig, oidcToken: string, key: { publicKey: string }, more: object = {}) =>
  proxy.call("oauth_login", { oidcToken, publicKey: key.publicKey, ...more });

onBothDatabasesWithLog(
  "who is known by a verified address signs in by Google at once, and has it from then on",
  async (rig) => {
    const proxy = await openGoogle(rig);
    const account = await signUpByCode(rig, proxy);
    await signUpByCode(rig, proxy, "bob@example.com");
    const parent = await versionOf(rig, rig.organizationId);
    const key = newKey();
    const oidcToken = googleToken(rig, {}, key);
    // Published clients ask first, to know whether to sign in or up.
    const found = await proxy.ok("account", { filterType: "OIDC_TOKEN", filterValue: oidcToken });
    assert.deepEqual(found, { organizationId: account.organizationId });
    assert.deepEqual(await subjectsOf(rig, account), [], "asking links nobody");
    const first = await login(proxy, oidcToken, key);
    assert.equal(first.status, 200, JSON.stringify(first.body));
    const { organization_id, user_id } = claimsOf(String(first.body.session));
    assert.deepEqual([organization_id, user_id], [account.organizationId, account.userId]);
    const { oauthProviders } = await userIn(rig, account.organizationId, account.userId);
    assert.deepEqual(
      oauthProviders?.map(({ providerName, issuer, subject, audience }) => [providerName, issuer, subject, audience]),
      [["accounts.google.com", google, "google-ann", client]],
    );
    assert.equal(await versionOf(rig, rig.organizationId), parent);
    // The identity is the user's own now: neither the address nor the list is asked again.
    await rig.submit(rig.root, "update_auth_proxy_config", { socialLinkingClientIds: [] });
    const again = newKey();
    const later = googleToken(rig, { email: "other@example.com" }, again);
    assert.equal((await login(proxy, later, again)).status, 200);
    assert.deepEqual(await subjectsOf(rig, account), ["google-ann"]);
  },
);

onBothDatabasesWithLog("two first sign-ins at once link one identity, and both get a session", async (rig) => {
  const proxy = await openGoogle(rig);
  const account = await signUpByCode(rig, proxy);
  const keys = [newKey(), newKey(), newKey()];
  const answers = await Promise.all(
    keys.map((key, index) =>
      login(proxy, googleToken(rig, {}, key), key, index === 0 ? { organizationId: account.organizationId } : {}),
    ),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.deepEqual(await subjectsOf(rig, account), ["google-ann"]);
});

onBothDatabasesWithLog("nobody is linked without issuer, address, application and key", async (rig) => {
  const proxy = await openGoogle(rig);
  const account = await signUpByCode(rig, proxy);
  const unproven = await newHome(rig, { userEmail: "eve@example.com" });
  const key = newKey();
  const cases: [what: string, oidcToken: string, more: object, status: number][] = [
    ["an issuer that does not link", googleToken(rig, { iss: testIssuer }, key), {}, 401],
    ["an address that Google has not verified", googleToken(rig, { email_verified: false }, key), {}, 401],
    ["another address", googleToken(rig, { email: "nobody@example.com" }, key), {}, 401],
    ["an address that nobody here has verified", googleToken(rig, { email: "eve@example.com" }, key), {}, 401],
    ["another application", googleToken(rig, { aud: "evil-client" }, key), {}, 401],
    ["a token for another key", googleToken(rig, {}, newKey()), {}, 400],
    ["a token for no key", googleToken(rig), {}, 400],
    ["the wrong sub-organization", googleToken(rig, {}, key), { organizationId: unproven.organizationId }, 401],
    ["the parent", googleToken(rig, {}, key), { organizationId: rig.organizationId }, 403],
  ];
  const rows = () => rig.store.db.selectFrom("activities").select("activity_id").where("type", "like", "%PROVIDERS%");
  for (const [what, oidcToken, more, status] of cases) {
    const answer = await login(proxy, oidcToken, key, more);
    assert.equal(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`);
  }
  await rig.submit(rig.root, "update_auth_proxy_config", { allowedAuthMethods: ["email"] });
  const asked = rig.issuers.asked.length;
  const disallowed = await login(proxy, googleToken(rig, {}, key), key);
  assert.match(String(disallowed.body.message), /^OAUTH disallowed/);
  assert.equal(rig.issuers.asked.length, asked, "its issuer is not asked");
  assert.deepEqual(await subjectsOf(rig, account), []);
  assert.deepEqual(await rows().execute(), []);
});

onBothDatabasesWithLog(
  "policies can deny linking, and an address that was only written down stops no one",
  async (rig) => {
    const proxy = await openGoogle(rig);
    const account = await signUpByCode(rig, proxy);
    const { policyId } = (
      await rig.submit(rig.root, "create_policy", {
        policyName: "no linking",
        effect: "EFFECT_DENY",
        consensus: `approvers.any(user, user.id == '${proxy.userId}')`,
        condition: "activity.kind == 'CREATE_OAUTH_PROVIDERS'",
        notes: "",
      })
    ).result.createPolicyResult as { policyId: string };
    const key = newKey();
    const oidcToken = googleToken(rig, {}, key);
    const denied = await login(proxy, oidcToken, key);
    assert.deepEqual([denied.status, denied.body.code], [403, 7]);
    assert.deepEqual(await subjectsOf(rig, account), []);
    await rig.submit(rig.root, "delete_policy", { policyId });
    // Another who has the address written down does not get it verified by a token that was only seen.
    const home = await newHome(rig, { userEmail: email });
    const [ann] = home.people;
    const own = {
      userId: ann.userId,
      oauthProviders: [{ providerName: "g", oidcToken: googleToken(rig, { sub: "b" }) }],
    };
    await rig.submit(ann, "create_oauth_providers", own, { organizationId: home.organizationId });
    assert.equal((await userIn(rig, home.organizationId, ann.userId)).emailVerified, undefined);
    const named = await login(proxy, oidcToken, key, { organizationId: account.organizationId });
    assert.equal(named.status, 200, JSON.stringify(named.body));
    assert.deepEqual(await subjectsOf(rig, account), ["google-ann"]);
  },
);

onBothDatabasesWithLog("an account is found by the address of a token, and by no other", async (rig) => {
  const proxy = await openGoogle(rig, {
    socialLinkingClientIds: [client],
    verificationTokenRequiredForGetAccountPii: true,
  });
  const account = await signUpByCode(rig, proxy);
  await signUpByCode(rig, proxy, "bob@example.com");
  const find = (filterValue: string, proof: object, filterType = "EMAIL") =>
    proxy.call("account", { filterType, filterValue, ...proof });
  const shown = { organizationId: account.organizationId };
  assert.deepEqual((await find("ANN@example.com", { oidcToken: googleToken(rig) })).body, shown);
  const held = heldToken(rig.signer, { contact: email });
  assert.deepEqual((await find(email, { verificationToken: held.token })).body, shown);
  for (const [what, oidcToken] of Object.entries({
    "another's address": googleToken(rig, { email: "bob@example.com" }),
    "an address that is not verified": googleToken(rig, { email_verified: false }),
    "no address": googleToken(rig, { email: undefined }),
    "an issuer that does not link": googleToken(rig, { iss: testIssuer }),
    "an application of somebody else": googleToken(rig, { aud: "any" }),
  })) {
    const answer = await find(email, { oidcToken });
    assert.deepEqual([answer.status, answer.body], [200, {}], what);
    const unknown = await find("nobody@example.com", { oidcToken });
    assert.deepEqual([unknown.status, unknown.body], [200, {}], `${what}: as for an unknown address`);
  }
  const refused: [what: string, value: string, proof: object, status: number, message: RegExp][] = [
    ["no proof", email, {}, 403, /a verificationToken for this contact is needed/],
    ["another's token", "bob@example.com", { verificationToken: held.token }, 403, /is for another contact/],
    ["forged", email, { oidcToken: googleToken(rig).replace(/.{4}$/, "AAAA") }, 400, /invalid OIDC token/],
    ["no token", email, { oidcToken: "x" }, 400, /invalid OIDC token/],
    ["unreachable", email, { oidcToken: googleToken(rig, { iss: "https://gone.example" }) }, 400, /gone\.example/],
  ];
  for (const [what, value, proof, status, message] of refused) {
    const answer = await find(value, proof);
    assert.equal(answer.status, status, what);
    assert.match(String(answer.body.message), message, what);
  }
  const phone = await find("+15551234567", { oidcToken: googleToken(rig) }, "PHONE_NUMBER");
  assert.equal(phone.status, 403, "a token of an issuer proves no phone number");
});

onBothDatabasesWithLog("an address that a sign-up proves by its token has one sub-organization, too", async (rig) => {
  const proxy = await openGoogle(rig);
  const sign = (sub: string, userEmail: string, claims: object = {}) => {
    const key = newKey();
    const oauthProviders = [{ providerName: "Google", oidcToken: googleToken(rig, { sub, ...claims }, key) }];
    return proxy.call("signup_v2", { ...noCredentials, userEmail, apiKeys: [signUpKey(key)], oauthProviders });
  };
  const both = await Promise.all([sign("one", email), sign("two", "ANN@example.com")]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
  const made = (both.find(({ status }) => status === 200)?.body ?? {}) as Account;
  const { emailVerified, oauthProviders } = await userIn(rig, made.organizationId, made.userId);
  assert.deepEqual(emailVerified, { by: "identity", providerId: oauthProviders?.[0]?.providerId });
  const taken = await sign("three", email);
  assert.deepEqual([taken.status, taken.body.code], [409, 6]);
  assert.match(String(taken.body.message), /with this contact exists/);
  // Nobody writes down an address beside a token that does not vouch for it.
  const unproven = await sign("four", email, { email_verified: false });
  assert.equal(unproven.status, 400);
  assert.match(String(unproven.body.message), /no contact but the verified e-mail address in the token/);
  // The token of an application that the organization has not named proves no address to the signer, so it takes none.
  const unnamed = await sign("five", email, { aud: "somebody else's" });
  assert.equal(unnamed.status, 200, JSON.stringify(unnamed.body));
  const { organizationId, userId } = unnamed.body as Account;
  assert.equal((await userIn(rig, organizationId, userId)).emailVerified, undefined);
});
