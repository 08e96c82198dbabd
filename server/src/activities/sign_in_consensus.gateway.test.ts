/** A sign-in that a policy makes wait, though its body names the parent: it is voted on, and runs, where it waits. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Activity, createGatewayRig } from "../../test/gateway_rig.ts";
import { dialects } from "../../test/open_test_store.ts";
import { newKey, query } from "../../test/session_rig.ts";

const twoForSessions = {
  policyName: "Two for a session",
  effect: "EFFECT_ALLOW",
  condition: "activity.resource == 'AUTH'",
  consensus: "approvers.count() >= 2",
  notes: "",
};

for (const dialect of dialects) {
  for (const way of ["a vote", "a second stamp over the body"] as const) {
    test(`it runs with ${way}, and its bearer value is its proposer's alone (${dialect})`, async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const child = await rig.newSubOrganization(2, ["ann", "bob", "cleo"]);
      const [ann, bob] = child.people;
      assert.ok(ann && bob);
      const within = { organizationId: child.organizationId };
      const policy = await rig.submit(ann, "create_policy", twoForSessions, within);
      await rig.submit(bob, "approve_activity", { fingerprint: policy.fingerprint }, within);

      const body = rig.body("create_read_only_session", {});
      const waiting = await rig.send(ann, "create_read_only_session", body);
      assert.equal(waiting.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
      assert.equal(waiting.organizationId, child.organizationId);
      const approve = () =>
        way === "a vote"
          ? rig.submit(bob, "approve_activity", { fingerprint: waiting.fingerprint }, within)
          : rig.send(bob, "create_read_only_session", body);
      const done = await approve();
      assert.equal(done.status, "ACTIVITY_STATUS_COMPLETED");
      const resultOf = ({ result }: Activity) =>
        result.createReadOnlySessionResult as { session: string; userId: string; organizationId: string };
      assert.equal(resultOf(done).session, "");
      assert.deepEqual([resultOf(done).userId, resultOf(done).organizationId], [ann.userId, child.organizationId]);
      const asked = { organizationId: rig.organizationId, activityId: waiting.id };
      const seenBy = async (person: typeof ann) => {
        const { activity }: { activity: Activity } = await query(rig, "get_activity", asked, person);
        return resultOf(activity).session;
      };
      assert.equal(await seenBy(bob), "");
      assert.match(await seenBy(ann), /^[\w-]{140}$/);

      // A login waits and runs in the same way, and speaks for its proposer.
      const { publicKey } = newKey();
      const later = await rig.submit(ann, "stamp_login", { publicKey });
      const login = await rig.submit(bob, "approve_activity", { fingerprint: later.fingerprint }, within);
      assert.equal(login.status, "ACTIVITY_STATUS_COMPLETED");
      const { apiKeys } = await query<{ apiKeys: { credential: { publicKey: string } }[] }>(
        rig,
        "get_api_keys",
        { ...within, userId: ann.userId },
        bob,
      );
      assert.ok(apiKeys.some(({ credential }) => credential.publicKey === publicKey));
    });
  }
}
