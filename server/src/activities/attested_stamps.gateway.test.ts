/** Stamps that a verification token vouches for, through gateway and signer on both databases. */
import assert from "node:assert/strict";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import {
  attestedLogin,
  type Contacts,
  type Home,
  loginParams,
  newHome,
  olderBody,
  provenEmail,
  sendAttested,
  userIn,
  versionOf,
} from "../../test/code_login_rig.ts";
import type { GatewayRig } from "../../test/gateway_rig.ts";
import { onBothDatabasesWithLog } from "../../test/leaf_checks.ts";
import { refusalOf } from "../../test/policy_rig.ts";
import { claimsOf, newKey, query } from "../../test/session_rig.ts";
import { attestedEvidence, type HeldToken, heldToken, signUpSignature } from "../../test/verification_tokens.ts";
import { withoutMac } from "../state/authenticity.ts";

const ann = { userEmail: "ann@example.com" };
const notFound = { code: "unauthenticated", errorCode: "CREDENTIAL_NOT_FOUND" };
const conflict = { code: "unauthenticated", errorCode: "CREDENTIAL_CONFLICT" };

/** A sub-organization whose first root user has proved the contact. */
async function verifiedHome(rig: GatewayRig, contacts: Contacts = ann): Promise<Home> {
  const home = await newHome(rig, contacts);
  const held = heldToken(rig.signer, { contact: contacts.userEmail ?? "" });
  await rig.submit(rig.root, "otp_login", loginParams(held), { organizationId: home.organizationId });
  return home;
}

/** Who the new session belongs to. */
async function ownerOf(rig: GatewayRig, organizationId: string, held: HeldToken): Promise<[string, string]> {
  const { activity } = await attestedLogin(rig, organizationId, held);
  const { organization_id, user_id } = claimsOf((activity.result.stampLoginResult as { session: string }).session);
  return [organization_id, user_id];
}

onBothDatabasesWithLog("with the parent's id, the user with the verified contact signs in", async (rig) => {
  const { organizationId, people } = await verifiedHome(rig);
  await newHome(rig, { userEmail: "bob@example.com" });
  const held = heldToken(rig.signer);
  const { activity, body, key } = await attestedLogin(rig, rig.organizationId, held);
  assert.equal(activity.organizationId, organizationId);
  const session = { ...people[0], privateKey: key.privateKey };
  const me = await query<{ userId: string }>(rig, "whoami", { organizationId }, session);
  assert.equal(me.userId, people[0].userId);
  const again = await sendAttested(rig, "stamp_login", body, held);
  assert.deepEqual([again.id, again.result], [activity.id, activity.result]);
  // Neither row nor leaf has the token.
  assert.ok(!JSON.stringify(activity.votes).includes(held.token));
  const rows = await rig.store.db.selectFrom("leaves").select("leaf").where("activity_id", "=", activity.id).execute();
  const [evidence] = decodeLeaf(withoutMac(Uint8Array.from(rows[0]?.leaf ?? []))).evidence;
  assert.equal(evidence?.content.kind, "attested");
  assert.equal(evidence?.credentialId, undefined);
});

onBothDatabasesWithLog(
  "whoever has the contact unproved is found where their organization is named, and then has it",
  async (rig) => {
    const { organizationId, people } = await newHome(rig, ann);
    const held = heldToken(rig.signer);
    await assert.rejects(attestedLogin(rig, rig.organizationId, held), notFound);
    assert.deepEqual(await ownerOf(rig, organizationId, held), [organizationId, people[0].userId]);
    assert.deepEqual((await userIn(rig, organizationId, people[0].userId)).emailVerified, { by: "code" });
    assert.deepEqual(await ownerOf(rig, rig.organizationId, held), [organizationId, people[0].userId]);
  },
);

onBothDatabasesWithLog(
  "a stranger who writes the address down neither receives the sign-in nor stops it",
  async (rig) => {
    const { organizationId, people } = await verifiedHome(rig);
    const eve = await newHome(rig, ann, ann);
    const mallory = await newHome(rig, { userEmail: "mallory@example.com" });
    const { userId } = mallory.people[0];
    const within = { organizationId: mallory.organizationId };
    await rig.submit(
      rig.root,
      "otp_login",
      loginParams(heldToken(rig.signer, { contact: "mallory@example.com" })),
      within,
    );
    await rig.submit(mallory.people[0], "update_user_email", { userId, ...ann }, within);
    const { userId: bossId } = rig.root;
    await rig.submit(rig.root, "set_organization_feature", { name: "FEATURE_NAME_OTP_EMAIL_AUTH" });
    await rig.submit(rig.root, "update_user_email", { userId: bossId, ...ann });
    const held = heldToken(rig.signer);
    assert.deepEqual(await ownerOf(rig, rig.organizationId, held), [organizationId, people[0].userId]);
    await assert.rejects(attestedLogin(rig, eve.organizationId, held), conflict);
    // A member of the parent who has proved it is found first, as with keys.
    await rig.submit(rig.root, "update_user_email", provenEmail(rig, rig.root, ann.userEmail));
    assert.deepEqual(await ownerOf(rig, rig.organizationId, held), [rig.organizationId, bossId]);
  },
);

onBothDatabasesWithLog("a contact that one has proved becomes no other user's before they give it up", async (rig) => {
  const one = await verifiedHome(rig);
  const other = await newHome(rig, ann);
  const { organizationId } = other;
  const [{ userId }] = other.people;
  const held = heldToken(rig.signer);
  const taken = { code: "already_exists", message: /^a sub-organization with this contact exists/ };
  const login = () => rig.submit(rig.root, "otp_login", loginParams(held), { organizationId });
  const prove = () =>
    rig.submit(other.people[0], "update_user_email", provenEmail(rig, { userId }, "ANN@example.com"), {
      organizationId,
    });
  const before = await versionOf(rig, organizationId);
  await assert.rejects(attestedLogin(rig, organizationId, held), taken);
  for (const attempt of [login, prove]) await assert.rejects(attempt(), taken);
  assert.equal(await versionOf(rig, organizationId), before, "nothing is written");
  assert.equal((await ownerOf(rig, rig.organizationId, held))[0], one.organizationId);
  // A token that a sub-organization has issued counts there alone.
  const own = heldToken(rig.signer, { organizationId: one.organizationId });
  assert.equal((await ownerOf(rig, rig.organizationId, own))[0], one.organizationId);
  await assert.rejects(attestedLogin(rig, organizationId, own), notFound);
  const [first] = one.people;
  const within = { organizationId: one.organizationId };
  await rig.submit(first, "update_user_email", { userId: first.userId, userEmail: "" }, within);
  await login();
  assert.equal((await ownerOf(rig, rig.organizationId, held))[0], organizationId);
});

onBothDatabasesWithLog("what does not verify is refused alike, whoever has the contact", async (rig) => {
  const { organizationId } = await verifiedHome(rig);
  const before = await versionOf(rig, organizationId);
  const invalid = { code: "unauthenticated", errorCode: "SIGNATURE_INVALID" };
  for (const contact of ["ann@example.com", "nobody@example.com"]) {
    const held = heldToken(rig.signer, { contact });
    const forged = { ...held, token: held.token.replace(/.{8}$/, "AAAAAAAA") };
    const unbound = heldToken(rig.signer, { contact, unbound: true });
    const others = { ...held, holder: heldToken(rig.signer).holder };
    for (const target of [rig.organizationId, organizationId]) {
      for (const bad of [forged, unbound, others]) await assert.rejects(attestedLogin(rig, target, bad), invalid);
      const over = heldToken(rig.signer, { contact, expiresAtMs: rig.signer.clock.nowMs });
      await assert.rejects(attestedLogin(rig, target, over), { message: "expired verification token" });
    }
  }
  const body = rig.body("stamp_login", { publicKey: newKey().publicKey }, { organizationId });
  const held = heldToken(rig.signer);
  const evidence = attestedEvidence(held, Buffer.from("other"));
  await assert.rejects(query(rig, "whoami", { organizationId }, evidence), invalid);
  assert.ok(body.length > 0);
  assert.equal(await versionOf(rig, organizationId), before);
});

onBothDatabasesWithLog("it opens sign-ins, votes and what follows them, and nothing else", async (rig) => {
  const { organizationId, people } = await verifiedHome(rig);
  const held = heldToken(rig.signer);
  const denied = { code: "permission_denied", errorCode: "REQUEST_NOT_AUTHORIZED" };
  const tag = rig.body("create_user_tag", { userTagName: "t", userIds: [] }, { organizationId });
  await assert.rejects(sendAttested(rig, "create_user_tag", tag, held), denied);
  const asked = (path: Parameters<typeof query>[1], request: object) =>
    query<Record<string, unknown>>(rig, path, request, attestedEvidence(held, Buffer.from(JSON.stringify(request))));
  await assert.rejects(asked("list_users", { organizationId }), denied);
  for (const id of [organizationId, rig.organizationId]) {
    const me = await asked("whoami", { organizationId: id });
    assert.deepEqual([me.organizationId, me.userId], [organizationId, people[0].userId]);
  }
  const { activity } = await attestedLogin(rig, organizationId, held);
  for (const id of [organizationId, rig.organizationId]) {
    const seen = await asked("get_activity", { organizationId: id, activityId: activity.id });
    assert.equal((seen.activity as { id: string }).id, activity.id);
  }
});

onBothDatabasesWithLog("a user votes by it, and has one vote", async (rig) => {
  const { organizationId, people } = await newHome(rig, ann, { userEmail: "bob@example.com" });
  const [first, second] = people;
  assert.ok(second);
  const within = { organizationId };
  const userIds = people.map(({ userId }) => userId);
  await rig.submit(first, "update_root_quorum", { threshold: 2, userIds }, within);
  const waiting = await rig.submit(first, "create_user_tag", { userTagName: "t", userIds: [] }, within);
  assert.equal(waiting.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  const approve = (contact: string) => {
    const body = rig.body("approve_activity", { fingerprint: waiting.fingerprint }, within);
    return sendAttested(rig, "approve_activity", body, heldToken(rig.signer, { contact }));
  };
  const same = await approve("ann@example.com");
  assert.equal(same.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  const done = await approve("bob@example.com");
  assert.equal(done.status, "ACTIVITY_STATUS_COMPLETED");
  assert.deepEqual(
    done.votes.map(({ userId }) => userId),
    userIds,
  );
  assert.deepEqual((await userIn(rig, organizationId, second.userId)).emailVerified, { by: "code" });
});

onBothDatabasesWithLog("an organization that wants no sign-in by codes is not opened by it", async (rig) => {
  const { organizationId, people } = await verifiedHome(rig);
  const feature = { name: "FEATURE_NAME_OTP_EMAIL_AUTH" };
  await rig.submit(people[0], "remove_organization_feature", feature, { organizationId });
  const off = { code: "permission_denied", message: /FEATURE_NAME_OTP_EMAIL_AUTH is off/ };
  for (const id of [organizationId, rig.organizationId]) {
    await assert.rejects(attestedLogin(rig, id, heldToken(rig.signer)), off);
  }
});

onBothDatabasesWithLog(
  "a sign-up with a token leads to an account that is found by the contact at once",
  async (rig) => {
    const held = heldToken(rig.signer);
    const { publicKey } = newKey();
    const apiKeys = [{ apiKeyName: "key", publicKey, curveType: "API_KEY_CURVE_P256" }];
    const signUp = { apiKeys, authenticators: [], oauthProviders: [], email: ann.userEmail };
    const rootUsers = [{ userName: "ann", apiKeys, ...ann }];
    const params = { subOrganizationName: "Home", rootUsers, rootQuorumThreshold: 1, verificationToken: held.token };
    const signed = (form: "signup" | "signupV2", changes: object = {}) => ({
      ...params,
      clientSignature: signUpSignature(held, form, { ...signUp, ...changes }),
    });
    const fails = async (sent: object, message: RegExp) =>
      assert.match((await refusalOf(rig.submit(rig.root, "create_sub_organization", sent))).message, message);
    await fails(params, /^missing parameter: clientSignature/);
    await fails(signed("signup"), /which does not belong to this request/);
    await fails(signed("signupV2", { apiKeys: [] }), /`apiKeys` in its message differs/);
    await fails(signed("signupV2", { email: "bob@example.com" }), /`email` in its message differs/);
    await fails({ ...signed("signupV2"), verificationToken: undefined }, /^missing parameter: verificationToken/);
    await fails({ ...signed("signupV2"), rootUsers: [{ userName: "ann", apiKeys }] }, /no root user has its contact/);
    const twice = [...rootUsers, { ...rootUsers[0], apiKeys: [] }];
    await fails({ ...signed("signupV2"), rootUsers: twice }, /more than one root user has its contact/);
    const foreign = await newHome(rig, ann);
    const elsewhere = heldToken(rig.signer, { organizationId: foreign.organizationId });
    await fails({ ...signed("signupV2"), verificationToken: elsewhere.token }, /issued by another organization/);
    const unbound = heldToken(rig.signer, { unbound: true });
    await fails({ ...params, verificationToken: unbound.token }, /takes only one that is bound to a key/);
    const { result } = await rig.submit(rig.root, "create_sub_organization", signed("signupV2"));
    const { subOrganizationId } = result.createSubOrganizationResultV8 as { subOrganizationId: string };
    // The same token signs in where it has signed up.
    assert.equal((await ownerOf(rig, rig.organizationId, held))[0], subOrganizationId);
  },
);

onBothDatabasesWithLog(
  "an older sign-up takes bound and unbound tokens, and its own form of signature",
  async (rig) => {
    const type = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7";
    const apiKeys = [{ apiKeyName: "key", publicKey: newKey().publicKey, curveType: "API_KEY_CURVE_P256" }];
    const rootUsers = [{ userName: "ann", apiKeys, authenticators: [], oauthProviders: [], ...ann }];
    const params = { subOrganizationName: "Home", rootUsers, rootQuorumThreshold: 1 };
    const send = (sent: object) =>
      rig.send(rig.root, "create_sub_organization", olderBody(rig, "create_sub_organization", type, sent));
    const held = heldToken(rig.signer);
    const signed = (form: "signup" | "signupV2") => ({
      ...params,
      verificationToken: held.token,
      clientSignature: signUpSignature(held, form, { apiKeys, email: ann.userEmail }),
    });
    assert.match((await refusalOf(send(signed("signupV2")))).message, /which does not belong to this request/);
    const contact = "bob@example.com";
    const unbound = heldToken(rig.signer, { unbound: true, contact });
    const bob = { ...params, rootUsers: [{ ...rootUsers[0], userEmail: contact }], verificationToken: unbound.token };
    for (const sent of [signed("signup"), bob]) {
      const { result } = await send(sent);
      const born = result.createSubOrganizationResultV7 as { subOrganizationId: string; rootUserIds: [string] };
      const user = await userIn(rig, born.subOrganizationId, born.rootUserIds[0]);
      assert.deepEqual(user.emailVerified, { by: sent.verificationToken === held.token ? "code" : "parent" });
    }
  },
);

onBothDatabasesWithLog("verified sub-organizations are listed by contact, or all of them", async (rig) => {
  const one = await verifiedHome(rig);
  const other = await verifiedHome(rig, { userEmail: "bob@example.com" });
  await newHome(rig, ann);
  const { organizationId } = rig;
  const list = async (request: object) => {
    const answer = await query<{ organizationIds: string[] }>(
      rig,
      "list_verified_suborgs",
      { organizationId, ...request },
      rig.root,
    );
    return answer.organizationIds;
  };
  const all = [one.organizationId, other.organizationId].sort();
  assert.deepEqual(await list({}), all);
  assert.deepEqual(await list({ filterType: "EMAIL", filterValue: "ANN@example.com" }), [one.organizationId]);
  assert.deepEqual(await list({ filterType: "PHONE_NUMBER", filterValue: "+15551234567" }), []);
  assert.deepEqual(await list({ paginationOptions: { limit: "1" } }), all.slice(0, 1));
  assert.deepEqual(await list({ paginationOptions: { limit: "1", after: all[0] } }), all.slice(1));
  assert.deepEqual(await list({ paginationOptions: { before: all[1] } }), all.slice(0, 1));
  await assert.rejects(list({ filterType: "NAME", filterValue: "Home" }), {
    message: /is none of EMAIL, PHONE_NUMBER/,
  });
  await assert.rejects(list({ filterType: "EMAIL" }), { message: /missing field `filterValue`/ });
});
