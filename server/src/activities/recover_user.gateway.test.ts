/** Recovery by mail through gateway and signer, and what a recovery key cannot do. */
import assert from "node:assert/strict";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { p256 } from "@noble/curves/nist.js";
import type { ActivityPath, GatewayRig, Person } from "../../test/gateway_rig.ts";
import { bundleReader, createFamily, emailCustomization, lastMessage, recoveryKeyOf } from "../../test/mail_rig.ts";
import { passkeyParams } from "../../test/passkeys.ts";
import { addPolicy, onBothDatabases, refusalOf } from "../../test/policy_rig.ts";
import { newKey, query } from "../../test/session_rig.ts";
import { activities } from "../generated/activities.ts";
import { queries } from "../generated/queries.ts";

const recoversOnly = {
  code: "permission_denied",
  errorCode: "REQUEST_NOT_AUTHORIZED",
  message:
    "request not authorized: a recovery key can do nothing but recover its user: add a passkey with recover_user and sign in with it",
};

type User = { authenticators: { authenticatorId: string }[]; apiKeys: { credential: { type: string } }[] };

async function userOf(rig: GatewayRig, { userId }: Person, by: Person, organizationId: string): Promise<User> {
  return (await query<{ user: User }>(rig, "get_user", { organizationId, userId }, by)).user;
}

/** Why the decision point refused. */
async function whyRefused(request: Promise<unknown>): Promise<unknown> {
  const { code, details } = await refusalOf(request);
  assert.equal(code, 7);
  return Reflect.get(details?.[0] ?? {}, "message");
}

onBothDatabases("a mailed key registers one passkey for its user, and ends", async (rig) => {
  const { organizationId, within, ann, bob, email } = await createFamily(rig);
  const { targetPublicKey, open } = bundleReader();
  const asked = { email, targetPublicKey, emailCustomization };
  const { result } = await rig.submit(rig.root, "init_user_email_recovery", asked, within);
  assert.deepEqual(result, { initUserEmailRecoveryResult: { userId: ann.userId } });
  const { code, purpose, to } = await lastMessage(rig, organizationId);
  assert.deepEqual([purpose, to], ["recovery", email]);
  const recovering = { ...ann, privateKey: open(code) };
  const others = await recoveryKeyOf(rig, ann, email, within);
  assert.equal((await query<{ userId: string }>(rig, "whoami", { organizationId }, recovering)).userId, ann.userId);
  const parameters = { userId: ann.userId, authenticator: passkeyParams(1) };
  const body = rig.body("recover_user", parameters, within);
  const done = await rig.send(recovering, "recover_user", body);
  assert.deepEqual(await rig.send(recovering, "recover_user", body), done, "the answer to the same request");
  const { authenticatorId } = done.result.recoverUserResult as { authenticatorId: string[] };
  const user = await userOf(rig, ann, bob, organizationId);
  assert.deepEqual(
    user.authenticators.map((each) => each.authenticatorId),
    authenticatorId,
  );
  assert.deepEqual(
    user.apiKeys.map(({ credential }) => credential.type),
    ["CREDENTIAL_TYPE_API_KEY_P256"],
  );
  const again = { userId: ann.userId, authenticator: passkeyParams(2) };
  for (const key of [recovering, others]) {
    await assert.rejects(rig.submit(key, "recover_user", again, within), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
  }
});

onBothDatabases("it opens no other endpoint, and asks about nothing but whose it is", async (rig) => {
  const { organizationId, within, ann, email } = await createFamily(rig);
  const recovering = await recoveryKeyOf(rig, ann, email, within);
  for (const path of Object.keys(queries) as (keyof typeof queries)[]) {
    if (path === "whoami") continue;
    await assert.rejects(query(rig, path, { organizationId }, recovering), recoversOnly, path);
  }
  for (const path of Object.keys(activities) as ActivityPath[]) {
    if (path === "recover_user") continue;
    await assert.rejects(rig.submit(recovering, path, {}, within), recoversOnly, path);
  }
});

onBothDatabases(
  "the signer itself refuses what the gateway would let pass, also votes and the bytes of others",
  async (rig) => {
    const { within, ann, bob, email } = await createFamily(rig);
    const recovering = await recoveryKeyOf(rig, ann, email, within);
    const userIds = [ann.userId, bob.userId];
    await rig.submit(bob, "update_root_quorum", { threshold: 2, userIds }, within);
    const body = rig.body("create_user_tag", { userTagName: "t", userIds: [] }, within);
    const { fingerprint } = await rig.send(bob, "create_user_tag", body);
    await assert.rejects(rig.send(recovering, "create_user_tag", body), recoversOnly);
    await assert.rejects(rig.submit(recovering, "approve_activity", { fingerprint }, within), recoversOnly);
    await assert.rejects(rig.submit(recovering, "reject_activity", { fingerprint }, within), recoversOnly);
    const { publicKey } = newKey();
    await assert.rejects(rig.submit(recovering, "stamp_login", { publicKey }, within), recoversOnly);
    // The parent's id leads a sign-in to the child, and the key to the same refusal.
    await assert.rejects(rig.submit(recovering, "stamp_login", { publicKey }), recoversOnly);
    const { targetPublicKey } = bundleReader();
    await assert.rejects(
      rig.submit(recovering, "create_read_write_session", { targetPublicKey }, within),
      recoversOnly,
    );
    await assert.rejects(rig.submit(recovering, "create_read_only_session", {}, within), recoversOnly);
    await addPolicy(rig, { condition: "true" });
    const authenticators = [passkeyParams(1)];
    const own = { userId: ann.userId, authenticators };
    await assert.rejects(rig.submit(recovering, "create_authenticators", own, within), recoversOnly);
  },
);

onBothDatabases(
  "no other credential recovers, not even the user's own or the quorum's, and none does for others",
  async (rig) => {
    const { within, ann, bob, email } = await createFamily(rig);
    const authenticator = passkeyParams(1);
    const needsKey = {
      code: "permission_denied",
      message: /recover_user is stamped with the key that init_user_email_recovery mails/,
    };
    for (const person of [ann, bob]) {
      await assert.rejects(rig.submit(person, "recover_user", { userId: ann.userId, authenticator }, within), needsKey);
    }
    await assert.rejects(rig.submit(rig.root, "recover_user", { userId: ann.userId, authenticator }, within), {
      errorCode: "ORGANIZATION_MISMATCH",
    });
    const recovering = await recoveryKeyOf(rig, ann, email, within);
    const other = rig.submit(recovering, "recover_user", { userId: bob.userId, authenticator }, within);
    assert.equal(await whyRefused(other), "`userId` must be the user who makes this request");
  },
);

onBothDatabases(
  "a denial holds against it though its user is the quorum, and what wants approvals is refused",
  async (rig) => {
    const { within, ann, email } = await createFamily(rig);
    const parameters = { userId: ann.userId, authenticator: passkeyParams(1) };
    const condition = "activity.resource == 'RECOVERY' && activity.kind == 'RECOVER_USER'";
    const policyId = await addPolicy(rig, { effect: "EFFECT_DENY", condition }, ann, within);
    const recovering = await recoveryKeyOf(rig, ann, email, within);
    const denied = rig.submit(recovering, "recover_user", parameters, within);
    assert.equal(await whyRefused(denied), `The following policies denied this action: ${policyId}`);
    await rig.submit(ann, "delete_policy", { policyId }, within);
    const consensus = "approvers.count() >= 2";
    const asking = await addPolicy(rig, { condition, consensus }, ann, within);
    const waiting = await refusalOf(rig.submit(recovering, "recover_user", parameters, within));
    assert.match(waiting.message, /ACTIVITY_TYPE_RECOVER_USER cannot wait/);
    await rig.submit(ann, "delete_policy", { policyId: asking }, within);
    assert.equal(
      (await rig.submit(recovering, "recover_user", parameters, within)).status,
      "ACTIVITY_STATUS_COMPLETED",
    );
  },
);

onBothDatabases("it is no way in: the last credential beside it stays, and nothing renews it", async (rig) => {
  const { organizationId, root } = rig;
  await rig.submit(root, "set_organization_feature", { name: "FEATURE_NAME_EMAIL_RECOVERY", value: "" });
  const bob = await rig.newPerson("bob");
  const { userId } = bob;
  await rig.submit(root, "update_user_email", { userId, userEmail: "bob@example.com" });
  const recovering = await recoveryKeyOf(rig, bob, "bob@example.com", { organizationId });
  const { apiKeys } = await query<{ apiKeys: { apiKeyId: string; credential: { type: string } }[] }>(
    rig,
    "get_api_keys",
    { organizationId, userId },
    bob,
  );
  const lasting = apiKeys.filter(({ credential }) => credential.type === "CREDENTIAL_TYPE_API_KEY_P256");
  const apiKeyIds = lasting.map(({ apiKeyId }) => apiKeyId);
  const last = await refusalOf(rig.submit(bob, "delete_api_keys", { userId, apiKeyIds }));
  assert.match(last.message, /^user missing valid credential/);
  const publicKey = toHex(p256.getPublicKey(recovering.privateKey));
  const renewed = await refusalOf(rig.submit(bob, "stamp_login", { publicKey }));
  assert.match(renewed.message, /already belongs to a user of this organization/);
  await rig.submit(root, "remove_organization_feature", { name: "FEATURE_NAME_EMAIL_RECOVERY" });
  const off = await refusalOf(rig.submit(recovering, "recover_user", { userId, authenticator: passkeyParams(1) }));
  assert.match(off.message, /FEATURE_NAME_EMAIL_RECOVERY is off in organization/);
});

onBothDatabases("a registration that is none keeps the key, and one that somebody has is refused", async (rig) => {
  const { within, ann, bob, email } = await createFamily(rig);
  await rig.submit(bob, "create_authenticators", { userId: bob.userId, authenticators: [passkeyParams(1)] }, within);
  const recovering = await recoveryKeyOf(rig, ann, email, within);
  const send = (authenticator: object) =>
    rig.submit(recovering, "recover_user", { userId: ann.userId, authenticator }, within);
  assert.match((await refusalOf(send(passkeyParams(1)))).message, /already belongs to a user of this organization/);
  assert.equal((await refusalOf(send(passkeyParams(2, { challenge: "bad" })))).code, 3);
  await send(passkeyParams(2));
});

onBothDatabases("INIT_USER_EMAIL_RECOVERY needs no name of an application", async (rig) => {
  const { organizationId, ann, email } = await createFamily(rig);
  const { targetPublicKey } = bundleReader();
  const model = JSON.parse(Buffer.from(rig.body("init_user_email_recovery", { email, targetPublicKey })).toString());
  const sent = { ...model, organizationId, type: "ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY" };
  const { result } = await rig.send(rig.root, "init_user_email_recovery", Buffer.from(JSON.stringify(sent)));
  assert.deepEqual(result, { initUserEmailRecoveryResult: { userId: ann.userId } });
  assert.equal((await lastMessage(rig, organizationId)).appName, "Sub");
});
