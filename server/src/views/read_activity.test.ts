import assert from "node:assert/strict";
import { onBothDatabases } from "../../test/policy_rig.ts";
import { findActivity } from "../store/activities.ts";
import { readActivity } from "./read_activity.ts";

onBothDatabases(
  "an activity that waits is shown as of one moment, however old the row is that was found",
  async (rig) => {
    const { organizationId, people } = await rig.newSubOrganization(3, ["ann", "bob", "cleo"]);
    const [ann, bob, cleo] = people;
    assert.ok(ann && bob && cleo);
    const read = async (row: Awaited<ReturnType<typeof find>>) => {
      const { row: seen, votes, rights } = await readActivity(rig.store, organizationId, row, bob.userId);
      return [seen.status.slice("ACTIVITY_STATUS_".length), seen.updatedAtMs, votes.length, rights.canApprove];
    };
    const find = async () => {
      const row = await findActivity(rig.store, organizationId, id);
      assert.ok(row);
      return row;
    };
    const { id, fingerprint } = await rig.submit(
      ann,
      "create_user_tag",
      { userTagName: "T", userIds: [] },
      { organizationId },
    );
    const proposed = await find();
    rig.signer.clock.nowMs += 1_000;
    await rig.submit(bob, "approve_activity", { fingerprint }, { organizationId });
    const voted = await find();
    assert.equal(voted.updatedAtMs, proposed.updatedAtMs + 1_000);
    assert.deepEqual(await read(proposed), ["CONSENSUS_NEEDED", voted.updatedAtMs, 2, false]);
    rig.signer.clock.nowMs += 1_000;
    await rig.submit(cleo, "approve_activity", { fingerprint }, { organizationId });
    for (const row of [proposed, voted, await find()])
      assert.deepEqual(await read(row), ["COMPLETED", voted.updatedAtMs + 1_000, 3, false]);
  },
);
