/** Repeated bodies where they are easily forgotten, over gateway, signer and both databases. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { QueryConfig } from "pg";
import { stampEvidence } from "../../../test/evidence.ts";
import { createGatewayRig, newUser } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { activities } from "../../generated/activities.ts";
import { loadUnreleased } from "../../store/across.ts";
import { commitGroup } from "../../store/commit.ts";
import type { Store } from "../../store/store.ts";
import { dialectOf } from "../../views/dialect.ts";
import { createRefusedCredentials } from "../evidence/refused_credentials.ts";
import { submit } from "./submit.ts";

/** The same store, to which something else happens after each read. */
function interrupted(store: Store, happens: () => Promise<void>): Store {
  if (store.dialect === "sqlite") {
    const reading = async <T>(work: () => T): Promise<T> => {
      const read = await store.sqlite.reading(work);
      await happens();
      return read;
    };
    return { ...store, sqlite: { ...store.sqlite, reading } };
  }
  const query = async (config: QueryConfig) => {
    const read = await store.pool.query(config);
    await happens();
    return read;
  };
  return { ...store, pool: Object.assign(Object.create(store.pool), { query }) };
}

for (const dialect of dialects) {
  test(`on ${dialect}: a repeat is answered with the result, though it is released between two looks at it`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const privateKey = { privateKeyName: "k", curve: "CURVE_P256", addressFormats: [], privateKeyTags: [] };
    const made = await rig.submit(rig.root, "create_private_keys", { privateKeys: [privateKey] });
    const { privateKeys } = made.result.createPrivateKeysResultV2 as { privateKeys: [{ privateKeyId: string }] };
    const body = rig.body("sign_raw_payload", {
      signWith: privateKeys[0].privateKeyId,
      payload: "00".repeat(32),
      encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
      hashFunction: "HASH_FUNCTION_NO_OP",
    });
    const first = await rig.send(rig.root, "sign_raw_payload", body);
    // Its result is written to its row a moment later: here, after the repeat has read the row without it.
    rig.dependencies.store = interrupted(rig.store, () => rig.dependencies.committer.settle());
    assert.deepEqual(await rig.send(rig.root, "sign_raw_payload", body), first);
    assert.equal(first.status, "ACTIVITY_STATUS_COMPLETED");
  });

  test(`on ${dialect}: what was committed unheard is answered only when the birth in it is released, too`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { store, dependencies } = rig;
    const { committer } = dependencies;
    const { user } = newUser("owner");
    const parameters = { subOrganizationName: "Sub", rootUsers: [user], rootQuorumThreshold: 1 };
    const body = rig.body("create_sub_organization", parameters);
    dependencies.committer = {
      ...committer,
      async commit(item) {
        await commitGroup(store, [item], []);
        throw new Fault("unavailable", "the connection broke during the commit");
      },
    };
    assert.equal((await rig.send(rig.root, "create_sub_organization", body)).status, "ACTIVITY_STATUS_COMPLETED");
    await committer.settle();
    assert.deepEqual(await loadUnreleased(store, 10), []);
  });

  test(`on ${dialect}: who has deleted its own key is told so again, for the same request and no other`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { organizationId, people } = await rig.newSubOrganization(1, ["ann", "bob"]);
    const [ann] = people;
    assert.ok(ann);
    const keys = rig.store.db.selectFrom("credentials").select("credential_id");
    const { credential_id: keyId } = await keys.where("user_id", "=", ann.userId).executeTakeFirstOrThrow();
    const { apiKeys } = newUser("another key").user;
    await rig.submit(ann, "create_api_keys", { userId: ann.userId, apiKeys }, { organizationId });
    const tagged = rig.body("create_user_tag", { userTagName: "before", userIds: [] }, { organizationId });
    await rig.send(ann, "create_user_tag", tagged);
    const parameters = { userId: ann.userId, apiKeyIds: [keyId] };
    const body = rig.body("delete_api_keys", parameters, { organizationId });
    const first = await rig.send(ann, "delete_api_keys", body);
    assert.equal(first.status, "ACTIVITY_STATUS_COMPLETED");
    assert.deepEqual(await rig.send(ann, "delete_api_keys", body), first);
    const unknown = { code: "unauthenticated", errorCode: "PUBLIC_KEY_NOT_FOUND" };
    const later = rig.body("delete_api_keys", parameters, { organizationId });
    await assert.rejects(rig.send(ann, "delete_api_keys", later), unknown);
    const vote = rig.body("approve_activity", { fingerprint: first.fingerprint }, { organizationId });
    await assert.rejects(rig.send(ann, "approve_activity", vote), unknown);
    // Nor is what the key did before.
    await assert.rejects(rig.send(ann, "create_user_tag", tagged), unknown);
  });

  test(`on ${dialect}: who has left is not told what became of its proposal, however it asks`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { organizationId, people } = await rig.newSubOrganization(2, ["ann", "bob", "cat"]);
    const [ann, bob, cat] = people;
    assert.ok(ann && bob && cat);
    const keys = rig.store.db.selectFrom("credentials").select("credential_id");
    const keyOf = async ({ userId }: typeof ann) =>
      (await keys.where("user_id", "=", userId).executeTakeFirstOrThrow()).credential_id;
    const [ownKey, catsKey] = [await keyOf(ann), await keyOf(cat)];
    const another = newUser("another key");
    for (const { userId } of [ann, cat]) {
      const { apiKeys } = userId === ann.userId ? another.user : newUser("spare").user;
      const added = await rig.submit(ann, "create_api_keys", { userId, apiKeys }, { organizationId });
      if (added.status !== "ACTIVITY_STATUS_COMPLETED")
        await rig.submit(bob, "approve_activity", { fingerprint: added.fingerprint }, { organizationId });
    }
    const body = rig.body("delete_api_keys", { userId: cat.userId, apiKeyIds: [catsKey] }, { organizationId });
    const waiting = await rig.send(ann, "delete_api_keys", body);
    assert.equal(waiting.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    const annsOther = { ...ann, privateKey: another.privateKey };
    await rig.submit(annsOther, "delete_api_keys", { userId: ann.userId, apiKeyIds: [ownKey] }, { organizationId });
    const unknown = { code: "unauthenticated", errorCode: "PUBLIC_KEY_NOT_FOUND" };
    await assert.rejects(rig.send(ann, "delete_api_keys", body), unknown);
    const approval = { fingerprint: waiting.fingerprint };
    const done = await rig.submit(bob, "approve_activity", approval, { organizationId });
    assert.equal(done.status, "ACTIVITY_STATUS_COMPLETED");
    await assert.rejects(rig.send(ann, "delete_api_keys", body), unknown);
  });

  test(`on ${dialect}: an approval whose sender has just rejected is refused, in whichever moment that is seen`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { organizationId, people } = await rig.newSubOrganization(2, ["ann", "bob"]);
    const [ann, bob] = people;
    assert.ok(ann && bob);
    const tag = { userTagName: "T", userIds: [] };
    const { fingerprint } = await rig.submit(ann, "create_user_tag", tag, { organizationId });
    const { committer } = rig.dependencies;
    const { store } = rig;
    // Somebody else's commit comes first; and when the waiting activity has been found again, bob's own rejection does.
    rig.dependencies.committer = {
      ...committer,
      async commit(_item, run) {
        run.abandon();
        rig.dependencies.committer = committer;
        rig.dependencies.store = interrupted(store, async () => {
          rig.dependencies.store = store;
          await rig.submit(bob, "reject_activity", { fingerprint }, { organizationId });
        });
        return { kind: "conflict" };
      },
    };
    await assert.rejects(rig.submit(bob, "approve_activity", { fingerprint }, { organizationId }), {
      code: "permission_denied",
      message: "request not authorized: the activity is rejected and takes no votes",
    });
  });

  test(`on ${dialect}: who deleted an organization and asks again is told so; everything else is gone`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { organizationId, people } = await rig.newSubOrganization(1, ["owner", "other"]);
    const [owner, other] = people;
    assert.ok(owner && other);
    const body = rig.body("delete_sub_organization", { deleteWithoutExport: true }, { organizationId });
    const deleted = await rig.send(owner, "delete_sub_organization", body);
    assert.equal(deleted.status, "ACTIVITY_STATUS_COMPLETED");
    assert.deepEqual(await rig.send(owner, "delete_sub_organization", body), deleted);
    const gone = { code: "not_found", errorCode: "ORGANIZATION_NOT_FOUND" };
    const tag = { userTagName: "late", userIds: [] };
    await assert.rejects(rig.submit(owner, "create_user_tag", tag, { organizationId }), gone);
    const again = { deleteWithoutExport: true };
    await assert.rejects(rig.submit(other, "delete_sub_organization", again, { organizationId }), gone);
    const vote = { fingerprint: deleted.fingerprint };
    await assert.rejects(rig.submit(other, "approve_activity", vote, { organizationId }), gone);
  });

  test(`on ${dialect}: a body that is older than a moment is looked up first, and answered the same`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const body = rig.body("create_user_tag", { userTagName: "a", userIds: [] }, { agoMs: 1_800_000 });
    const first = await rig.send(rig.root, "create_user_tag", body);
    assert.deepEqual(await rig.send(rig.root, "create_user_tag", body), first);
    // Two hours later it is too old for anything but its own answer.
    rig.signer.clock.nowMs += 2 * 3_600_000;
    assert.deepEqual(await rig.send(rig.root, "create_user_tag", body), first);
    const stale = rig.body("create_user_tag", { userTagName: "b", userIds: [] }, { agoMs: 3_700_000 });
    await assert.rejects(rig.send(rig.root, "create_user_tag", stale), { errorCode: "REQUEST_INVALID" });
  });

  test(`on ${dialect}: a vote on what is no fingerprint, or waits in a deleted organization, is answered at once`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { organizationId, people } = await rig.newSubOrganization(2, ["ann", "bob"]);
    const [ann, bob] = people;
    assert.ok(ann && bob);
    const within = { organizationId };
    const { fingerprint } = await rig.submit(ann, "create_user_tag", { userTagName: "a", userIds: [] }, within);
    const hash = fingerprint.slice("sha256:".length);
    const unknown = { code: "not_found", message: /^No activity found with fingerprint/ };
    for (const wrong of [`xxxxxxx${hash}`, `sha512:${hash}`, hash, `sha256:${hash}0`]) {
      await assert.rejects(rig.submit(bob, "approve_activity", { fingerprint: wrong }, within), unknown);
    }
    const spelled = { fingerprint: fingerprint.toUpperCase() };
    assert.equal((await rig.submit(bob, "approve_activity", spelled, within)).status, "ACTIVITY_STATUS_COMPLETED");

    const left = await rig.submit(ann, "create_user_tag", { userTagName: "b", userIds: [] }, within);
    const end = await rig.submit(ann, "delete_sub_organization", { deleteWithoutExport: true }, within);
    await rig.submit(bob, "approve_activity", { fingerprint: end.fingerprint }, within);
    const stranger = { ...bob, privateKey: new Uint8Array(32).fill(3) };
    for (const person of [bob, stranger]) {
      await assert.rejects(rig.submit(person, "reject_activity", { fingerprint: left.fingerprint }, within), {
        errorCode: "ORGANIZATION_NOT_FOUND",
      });
    }
  });

  test(`on ${dialect}: a key under which a stamp was refused is verified before the signer is asked, until a stamp is right`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const refusedCredentials = createRefusedCredentials({ places: 1, waiting: 10, keys: 10, keptMs: 60_000 });
    rig.dependencies.refusedCredentials = refusedCredentials;
    let asked = 0;
    const { begin } = rig.dependencies.organizations;
    rig.dependencies.organizations.begin = (...request) => {
      asked += 1;
      return begin(...request);
    };
    const tag = (name: string) => rig.body("create_user_tag", { userTagName: name, userIds: [] });
    const stampOver = (body: Uint8Array) => signStamp(rig.root.privateKey, "SIGNATURE_SCHEME_TK_API_P256", body);
    const falsely = () => {
      const arrival = { body: tag("false"), evidence: stampEvidence(stampOver(Buffer.from("something else"))) };
      return submit(rig.dependencies, activities.create_user_tag, arrival, dialectOf(undefined));
    };
    const unverified = { code: "unauthenticated", message: "could not verify api key signature" };
    await assert.rejects(falsely(), unverified);
    assert.equal(asked, 1);
    for (const one of await Promise.allSettled([falsely(), falsely(), falsely()])) {
      assert.equal(one.status === "rejected" && one.reason.message, unverified.message);
    }
    assert.equal(asked, 1);
    // What cannot be read names nobody; and another key is nobody's business.
    const unreadable = { body: tag("x"), evidence: stampEvidence("x") };
    await assert.rejects(submit(rig.dependencies, activities.create_user_tag, unreadable, dialectOf(undefined)), {
      code: "unauthenticated",
    });
    assert.equal(asked, 1);
    assert.equal(refusedCredentials.areNone(), false);
    assert.equal((await rig.send(rig.root, "create_user_tag", tag("right"))).status, "ACTIVITY_STATUS_COMPLETED");
    assert.equal(asked, 2);
    assert.equal(refusedCredentials.areNone(), true);
    assert.equal(
      refusedCredentials.verifyLimit.enter(() => false),
      undefined,
      "the lane is free again",
    );
  });

  test(`on ${dialect}: a stranger who names many records has none of them looked up`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    let asked = 0;
    const { begin } = rig.dependencies.organizations;
    rig.dependencies.organizations.begin = (...request) => {
      asked += 1;
      return begin(...request);
    };
    const stranger = { ...rig.root, privateKey: new Uint8Array(32).fill(3) };
    const walletIds = Array.from({ length: 17 }, () => randomUUID());
    const parameters = { walletIds, deleteWithoutExport: true };
    await assert.rejects(rig.submit(stranger, "delete_wallets", parameters), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
    assert.equal(asked, 0);
    await assert.rejects(rig.submit(rig.root, "delete_wallets", parameters), /unable to find wallet/);
    assert.equal(asked, 1);
  });

  test(`on ${dialect}: bodies that are refused again and again do not keep the organization from committing`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const other = await rig.newPerson("Other");
    const refused = rig.body("create_user_tag", { userTagName: "no", userIds: [] });
    let commits = 0;
    const { commit } = rig.dependencies.committer;
    rig.dependencies.committer.commit = (item, run) => {
      commits += 1;
      return commit(item, run);
    };
    const attempts = Array.from({ length: 20 }, () => rig.send(other, "create_user_tag", refused));
    const tags = Array.from({ length: 10 }, (_, n) =>
      rig.submit(rig.root, "create_user_tag", { userTagName: `tag ${n}`, userIds: [] }),
    );
    const outcomes = await Promise.allSettled(attempts);
    assert.ok(outcomes.every(({ status }) => status === "rejected"));
    assert.ok((await Promise.all(tags)).every(({ status }) => status === "ACTIVITY_STATUS_COMPLETED"));
    await assert.rejects(rig.send(other, "create_user_tag", refused), /sufficient permissions/);
    assert.equal(commits, 11, "one for the refusal, one for each tag");
  });
}
