/** Values that only read, through gateway and signer on both databases. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { makeReadOnlySession } from "@keystead/core/crypto/read_only_session.ts";
import { everyValue } from "../../test/every_value.ts";
import { type Activity, createGatewayRig, type GatewayRig } from "../../test/gateway_rig.ts";
import { dialects } from "../../test/open_test_store.ts";
import { query } from "../../test/session_rig.ts";
import { openKeyring } from "../signer/secrets/keyring.ts";
import { findVersion } from "../store/organizations.ts";

type Result = { organizationId: string; userId: string; session: string; sessionExpiry: string };
type Me = { organizationId: string; userId: string };

const resultOf = ({ result }: Pick<Activity, "result">) => result.createReadOnlySessionResult as Result;
const evidence = (value: string): SentEvidence => ({ kind: "readOnlySession", value });
const whoami = (rig: GatewayRig, organizationId: string, session: string) =>
  query<Me>(rig, "whoami", { organizationId }, evidence(session));

for (const dialect of dialects) {
  describe(`read-only sessions on ${dialect}`, () => {
    test("one reads as its user, here and in sub-organizations, and moves no state", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const bob = await rig.newPerson("bob");
      const child = await rig.newSubOrganization(1, ["ann"]);
      const before = await findVersion(rig.store, rig.organizationId);
      const { session, sessionExpiry, ...owner } = resultOf(await rig.submit(bob, "create_read_only_session", {}));
      assert.equal(await findVersion(rig.store, rig.organizationId), before);
      const name = { organizationName: "First", username: "bob" };
      assert.deepEqual(owner, { ...name, organizationId: rig.organizationId, userId: bob.userId });
      const life = Number(sessionExpiry) * 1000 - rig.signer.clock.nowMs;
      assert.ok(life <= 3_600_000 && life > 3_590_000, `${life} ms`);
      for (const organizationId of [rig.organizationId, child.organizationId]) {
        const { userId, organizationId: own } = await whoami(rig, organizationId, session);
        assert.deepEqual([userId, own], [bob.userId, rig.organizationId]);
      }
      const { users } = await query<{ users: unknown[] }>(
        rig,
        "list_users",
        { organizationId: child.organizationId },
        evidence(session),
      );
      assert.equal(users.length, 1);
    });

    test("a child's reads its own organization, named or by the parent's id, and no other", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const [own, other] = [await rig.newSubOrganization(1, ["ann"]), await rig.newSubOrganization(1, ["eve"])];
      const [ann] = own.people;
      assert.ok(ann);
      const { session, organizationId } = resultOf(await rig.submit(ann, "create_read_only_session", {}));
      assert.equal(organizationId, own.organizationId);
      for (const named of [own.organizationId, rig.organizationId]) {
        assert.equal((await whoami(rig, named, session)).organizationId, own.organizationId);
      }
      const unknown = { errorCode: "CREDENTIAL_NOT_FOUND" };
      await assert.rejects(whoami(rig, other.organizationId, session), unknown);
      const listing = { organizationId: rig.organizationId };
      await assert.rejects(query(rig, "list_users", listing, evidence(session)), unknown);
    });

    test("it is over with its time, its user and its organization", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const { organizationId } = rig;
      const bob = await rig.newPerson("bob");
      const { session } = resultOf(await rig.submit(bob, "create_read_only_session", {}));
      const { notarizer } = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring);
      const expiresAtSeconds = Math.floor(Date.now() / 1000) - 1;
      const over = makeReadOnlySession(notarizer, { organizationId, userId: bob.userId, expiresAtSeconds });
      await assert.rejects(whoami(rig, organizationId, over), { message: "expired read-only session" });
      const forged = makeReadOnlySession(
        { sign: (message) => new Uint8Array(64).fill(message.length) },
        { organizationId, userId: bob.userId, expiresAtSeconds: 9_999_999_999 },
      );
      await assert.rejects(whoami(rig, organizationId, forged), { errorCode: "SIGNATURE_INVALID" });
      await assert.rejects(whoami(rig, organizationId, "x"), {
        message: "malformed activity stamp: not a read-only session",
      });
      await whoami(rig, organizationId, session);
      await rig.submit(rig.root, "delete_users", { userIds: [bob.userId] });
      await assert.rejects(whoami(rig, organizationId, session), { errorCode: "CREDENTIAL_NOT_FOUND" });
      const child = await rig.newSubOrganization(1, ["ann"]);
      const [ann] = child.people;
      assert.ok(ann);
      const within = { organizationId: child.organizationId };
      const theirs = resultOf(await rig.submit(ann, "create_read_only_session", {}, within));
      await rig.submit(ann, "delete_sub_organization", { deleteWithoutExport: true }, within);
      await assert.rejects(whoami(rig, child.organizationId, theirs.session), { code: "not_found" });
    });

    test("no reader is shown the stamp that would bring it, before it is over", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const { organizationId, root } = rig;
      const bob = await rig.newPerson("bob");
      const [live, over] = [
        await rig.submit(bob, "create_read_only_session", {}),
        await rig.submit(bob, "create_read_only_session", {}, { agoMs: 3_598_500 }),
      ];
      assert.match(live.votes[0]?.signature ?? "", /^30/, "who sent it has it");
      await setTimeout(Math.max(0, Number(resultOf(over).sessionExpiry) * 1000 - Date.now()) + 10);
      const shownBy = async (by: Parameters<typeof query>[3], { id }: Activity) => {
        const asked = { organizationId, activityId: id };
        const { activity } = await query<{ activity: Activity }>(rig, "get_activity", asked, by);
        const listed = await query<{ activities: Activity[] }>(rig, "list_activities", { organizationId }, by);
        return [activity, listed.activities.find((each) => each.id === id)].map((each) => each?.votes[0]?.signature);
      };
      assert.deepEqual(await shownBy(root, live), ["", ""]);
      assert.deepEqual(await shownBy(evidence(resultOf(live).session), live), ["", ""]);
      const { signature } = live.votes[0] ?? {};
      assert.deepEqual(await shownBy(bob, live), [signature, ""], "with the value its stamp");
      const stamp = over.votes[0]?.signature;
      assert.deepEqual(await shownBy(root, over), [stamp, stamp]);
    });

    test("its own user sees it while it lives, nobody else does, and no row holds it", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const { organizationId, root } = rig;
      const bob = await rig.newPerson("bob");
      const body = rig.body("create_read_only_session", {});
      const made = await rig.send(bob, "create_read_only_session", body);
      const { session } = resultOf(made);
      const asked = { organizationId, activityId: made.id };
      const shown = async (by: Parameters<typeof query>[3]) => {
        const { activity }: { activity: Activity } = await query(rig, "get_activity", asked, by);
        return resultOf(activity);
      };
      assert.deepEqual(await shown(bob), resultOf(made));
      assert.deepEqual(await shown(root), { ...resultOf(made), session: "" });
      assert.equal((await shown(evidence(session))).session, "", "one must not lead to another");
      assert.deepEqual(resultOf(await rig.send(bob, "create_read_only_session", body)), resultOf(made));
      await rig.dependencies.committer.settle();
      const part = session.slice(60, 120);
      for (const value of await everyValue(rig.store)) assert.ok(!value.includes(part), "a row holds it");
      const listed = await query<{ activities: Activity[] }>(rig, "list_activities", { organizationId }, bob);
      const own = listed.activities.find(({ id }) => id === made.id);
      assert.ok(own);
      assert.equal(resultOf(own).session, "");
      // An hour after its body there is nothing left to show.
      const lateBody = rig.body("create_read_only_session", {}, { agoMs: 3_599_000 });
      const late = await rig.send(bob, "create_read_only_session", lateBody);
      const endsAtMs = Number(resultOf(late).sessionExpiry) * 1000;
      assert.ok(endsAtMs <= Date.now() + 1_000);
      await setTimeout(Math.max(0, endsAtMs - Date.now()) + 10);
      const { activity } = await query<{ activity: Activity }>(
        rig,
        "get_activity",
        { organizationId, activityId: late.id },
        bob,
      );
      assert.equal(resultOf(activity).session, "");
      assert.equal(resultOf(await rig.send(bob, "create_read_only_session", lateBody)).session, "");
    });
  });
}
