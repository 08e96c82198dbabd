/**
 * Verification and identity tokens in the hands of somebody who has only seen them: the key that they are bound to is somebody else's. None
 * of them makes a contact lead into the account of the one who has seen it. That an identity itself can be registered with a token that was
 * seen is not closed: published kits register with a key that has stamped nothing (docs/threat-model.md).
 */
import assert from "node:assert/strict";
import { enableProxy, noCredentials, openProxy } from "../../test/auth_proxy_rig.ts";
import { loginParams, newHome, provenEmail, sendAttested, userIn, versionOf } from "../../test/code_login_rig.ts";
import { type Activity, type ActivityPath, type GatewayRig, newUser, type Person } from "../../test/gateway_rig.ts";
import { onBothDatabases, refusalOf } from "../../test/policy_rig.ts";
import { claimsOf, newKey, publicKeyOf } from "../../test/session_rig.ts";
import { testIssuerKey, testToken } from "../../test/test_issuers.ts";
import {
  contactSignature,
  type HeldToken,
  heldToken,
  loginSignature,
  signUpSignature,
} from "../../test/verification_tokens.ts";
import type { AnyActivity } from "../endpoints/define_activity.ts";
import { createRepeats } from "../gateway/bounds/repeats.ts";
import { activities } from "../generated/activities.ts";

const find = { filterType: "EMAIL", filterValue: "victim@example.com" };
const google = "https://accounts.google.com";
const contact = "victim@example.com";
const phone = "+15550001111";

/** Mallory's own sub-organization, in which they may do anything. */
async function newThief(rig: GatewayRig) {
  const { organizationId, people } = await newHome(rig, { userEmail: "mallory@example.com" });
  return { organizationId, thief: people[0], within: { organizationId } };
}

const markOf = async (rig: GatewayRig, organizationId: string, userId: string) => {
  const { emailVerified, phoneVerified } = await userIn(rig, organizationId, userId);
  return emailVerified ?? phoneVerified;
};

function updates(held: { mail: HeldToken; sms: HeldToken }, { userId }: Person) {
  return [
    ["update_user_email", { userId, userEmail: contact, verificationToken: held.mail.token }],
    ["update_user_phone_number", { userId, userPhoneNumber: phone, verificationToken: held.sms.token }],
  ] as const;
}

onBothDatabases(
  "a bound token that was only seen verifies no contact of another's user, and writes nothing",
  async (rig) => {
    const { organizationId, thief, within } = await newThief(rig);
    const mail = heldToken(rig.signer, { contact });
    const sms = heldToken(rig.signer, { contact: phone, verificationType: "OTP_TYPE_SMS" });
    const before = await versionOf(rig, organizationId);
    for (const [path, params] of updates({ mail, sms }, thief)) {
      const refusal = await refusalOf(rig.submit(thief, path, params, within));
      assert.equal(refusal.code, 3);
      assert.match(refusal.message, /^missing parameter: clientSignature/);
    }
    const [[, params]] = updates({ mail, sms }, thief);
    const other = heldToken(rig.signer, { contact });
    const signatures: [what: string, clientSignature: object, message: RegExp][] = [
      [
        "by a key of the thief's",
        contactSignature({ ...mail, holder: other.holder }, thief.userId, contact),
        /its key is not/,
      ],
      ["for another user", contactSignature(mail, newHomeUser, contact), /names another userId/],
      ["for another contact", contactSignature(mail, thief.userId, "x@example.com"), /names another contact/],
      [
        "of another token",
        contactSignature({ ...other, holder: mail.holder }, thief.userId, contact),
        /names another verif/,
      ],
      ["of a login", loginSignature(mail, publicKeyOf(thief)), /must be USAGE_TYPE_UPDATE_CONTACT/],
    ];
    for (const [what, clientSignature, message] of signatures) {
      const refusal = await refusalOf(rig.submit(thief, "update_user_email", { ...params, clientSignature }, within));
      assert.match(refusal.message, message, what);
    }
    assert.equal(await versionOf(rig, organizationId), before);
    assert.equal(await markOf(rig, organizationId, thief.userId), undefined);
  },
);

const newHomeUser = "00000000-0000-4000-8000-000000000000";

onBothDatabases(
  "whatever is done with tokens that were only seen, their contacts lead to an account of their owner's",
  async (rig) => {
    rig.issuers.publish(google, [testIssuerKey]);
    const proxy = await enableProxy(rig);
    await rig.submit(rig.root, "update_auth_proxy_config", { socialLinkingClientIds: ["client-1"] });
    const { organizationId, thief, within } = await newThief(rig);
    const { userId } = thief;
    const [held, sms] = [{}, { verificationType: "OTP_TYPE_SMS", contact: phone } as const].map((changes) =>
      heldToken(rig.signer, { contact, ...changes }),
    ) as [HeldToken, HeldToken];
    const vouched = { iss: google, email: contact, email_verified: true };
    const tokenOf = (sub: string) => testToken(rig.signer.clock.nowMs, { ...vouched, sub }, held.holder.publicKey);
    const oidcToken = tokenOf("victim");
    const registering = (sub: string) => [{ providerName: "Google", oidcToken: tokenOf(sub) }];
    const ownKey = () => ({ apiKeyName: "key", publicKey: newKey().publicKey, curveType: "API_KEY_CURVE_P256" });
    const victimsKey = { ...ownKey(), publicKey: held.holder.publicKey };
    const user = { userName: "user", userEmail: contact, authenticators: [], userTags: [] };
    const signUp = { ...noCredentials, userEmail: contact, verificationToken: held.token };
    const submit = (path: ActivityPath, params: object) => rig.submit(thief, path, params, within);
    const { publicKey } = newKey();
    const targetPublicKey = `04${"11".repeat(64)}`;
    const unsigned = /missing parameter: clientSignature/;
    const otherKeys = /its nonce is not the hash of the public key/;
    /** A use without a refusal is carried out, and leads nowhere. */
    type Use = { use: () => Promise<unknown>; refusal?: RegExp };
    const uses: Partial<Record<ActivityPath, Use[]>> = {
      update_user_email: [
        {
          use: () => submit("update_user_email", { userId, userEmail: contact, verificationToken: held.token }),
          refusal: unsigned,
        },
        { use: () => submit("update_user_email", { userId, userEmail: contact }) },
      ],
      update_user_phone_number: [
        {
          use: () =>
            submit("update_user_phone_number", { userId, userPhoneNumber: phone, verificationToken: sms.token }),
          refusal: unsigned,
        },
        { use: () => submit("update_user_phone_number", { userId, userPhoneNumber: phone }) },
      ],
      otp_login: [held, sms].map((seen) => ({ use: () => submit("otp_login", loginParams(seen)) })),
      oauth_login: [{ use: () => submit("oauth_login", { oidcToken, publicKey }), refusal: otherKeys }],
      oauth: [{ use: () => submit("oauth", { oidcToken, targetPublicKey }), refusal: otherKeys }],
      create_oauth_providers: [
        { use: () => submit("create_oauth_providers", { userId, oauthProviders: registering("added") }) },
      ],
      create_users: [
        { use: () => submit("create_users", { users: [{ ...user, apiKeys: [ownKey()], oauthProviders: [] }] }) },
        {
          use: () =>
            submit("create_users", {
              users: [{ ...user, apiKeys: [victimsKey], oauthProviders: registering("created") }],
            }),
        },
      ],
      create_sub_organization: [
        { use: () => proxy.ok("signup_v2", { ...signUp, apiKeys: [ownKey()] }), refusal: unsigned },
        {
          use: () =>
            proxy.ok("signup_v2", { ...signUp, apiKeys: [ownKey()], clientSignature: loginSignature(held, publicKey) }),
          refusal: /the type in its message must be USAGE_TYPE_SIGNUP/,
        },
        {
          use: () =>
            proxy.ok("signup_v2", {
              ...noCredentials,
              userEmail: contact,
              apiKeys: [ownKey()],
              oauthProviders: registering("signed up"),
            }),
          refusal: otherKeys,
        },
      ],
    };
    const taking = Object.values(activities as Record<string, AnyActivity>).filter(({ bearerParams = {} }) =>
      Object.values(bearerParams).some((kind) => kind === "verificationToken" || kind === "identityToken"),
    );
    assert.deepEqual(
      Object.keys(uses).sort(),
      taking.map(({ path }) => path).sort(),
      "each activity that takes a token",
    );
    for (const { use, refusal } of Object.values(uses).flat()) {
      if (refusal === undefined) await use();
      else await assert.rejects(use(), { message: refusal });
    }
    const find = (filterType: string, filterValue: string) => proxy.ok("account", { filterType, filterValue });
    assert.deepEqual(await find("EMAIL", contact), {});
    assert.deepEqual(await find("PHONE_NUMBER", phone), {});
    const apiKeys = [victimsKey];
    const signed = { apiKeys, authenticators: [], oauthProviders: [], email: contact };
    const clientSignature = signUpSignature(held, "signupV2", signed);
    const made = await proxy.ok<{ organizationId: string }>("signup_v2", { ...signUp, apiKeys, clientSignature });
    assert.notEqual(made.organizationId, organizationId);
    const login = await proxy.ok("otp_login_v2", {
      verificationToken: held.token,
      publicKey,
      clientSignature: loginSignature(held, publicKey),
    });
    assert.equal(claimsOf(String(login.session)).organization_id, made.organizationId);
  },
);

onBothDatabases("the key that a token is bound to proves it by its stamp, or by its signature", async (rig) => {
  const { organizationId, people } = await newHome(rig, {}, {});
  const [ann, bob] = people as [Person, Person];
  const within = { organizationId };
  const bound = heldToken(rig.signer, { contact, publicKey: publicKeyOf(ann) });
  const byStamp = { userId: ann.userId, userEmail: contact, verificationToken: bound.token };
  assert.match((await refusalOf(rig.submit(bob, "update_user_email", byStamp, within))).message, /clientSignature/);
  await rig.submit(ann, "update_user_email", byStamp, within);
  assert.deepEqual(await markOf(rig, organizationId, ann.userId), { by: "code" });
  await rig.submit(bob, "update_user_email", provenEmail(rig, bob, "bob@example.com"), within);
  assert.deepEqual(await markOf(rig, organizationId, bob.userId), { by: "code" });
});

onBothDatabases("a token that is bound to no key verifies no contact of a user who is there", async (rig) => {
  const { organizationId, thief, within } = await newThief(rig);
  const mail = heldToken(rig.signer, { contact, unbound: true });
  const sms = heldToken(rig.signer, { contact: phone, verificationType: "OTP_TYPE_SMS", unbound: true });
  for (const [path, params] of updates({ mail, sms }, thief)) await rig.submit(thief, path, params, within);
  const { userEmail, userPhoneNumber } = await userIn(rig, organizationId, thief.userId);
  assert.deepEqual([userEmail, userPhoneNumber], [contact, phone]);
  assert.equal(await markOf(rig, organizationId, thief.userId), undefined);
});

onBothDatabases("what waits for approvals is refused before it waits, and proved again when it runs", async (rig) => {
  const { organizationId, people } = await newHome(rig, {}, {});
  const [ann, bob] = people as [Person, Person];
  const within = { organizationId };
  const userIds = people.map(({ userId }) => userId);
  await rig.submit(ann, "update_root_quorum", { threshold: 2, userIds }, within);
  const seen = { userId: ann.userId, userEmail: contact, verificationToken: heldToken(rig.signer, { contact }).token };
  assert.match((await refusalOf(rig.submit(ann, "update_user_email", seen, within))).message, /clientSignature/);
  const bound = (person: Person, changes: object = {}) =>
    heldToken(rig.signer, { contact, publicKey: publicKeyOf(person), ...changes }).token;
  const propose = async (verificationToken: string) => {
    const params = { userId: ann.userId, userEmail: contact, verificationToken };
    const waiting = await rig.submit(ann, "update_user_email", params, within);
    assert.equal(waiting.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    return waiting;
  };
  const approve = ({ fingerprint }: Activity) => rig.submit(bob, "approve_activity", { fingerprint }, within);
  // It runs as its proposer's, by anyone's approval.
  const over = await propose(bound(ann, { expiresAtMs: rig.signer.clock.nowMs + 60_000 }));
  rig.signer.clock.nowMs += 61_000;
  assert.equal((await approve(over)).status, "ACTIVITY_STATUS_FAILED");
  assert.equal(await markOf(rig, organizationId, ann.userId), undefined);
  assert.equal((await approve(await propose(bound(ann)))).status, "ACTIVITY_STATUS_COMPLETED");
  assert.deepEqual(await markOf(rig, organizationId, ann.userId), { by: "code" });
});

onBothDatabases("a contact that became somebody's while its update waited fails no vote for good", async (rig) => {
  const { organizationId, people } = await newHome(rig, {}, {});
  const [ann, bob] = people as [Person, Person];
  const within = { organizationId };
  await rig.submit(ann, "update_root_quorum", { threshold: 2, userIds: people.map(({ userId }) => userId) }, within);
  const waiting = await rig.submit(ann, "update_user_email", provenEmail(rig, ann, contact), within);
  const owner = await newHome(rig, { userEmail: contact });
  const ownHome = { organizationId: owner.organizationId };
  await rig.submit(rig.root, "otp_login", loginParams(heldToken(rig.signer, { contact })), ownHome);
  const approve = () => rig.submit(bob, "approve_activity", { fingerprint: waiting.fingerprint }, within);
  await assert.rejects(approve(), {
    code: "already_exists",
    message: /^a sub-organization with this contact exists/,
  });
  await rig.submit(owner.people[0], "update_user_email", { userId: owner.people[0].userId, userEmail: "" }, ownHome);
  assert.equal((await approve()).status, "ACTIVITY_STATUS_COMPLETED");
});

onBothDatabases("two users who prove one contact at once: one has it, and it leads to that one", async (rig) => {
  const homes = await Promise.all([1, 2, 3].map(() => newHome(rig, {})));
  const answers = await Promise.allSettled(
    homes.map(({ organizationId, people: [person] }) =>
      rig.submit(person, "update_user_email", provenEmail(rig, person, contact), { organizationId }),
    ),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), ["fulfilled", "rejected", "rejected"]);
  const first = homes[answers.findIndex(({ status }) => status === "fulfilled")];
  const held = heldToken(rig.signer, { contact });
  const body = rig.body("stamp_login", { publicKey: newKey().publicKey });
  assert.equal((await sendAttested(rig, "stamp_login", body, held)).organizationId, first?.organizationId);
});

onBothDatabases(
  "a login's token and signature that were only seen verify nothing in another's sub-organization",
  async (rig) => {
    const { organizationId, thief, within } = await newThief(rig);
    await rig.submit(thief, "update_user_email", { userId: thief.userId, userEmail: contact }, within);
    await rig.submit(thief, "otp_login", loginParams(heldToken(rig.signer, { contact })), within);
    assert.equal(await markOf(rig, organizationId, thief.userId), undefined);
  },
);

onBothDatabases(
  "an identity token that was only seen verifies no address, whichever way it is registered",
  async (rig) => {
    rig.issuers.publish(google, [testIssuerKey]);
    await enableProxy(rig);
    await rig.submit(rig.root, "update_auth_proxy_config", { socialLinkingClientIds: ["client-1"] });
    const { organizationId, thief, within } = await newThief(rig);
    await rig.submit(thief, "update_user_email", { userId: thief.userId, userEmail: contact }, within);
    const victim = newKey();
    const oidcToken = testToken(
      rig.signer.clock.nowMs,
      { iss: google, sub: "victim", email: contact, email_verified: true },
      victim.publicKey,
    );
    const oauthProviders = [{ providerName: "Google", oidcToken }];
    const { result } = await rig.submit(
      thief,
      "create_oauth_providers",
      { userId: thief.userId, oauthProviders },
      within,
    );
    assert.equal(await markOf(rig, organizationId, thief.userId), undefined);
    const { providerIds } = result.createOauthProvidersResultV2 as { providerIds: string[] };
    await rig.submit(thief, "delete_oauth_providers", { userId: thief.userId, providerIds }, within);
    assert.equal(await markOf(rig, organizationId, thief.userId), undefined);
    // Beside the victim's own key, which is public: it is registered here, and has stamped nothing.
    const apiKeys = [{ apiKeyName: "key", publicKey: victim.publicKey, curveType: "API_KEY_CURVE_P256" }];
    const users = [
      { userName: "victim", userEmail: contact, apiKeys, authenticators: [], oauthProviders, userTags: [] },
    ];
    const made = await rig.submit(thief, "create_users", { users }, within);
    const [userId = ""] = (made.result.createUsersResult as { userIds: string[] }).userIds;
    assert.equal(await markOf(rig, organizationId, userId), undefined);
  },
);

onBothDatabases("a copied public key of an unused key leads its owner nowhere else", async (rig) => {
  const victim = await newHome(rig, {});
  const spare = newUser("spare");
  const within = { organizationId: victim.organizationId };
  const { userId } = victim.people[0];
  await rig.submit(victim.people[0], "create_api_keys", { userId, apiKeys: spare.user.apiKeys }, within);
  const publicKey = spare.user.apiKeys[0]?.publicKey ?? "";
  // Two days pass.
  await rig.store.db
    .updateTable("credentials")
    .set({ created_at_ms: Date.now() - 2 * 86_400_000 })
    .where("public_key", "=", publicKey)
    .execute();
  const thief = await newHome(rig, {});
  const apiKeys = [{ apiKeyName: "copied", publicKey, curveType: "API_KEY_CURVE_P256" }];
  const there = { organizationId: thief.organizationId };
  await rig.submit(thief.people[0], "create_api_keys", { userId: thief.people[0].userId, apiKeys }, there);
  const owner: Person = { userId, userName: "victim", privateKey: spare.privateKey };
  const signIn = () => rig.submit(owner, "stamp_login", { publicKey: newKey().publicKey });
  await assert.rejects(signIn(), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
  // From its first act by the sub-organization's own id on, it leads there.
  await rig.submit(owner, "create_user_tag", { userTagName: "t", userIds: [] }, within);
  assert.equal((await signIn()).organizationId, victim.organizationId);
});

onBothDatabases("an identity token that was seen marks no address of a user who has another's key too", async (rig) => {
  rig.issuers.publish(google, [testIssuerKey]);
  const proxy = await enableProxy(rig);
  await rig.submit(rig.root, "update_auth_proxy_config", { socialLinkingClientIds: ["client-1"] });
  const victim = newKey();
  const thief = newKey();
  const oidcToken = testToken(
    rig.signer.clock.nowMs,
    { iss: google, sub: "victim", email: contact, email_verified: true },
    victim.publicKey,
  );
  const key = ({ publicKey }: { publicKey: string }) => ({
    apiKeyName: publicKey.slice(0, 8),
    publicKey,
    curveType: "API_KEY_CURVE_P256",
  });
  const rootUsers = [
    {
      userName: "mallory",
      userEmail: contact,
      apiKeys: [key(victim), key(thief)],
      authenticators: [],
      oauthProviders: [{ providerName: "Google", oidcToken }],
    },
  ];
  const parameters = { subOrganizationName: "Mallory's", rootUsers, rootQuorumThreshold: 1 };
  const { result } = await rig.submit(rig.root, "create_sub_organization", parameters);
  const made = result.createSubOrganizationResultV8 as { subOrganizationId: string; rootUserIds: string[] };
  assert.deepEqual(await proxy.ok("account", find), {}, `her address leads into ${made.subOrganizationId}`);
});

onBothDatabases("a sign-up that comes twice at once through two gateways is answered alike", async (rig) => {
  const one = await enableProxy(rig);
  const two = openProxy(rig, one.configId, one.userId, { repeats: createRepeats() });
  for (let round = 0; round < 5; round++) {
    const mail = `ann${round}@example.com`;
    const held = heldToken(rig.signer, { contact: mail });
    const apiKeys = [{ apiKeyName: "k", publicKey: held.holder.publicKey, curveType: "API_KEY_CURVE_P256" }];
    const signed = { apiKeys, authenticators: [], oauthProviders: [], email: mail };
    const clientSignature = signUpSignature(held, "signupV2", signed);
    const body = { ...noCredentials, userEmail: mail, verificationToken: held.token, apiKeys, clientSignature };
    const answers = await Promise.all([one.call("signup_v2", body), two.call("signup_v2", body)]);
    assert.deepEqual(
      answers.map(({ status, body: { message } }) => [status, message]),
      [
        [200, undefined],
        [200, undefined],
      ],
    );
  }
});

onBothDatabases("who has proved a contact by a code keeps it when an identity is removed", async (rig) => {
  rig.issuers.publish(google, [testIssuerKey]);
  const proxy = await enableProxy(rig);
  await rig.submit(rig.root, "update_auth_proxy_config", { socialLinkingClientIds: ["client-1"] });
  const key = newKey();
  const oidcToken = testToken(
    rig.signer.clock.nowMs,
    { iss: google, sub: "victim", email: contact, email_verified: true },
    key.publicKey,
  );
  const made = await proxy.ok<{ organizationId: string; userId: string }>("signup_v2", {
    ...noCredentials,
    userEmail: contact,
    apiKeys: [{ apiKeyName: "k", publicKey: key.publicKey, curveType: "API_KEY_CURVE_P256" }],
    oauthProviders: [{ providerName: "Google", oidcToken }],
  });
  const signIn = () => {
    const held = heldToken(rig.signer, { contact });
    const { publicKey } = newKey();
    return proxy.call("otp_login_v2", {
      verificationToken: held.token,
      publicKey,
      clientSignature: loginSignature(held, publicKey),
    });
  };
  assert.equal((await signIn()).status, 200);
  const person: Person = { userId: made.userId, userName: "", privateKey: key.privateKey };
  const within = { organizationId: made.organizationId };
  const user = await userIn(rig, made.organizationId, made.userId);
  const providerIds = (user.oauthProviders ?? []).map(({ providerId }) => providerId);
  await rig.submit(person, "delete_oauth_providers", { userId: made.userId, providerIds }, within);
  assert.equal((await signIn()).status, 200, "she has proved it by a code of her own");
});

onBothDatabases("an identity token that was seen keeps its owner out of no account", async (rig) => {
  rig.issuers.publish(google, [testIssuerKey]);
  const proxy = await enableProxy(rig);
  await rig.submit(rig.root, "update_auth_proxy_config", { socialLinkingClientIds: ["client-1"] });
  const token = (publicKey: string) =>
    testToken(rig.signer.clock.nowMs, { iss: google, sub: "victim", email: contact, email_verified: true }, publicKey);
  const key = newKey();
  const oauthProviders = [{ providerName: "Google", oidcToken: token(key.publicKey) }];
  const made = await proxy.ok<{ organizationId: string }>("signup_v2", {
    ...noCredentials,
    apiKeys: [{ apiKeyName: "k", publicKey: key.publicKey, curveType: "API_KEY_CURVE_P256" }],
    oauthProviders,
  });
  const thief = await newHome(rig, {});
  rig.signer.clock.nowMs += 1;
  await rig.submit(
    thief.people[0],
    "create_oauth_providers",
    { userId: thief.people[0].userId, oauthProviders },
    thief,
  );
  const session = newKey();
  const answer = await proxy.call("oauth_login", { oidcToken: token(session.publicKey), publicKey: session.publicKey });
  assert.deepEqual([answer.status, answer.body.message], [200, undefined]);
  assert.deepEqual(await proxy.ok("account", { filterType: "OIDC_TOKEN", filterValue: token(session.publicKey) }), {
    organizationId: made.organizationId,
  });
});

onBothDatabases("a contact is free again once its user or sub-organization is deleted", async (rig) => {
  const gone = await newHome(rig, {});
  const within = { organizationId: gone.organizationId };
  await rig.submit(gone.people[0], "update_user_email", provenEmail(rig, gone.people[0], contact), within);
  await rig.submit(gone.people[0], "delete_sub_organization", { deleteWithoutExport: true }, within);
  const next = await newHome(rig, {}, {});
  const [ann, bob] = next.people as [Person, Person];
  const there = { organizationId: next.organizationId };
  await rig.submit(ann, "update_user_email", provenEmail(rig, ann, contact), there);
  await rig.submit(bob, "update_root_quorum", { threshold: 1, userIds: [bob.userId] }, there);
  await rig.submit(bob, "delete_users", { userIds: [ann.userId] }, there);
  await rig.submit(bob, "update_user_email", provenEmail(rig, bob, contact), there);
  assert.deepEqual(await markOf(rig, next.organizationId, bob.userId), { by: "code" });
});
