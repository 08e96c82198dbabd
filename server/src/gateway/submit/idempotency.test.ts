/** The `Idempotency-Key` header, over gateway, signer and both databases. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { p256 } from "@noble/curves/nist.js";
import { sql } from "kysely";
import { stampEvidence } from "../../../test/evidence.ts";
import { createGatewayRig } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import type { AnyActivity } from "../../endpoints/define_activity.ts";
import { activities } from "../../generated/activities.ts";
import { forgetIdempotencyKeys } from "../../store/across_ended.ts";
import type { Store } from "../../store/store.ts";
import { dialectOf } from "../../views/dialect.ts";
import { keyedRequest, readKey } from "./idempotency.ts";
import { submit } from "./submit.ts";

test("a key is one header of 1 to 255 visible characters", () => {
  assert.equal(readKey(undefined), undefined);
  assert.equal(readKey("order-17"), "order-17");
  for (const bad of ["", "with space", "ümlaut", "x".repeat(256), ["a", "b"]]) {
    assert.throws(() => readKey(bad), { code: "invalid_argument", message: /Idempotency-Key/ });
  }
});

test("requests are compared without their time and whatever the order of their members", () => {
  const body = { type: "T", timestampMs: "1", organizationId: "o", parameters: { a: [1, { b: 2, c: 3 }], d: null } };
  const other = { parameters: { d: null, a: [1, { c: 3, b: 2 }] }, organizationId: "o", timestampMs: "2", type: "T" };
  assert.equal(keyedRequest("k", body).request, keyedRequest("k", other).request);
  for (const changed of [
    { ...body, type: "U" },
    { ...body, organizationId: "p" },
    { ...body, generateAppProofs: true },
    { ...body, parameters: { ...body.parameters, a: [{ b: 2, c: 3 }, 1] } },
  ]) {
    assert.notEqual(keyedRequest("k", body).request, keyedRequest("k", changed).request);
  }
});

const tag = (userTagName: string) => ({ userTagName, userIds: [] });

/** The table can be read, and takes nothing. */
const refuseKeys = {
  sqlite: sql`create trigger refused before insert on idempotency_keys begin select raise(abort, 'no room'); end`,
  postgres: sql`alter table idempotency_keys add constraint refused check (false) not valid`,
};
const acceptKeys = {
  sqlite: sql`drop trigger refused`,
  postgres: sql`alter table idempotency_keys drop constraint refused`,
};

for (const dialect of dialects) {
  test(`on ${dialect}: under one key a retry with a fresh time is the same activity`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { root } = rig;
    const first = await rig.send(root, "create_user_tag", rig.body("create_user_tag", tag("a")), "key");
    const again = await rig.send(root, "create_user_tag", rig.body("create_user_tag", tag("a")), "key");
    assert.deepEqual(again, first);
    // Without a key, or under another, it is a second activity, which here fails: the name is taken.
    const fresh = () => rig.body("create_user_tag", tag("a"));
    await assert.rejects(rig.send(root, "create_user_tag", fresh()), /must be unique/);
    await assert.rejects(rig.send(root, "create_user_tag", fresh(), "other"), /must be unique/);
    // What failed under a key fails the same way each time, and is not tried again.
    await rig.submit(root, "delete_user_tags", { userTagIds: [tagIdOf(first)] });
    await assert.rejects(rig.send(root, "create_user_tag", fresh(), "other"), /must be unique/);
    assert.equal((await rig.send(root, "create_user_tag", fresh())).status, "ACTIVITY_STATUS_COMPLETED");
  });

  test(`on ${dialect}: any other difference under the same key is refused, and nothing is stored`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { root } = rig;
    await rig.send(root, "create_user_tag", rig.body("create_user_tag", tag("a")), "key");
    await assert.rejects(rig.send(root, "create_user_tag", rig.body("create_user_tag", tag("b")), "key"), {
      code: "already_exists",
      message: "this Idempotency-Key was used within 24 hours for a different request",
    });
    assert.equal((await rig.submit(root, "create_user_tag", tag("b"))).status, "ACTIVITY_STATUS_COMPLETED");
  });

  test(`on ${dialect}: a key is its user's own, and only a verified stamp is answered`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const first = await rig.send(rig.root, "create_user_tag", rig.body("create_user_tag", tag("a")), "key");
    const other = await rig.newPerson("Other");
    const body = () => rig.body("create_user_tag", tag("a"));
    // Another user's request is decided for itself: no policy allows it.
    await assert.rejects(rig.send(other, "create_user_tag", body(), "key"), /sufficient permissions/);
    const stranger = { ...other, privateKey: new Uint8Array(32).fill(5) };
    await assert.rejects(rig.send(stranger, "create_user_tag", body(), "key"), { code: "unauthenticated" });
    assert.deepEqual(await rig.send(rig.root, "create_user_tag", body(), "key"), first);
  });

  test(`on ${dialect}: under a key, a stamp that cannot be read is refused like any other`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const body = rig.body("create_user_tag", tag("a"));
    for (const stamp of [
      "",
      "%",
      "x",
      Buffer.from("null").toString("base64url"),
      Buffer.from("{}").toString("base64url"),
    ]) {
      const arrival = { body, evidence: stampEvidence(stamp), idempotencyKey: "key" };
      const sent = submit(rig.dependencies, activities.create_user_tag as AnyActivity, arrival, dialectOf(undefined));
      await assert.rejects(sent, { code: "unauthenticated", message: "could not extract api key stamp" });
    }
  });

  test(`on ${dialect}: of many at once under one key one is executed, and all get its answer`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const users = { users: [userParams("x")] };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => rig.send(rig.root, "create_users", rig.body("create_users", users), "key")),
    );
    assert.equal(new Set(answers.map(({ id }) => id)).size, 1);
    const { rows } = await countUsers(rig.store);
    assert.equal(rows, 2);
  });

  test(`on ${dialect}: a key that first came with a known body, an approval or a vote stands for that from then on`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const body = rig.body("create_user_tag", tag("a"));
    const first = await rig.send(rig.root, "create_user_tag", body);
    assert.deepEqual(await rig.send(rig.root, "create_user_tag", body, "known"), first);
    const fresh = () => rig.body("create_user_tag", tag("a"));
    assert.deepEqual(await rig.send(rig.root, "create_user_tag", fresh(), "known"), first);

    const { organizationId, people } = await rig.newSubOrganization(2, ["ann", "bob"]);
    const [ann, bob] = people;
    assert.ok(ann && bob);
    const within = { organizationId };
    const waiting = rig.body("create_user_tag", tag("b"), within);
    await rig.send(ann, "create_user_tag", waiting);
    const approved = await rig.send(bob, "create_user_tag", waiting, "approval");
    assert.equal(approved.status, "ACTIVITY_STATUS_COMPLETED");
    const again = rig.body("create_user_tag", tag("b"), within);
    assert.equal((await rig.send(bob, "create_user_tag", again, "approval")).id, approved.id);

    const { id, fingerprint } = await rig.submit(ann, "create_user_tag", tag("c"), within);
    const vote = () => rig.body("approve_activity", { fingerprint }, within);
    assert.equal((await rig.send(bob, "approve_activity", vote(), "vote")).id, id);
    assert.equal((await rig.send(bob, "approve_activity", vote(), "vote")).id, id);
    const other = rig.body("approve_activity", { fingerprint: approved.fingerprint }, within);
    await assert.rejects(rig.send(bob, "approve_activity", other, "vote"), { code: "already_exists" });
  });

  test(`on ${dialect}: a key that cannot be written for now is no mistake of ours, and its body is answered once it can`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const body = rig.body("create_user_tag", tag("a"));
    const first = await rig.send(rig.root, "create_user_tag", body);
    await refuseKeys[dialect].execute(rig.store.db);
    await assert.rejects(rig.send(rig.root, "create_user_tag", body, "key"), {
      code: "unavailable",
      message: "the database did not commit; try again",
    });
    await acceptKeys[dialect].execute(rig.store.db);
    assert.deepEqual(await rig.send(rig.root, "create_user_tag", body, "key"), first);
  });

  test(`on ${dialect}: after a day the key may stand for something else`, async (t) => {
    const rig = await createGatewayRig(t, dialect, Date.now() - 25 * 3_600_000);
    if (rig === undefined) return;
    const { signer, root } = rig;
    await rig.send(root, "create_user_tag", rig.body("create_user_tag", tag("a")), "key");
    signer.clock.nowMs += 25 * 3_600_000;
    const later = await rig.send(root, "create_user_tag", rig.body("create_user_tag", tag("b")), "key");
    assert.equal(later.status, "ACTIVITY_STATUS_COMPLETED");
    await forgetIdempotencyKeys(rig.store, Date.now());
    assert.deepEqual(await rig.send(root, "create_user_tag", rig.body("create_user_tag", tag("b")), "key"), later);
  });
}

function tagIdOf({ result }: { result: Record<string, unknown> }): string {
  return (result.createUserTagResult as { userTagId: string }).userTagId;
}

function userParams(userName: string) {
  const publicKey = toHex(p256.getPublicKey(new Uint8Array(32).fill(9)));
  const apiKeys = [{ apiKeyName: "k", publicKey, curveType: "API_KEY_CURVE_P256" }];
  return { userName, apiKeys, authenticators: [], oauthProviders: [], userTags: [] };
}

async function countUsers(store: Store): Promise<{ rows: number }> {
  const row = await store.db
    .selectFrom("users")
    .select((query) => query.fn.countAll<number>().as("rows"))
    .executeTakeFirstOrThrow();
  return { rows: Number(row.rows) };
}
