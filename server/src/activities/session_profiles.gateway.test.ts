/** What sessions with a profile may do, through gateway and signer on both databases. */
import assert from "node:assert/strict";
import { faultCodes } from "@keystead/core/fault.ts";
import type { GatewayRig, Person } from "../../test/gateway_rig.ts";
import { addAccount, addPolicy, done, hexPayload, onBothDatabases, refusalOf } from "../../test/policy_rig.ts";
import { login, newKey, query } from "../../test/session_rig.ts";
import { leafOf } from "../../test/signer_rig.ts";
import type { Prepared } from "../frames/messages.ts";
import { decodePage } from "../state/pages.ts";
import { findPage, findVersion } from "../store/organizations.ts";

let names = 0;

async function newProfile(rig: GatewayRig, scope: string, more: object = {}): Promise<string> {
  names += 1;
  const params = { sessionProfileName: `Profile ${names}`, scope, ...more };
  const made = await done<{ sessionProfileId: string }>(rig, rig.root, "create_session_profile", params);
  return made.sessionProfileId;
}

/** A sub-organization, and a session of its first user with this scope. */
async function boundSession(rig: GatewayRig, scope: string, threshold = 1) {
  const sessionProfileId = await newProfile(rig, scope);
  const child = await rig.newSubOrganization(threshold, ["ann", "bob"]);
  const [ann, bob] = child.people;
  assert.ok(ann && bob);
  const within = { organizationId: child.organizationId };
  const { session, claims } = await login(rig, ann, within, { sessionProfileId });
  return { sessionProfileId, within, ann, bob, session, claims };
}

const outside = (sessionProfileId: string, outcome = "OUTCOME_DENY_IMPLICIT") => ({
  code: faultCodes.permission_denied,
  message: "You don't have sufficient permissions to take this action.",
  errorCode: "REQUEST_NOT_AUTHORIZED",
  details: [
    {
      "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
      message: "No policies evaluated to outcome: Allow",
      policyEvaluations: [],
      sessionScope: { sessionProfileId, outcome },
    },
  ],
});

/** What the signer prepares from now on. */
function watchPrepared({ link }: GatewayRig): Prepared[] {
  const seen: Prepared[] = [];
  const { request } = link;
  link.request = (async (kind: "prepare", message: never) => {
    const reply = await request(kind, message);
    if (kind === "prepare" && reply.kind === "prepared") seen.push(...reply.value);
    return reply;
  }) as typeof request;
  return seen;
}

const tag = () => ({ userTagName: `tag ${names++}`, userIds: [] });

async function keysOf({ store }: GatewayRig, organizationId: string, { userId }: Person) {
  const page = await findPage(store, organizationId, "members");
  assert.ok(page);
  return decodePage("members", page).users.get(userId)?.apiKeys ?? [];
}

onBothDatabases("a child's session is bound by its parent's profile, also where it is the root quorum", async (rig) => {
  const { sessionProfileId, within, session, claims, ann } = await boundSession(rig, "activity.action == 'SIGN'");
  assert.deepEqual(
    [claims.session_type, Reflect.get(claims, "session_profile_id"), Reflect.get(claims, "scope")],
    [`Profile ${names}`, sessionProfileId, "activity.action == 'SIGN'"],
  );
  const [, key] = await keysOf(rig, within.organizationId, ann);
  assert.equal(key?.sessionProfileId, sessionProfileId);
  const { address } = await addAccount(rig, { root: ann }, within);
  const payload = { signWith: address, payload: "00", ...hexPayload };
  const signed = await rig.submit(session, "sign_raw_payload", payload, within);
  assert.equal(signed.status, "ACTIVITY_STATUS_COMPLETED");
  const version = await findVersion(rig.store, within.organizationId);
  assert.deepEqual(await refusalOf(rig.submit(session, "create_user_tag", tag(), within)), outside(sessionProfileId));
  // Own credentials need no policy, but they need the scope.
  const apiKeys = [{ apiKeyName: "k", publicKey: newKey().publicKey, curveType: "API_KEY_CURVE_P256" }];
  const own = rig.submit(session, "create_api_keys", { userId: ann.userId, apiKeys }, within);
  assert.deepEqual(await refusalOf(own), outside(sessionProfileId));
  assert.equal(await findVersion(rig.store, within.organizationId), version, "a refusal changes no state");
  await rig.submit(ann, "create_user_tag", tag(), within);
  const { userId } = await query<{ userId: string }>(rig, "whoami", within, session);
  assert.equal(userId, ann.userId, "queries pass");
});

onBothDatabases("a policy that allows everything does not widen a session", async (rig) => {
  const bob = await rig.newPerson("bob");
  await addPolicy(rig, { condition: "true" });
  const sessionProfileId = await newProfile(rig, "activity.resource == 'WALLET'");
  const { session } = await login(rig, bob, {}, { sessionProfileId });
  await rig.submit(bob, "create_user_tag", tag());
  await rig.submit(session, "create_wallet", { walletName: "w", accounts: [] });
  assert.deepEqual(await refusalOf(rig.submit(session, "create_user_tag", tag())), outside(sessionProfileId));
});

onBothDatabases("the login's leaf names the parent's state, and later submits need it only once", async (rig) => {
  const prepared = watchPrepared(rig);
  const { within, session } = await boundSession(rig, "activity.resource == 'USER'");
  const parent = await findVersion(rig.store, rig.organizationId);
  const states = () => leafOf(prepared.at(-1) as Prepared).states.map(({ version }) => version);
  const [child, ...others] = states();
  assert.deepEqual([child, others], [1, [parent]]);
  await rig.submit(session, "create_user_tag", tag(), within);
  await rig.submit(session, "create_user_tag", tag(), within);
  assert.equal(states().length, 1, "an id has one scope for good");
});

onBothDatabases("a session votes only on what its scope allows, and what waits goes on waiting", async (rig) => {
  const { sessionProfileId, within, ann, bob, session } = await boundSession(rig, "activity.resource == 'USER'", 2);
  const waits = async (path: "create_user_tag" | "create_wallet", parameters: object) => {
    const body = rig.body(path, parameters, within);
    const { fingerprint, status, id } = await rig.send(bob, path, body);
    assert.equal(status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    return { fingerprint, id, body };
  };
  const wallet = await waits("create_wallet", { walletName: "w", accounts: [] });
  const { fingerprint } = wallet;
  for (const vote of ["approve_activity", "reject_activity"] as const) {
    const { details } = outside(sessionProfileId);
    const refusal = { code: "permission_denied", errorCode: "REQUEST_NOT_AUTHORIZED", details };
    await assert.rejects(rig.submit(session, vote, { fingerprint }, within), refusal);
  }
  await assert.rejects(rig.send(session, "create_wallet", wallet.body), { errorCode: "REQUEST_NOT_AUTHORIZED" });
  const approved = await rig.submit(ann, "approve_activity", { fingerprint }, within);
  assert.equal(approved.status, "ACTIVITY_STATUS_COMPLETED");
  const userTag = await waits("create_user_tag", tag());
  const allowed = await rig.submit(session, "approve_activity", { fingerprint: userTag.fingerprint }, within);
  assert.equal(allowed.status, "ACTIVITY_STATUS_COMPLETED");
});

onBothDatabases("what only the root quorum decides needs a scope that is always true", async (rig) => {
  const params = { name: "FEATURE_NAME_WEBHOOK", value: "https://example.com" };
  for (const [scope, isAllowed] of [
    ["activity.action != 'EXPORT'", false],
    ["activity.type == 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE'", false],
    ["true", true],
  ] as const) {
    const { sessionProfileId, within, session } = await boundSession(rig, scope);
    const sent = rig.submit(session, "set_organization_feature", params, within);
    if (isAllowed) assert.equal((await sent).status, "ACTIVITY_STATUS_COMPLETED");
    else assert.deepEqual(await refusalOf(sent), outside(sessionProfileId));
  }
});

onBothDatabases("a scope that cannot be evaluated allows nothing", async (rig) => {
  const { sessionProfileId, within, ann, session } = await boundSession(rig, "wallet.label == 'Main'");
  assert.deepEqual(
    await refusalOf(rig.submit(session, "create_user_tag", tag(), within)),
    outside(sessionProfileId, "OUTCOME_ERROR"),
  );
  const { address } = await addAccount(rig, { root: ann }, within);
  const payload = { signWith: address, payload: "00", ...hexPayload };
  assert.deepEqual(
    await refusalOf(rig.submit(session, "sign_raw_payload", payload, within)),
    outside(sessionProfileId),
  );
});

onBothDatabases("a session with a profile makes no session without it", async (rig) => {
  const { sessionProfileId, within, session, ann } = await boundSession(rig, "true");
  const other = await newProfile(rig, "true");
  const refused = {
    code: faultCodes.permission_denied,
    message: `request not authorized: a session with a session profile makes sessions with the same profile only; set sessionProfileId to \`${sessionProfileId}\``,
    errorCode: "REQUEST_NOT_AUTHORIZED",
    details: [],
  };
  const { publicKey } = newKey();
  for (const wider of [{}, { sessionProfileId: other }]) {
    assert.deepEqual(await refusalOf(rig.submit(session, "stamp_login", { publicKey, ...wider }, within)), refused);
  }
  const readWrite = rig.submit(session, "create_read_write_session", { targetPublicKey: publicKey }, within);
  assert.deepEqual(await refusalOf(readWrite), refused);
  assert.equal((await keysOf(rig, within.organizationId, ann)).length, 2);
  const renewed = await login(rig, session, within, { sessionProfileId });
  assert.equal(Reflect.get(renewed.claims, "session_profile_id"), sessionProfileId);
});

onBothDatabases("a session's key keeps its profile, however its user signs in with it again", async (rig) => {
  const sessionProfileId = await newProfile(rig, "true", { expirationSeconds: "60" });
  const { publicKey } = await login(rig, rig.root, {}, { sessionProfileId });
  const taken = { code: faultCodes.already_exists };
  const { code } = await refusalOf(rig.submit(rig.root, "stamp_login", { publicKey }));
  assert.deepEqual({ code }, taken);
  const plain = await login(rig, rig.root);
  const narrowed = rig.submit(rig.root, "stamp_login", { publicKey: plain.publicKey, sessionProfileId });
  assert.deepEqual({ code: (await refusalOf(narrowed)).code }, taken);
  await rig.submit(rig.root, "stamp_login", { publicKey, sessionProfileId, expirationSeconds: "3600" });
  const [, key] = await keysOf(rig, rig.organizationId, rig.root);
  assert.equal(key?.expiresAtMs, rig.signer.clock.nowMs + 60_000);
});

onBothDatabases("a sub-organization has its parent's profiles, and makes none", async (rig) => {
  const { sessionProfileId, within, ann, session } = await boundSession(rig, "true");
  const asked = { ...within, sessionProfileId };
  for (const person of [ann, session, rig.root]) {
    const { sessionProfile } = await query<{ sessionProfile: { scope: string } }>(
      rig,
      "get_session_profile",
      asked,
      person,
    );
    assert.equal(sessionProfile.scope, "true");
  }
  const { sessionProfiles } = await query<{ sessionProfiles: object[] }>(rig, "get_session_profiles", within, ann);
  assert.equal(sessionProfiles.length, 1);
  const made = rig.submit(ann, "create_session_profile", { sessionProfileName: "Own", scope: "true" }, within);
  assert.equal((await refusalOf(made)).code, faultCodes.failed_precondition);
});

onBothDatabases("a member whom no policy allows it makes no profile, and the same bytes are one", async (rig) => {
  const bob = await rig.newPerson("bob");
  const params = { sessionProfileName: "Mine", scope: "true" };
  const { code } = await refusalOf(rig.submit(bob, "create_session_profile", params));
  assert.equal(code, faultCodes.permission_denied);
  const body = rig.body("create_session_profile", params);
  const [one, two] = [
    await rig.send(rig.root, "create_session_profile", body),
    await rig.send(rig.root, "create_session_profile", body),
  ];
  assert.deepEqual(one.result, two.result);
  const within = { organizationId: rig.organizationId };
  const { sessionProfiles } = await query<{ sessionProfiles: object[] }>(rig, "get_session_profiles", within, bob);
  assert.equal(sessionProfiles.length, 1);
});
