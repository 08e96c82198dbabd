/** A log of everything that can happen, executed anew from what an export discloses; and changed logs, which are named. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { decodeLeaf, encodeLeaf, type Leaf, type NewLeaf } from "@keystead/core/log/leaf.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { createGatewayRig } from "../../test/gateway_rig.ts";
import { exportOf, replayWith } from "../../test/replay_rig.ts";
import { tellStory } from "../../test/replay_story.ts";
import { activities } from "../generated/activities.ts";
import type { Exported, ExportedLeaf } from "./exported.ts";

/** Acts of these types are told of in the story. */
const told = [
  ...["create_wallet", "sign_raw_payload", "create_private_keys", "update_root_quorum", "create_policy"],
  ...["init_import_wallet", "import_wallet", "import_private_key", "export_wallet", "init_otp", "verify_otp"],
  ...["otp_login", "stamp_login", "create_oauth_providers", "oauth_login", "create_sub_organization"],
  ...["create_read_write_session", "create_read_only_session", "delete_wallets", "delete_sub_organization"],
  ...["enable_auth_proxy", "update_wallet", "create_users", "create_user_tag"],
] as const satisfies (keyof typeof activities)[];

test("an export that is executed anew", { timeout: testTimeoutMs }, async (t) => {
  const rig = (await createGatewayRig(t, "sqlite")) ?? assert.fail();
  const { home } = await tellStory(rig);
  const homeId = home.organizationId;
  const exported = await exportOf(rig);
  const report = await replayWith(rig, exported);

  const leavesOf = (id: string) => exported.organizations.get(id)?.leaves ?? assert.fail();

  /** The export with other leaves of one organization. */
  function changed(id: string, change: (leaves: readonly ExportedLeaf[]) => ExportedLeaf[]): Exported {
    const organizations = new Map(exported.organizations);
    organizations.set(id, { leaves: change(leavesOf(id)) });
    return { organizations };
  }

  function edited(id: string, fits: (leaf: Leaf) => boolean, edit: (leaf: NewLeaf) => Partial<NewLeaf>): Exported {
    return changed(id, (leaves) => {
      const at = leaves.findIndex(({ leaf }) => fits(decodeLeaf(leaf)));
      assert.ok(at >= 0, "there is such a leaf");
      return leaves.map((each, index) => {
        if (index !== at) return each;
        const leaf = decodeLeaf(each.leaf) as NewLeaf;
        return { ...each, leaf: encodeLeaf({ ...leaf, ...edit(leaf) }) };
      });
    });
  }

  async function firstOf(altered: Exported): Promise<string> {
    const { differences } = await replayWith(rig, altered);
    return differences[0]?.what ?? "nothing differs";
  }

  const isTag = ({ event, activityType }: Leaf) => event === "COMPLETED" && activityType.includes("USER_TAG");

  await t.test("comes to the same decisions and states, of every organization, with the first", () => {
    assert.deepEqual(
      { differences: report.differences, unchecked: report.unchecked },
      { differences: [], unchecked: [] },
    );
    assert.equal(report.organizations, exported.organizations.size);
    const types = new Set(
      [...exported.organizations.values()].flatMap(({ leaves }) =>
        leaves.map(({ leaf }) => decodeLeaf(leaf).activityType),
      ),
    );
    for (const path of told) assert.ok(types.has(activities[path].type), `${path} is in the story`);
  });

  await t.test("needs neither the root key nor the memory: the same leaves alone suffice", () => {
    for (const { leaves } of exported.organizations.values()) {
      for (const { leaf, ...others } of leaves) {
        assert.deepEqual(Object.keys(others), ["bodies"]);
        decodeLeaf(leaf);
      }
    }
  });

  await t.test("names a leaf with other grounds, another event, another outcome or another header", async () => {
    assert.match(
      await firstOf(edited(homeId, isTag, () => ({ grounds: "POLICY" }))),
      /USER_TAG .*: grounds were POLICY, and now are ROOT_QUORUM$/,
    );
    const failed = ({ event }: Leaf) => event === "FAILED";
    assert.match(
      await firstOf(edited(homeId, failed, () => ({ event: "REJECTED" }))),
      /: event was REJECTED, and now is FAILED$/,
    );
    const other = await firstOf(edited(homeId, isTag, () => ({ outcome: new Uint8Array(32) })));
    assert.match(other, /USER_TAG .*: leads to another state$/);
    const header = edited(homeId, isTag, ({ header: marked }) => {
      const bytes = Uint8Array.from(marked ?? assert.fail());
      const at = bytes.length - 33;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      return { header: bytes };
    });
    assert.match(await firstOf(header), /USER_TAG .*: leads to another state$/);
  });

  await t.test("names what a policy let happen, where it did not", async () => {
    const denied = ({ event, activityType }: Leaf) => event === "REJECTED" && activityType.includes("CREATE_WALLET");
    const allowed = edited(rig.organizationId, denied, () => ({ event: "COMPLETED", grounds: "POLICY" }));
    assert.match(await firstOf(allowed), /CREATE_WALLET .*: event was COMPLETED, and now is REJECTED$/);
    const byPolicy = ({ grounds }: Leaf) => grounds === "POLICY";
    assert.match(
      await firstOf(edited(rig.organizationId, byPolicy, () => ({ grounds: "ROOT_QUORUM" }))),
      /: grounds were ROOT_QUORUM, and now are POLICY$/,
    );
  });

  await t.test("names what follows a vote that was left out", async () => {
    const votes = leavesOf(homeId).map(({ leaf }) => decodeLeaf(leaf));
    const submitted = votes.findIndex(({ event }) => event === "SUBMITTED");
    assert.ok(submitted >= 0);
    const without = changed(homeId, (leaves) => leaves.filter((_, index) => index !== submitted));
    assert.match(await firstOf(without), /: was decided on a state that no other leaf leads to/);
  });

  await t.test("names a refusal of the memory that is said to have been none", async () => {
    const refused = ({ event, activityType }: Leaf) => event === "FAILED" && activityType.includes("INIT_OTP");
    const silent = edited(rig.organizationId, refused, () => ({ event: "COMPLETED", grounds: "ROOT_QUORUM" }));
    assert.match(await firstOf(silent), /INIT_OTP.*: event was COMPLETED, and now is FAILED$/);
  });

  await t.test(
    "a sub-organization alone is executed from its birth, and what only its parent's log shows is unchecked",
    async () => {
      const { differences, unchecked } = await replayWith(rig, await exportOf(rig, [homeId]));
      assert.deepEqual(differences, []);
      assert.ok(
        unchecked.length > 0 && unchecked.every((line) => /needs the parent's log/.test(line)),
        unchecked.join("\n"),
      );
    },
  );

  await t.test("a body that was erased is undisclosed, and nothing after it counts as right", async () => {
    const bodyOf = (leaves: readonly ExportedLeaf[]) => leaves.findIndex(({ leaf }) => isTag(decodeLeaf(leaf)));
    const erased = changed(homeId, (leaves) =>
      leaves.map((each, index) => (index === bodyOf(leaves) ? { ...each, bodies: [] } : each)),
    );
    const { differences, unchecked } = await replayWith(rig, erased);
    assert.deepEqual(differences, []);
    assert.match(unchecked[0] ?? "", /USER_TAG .*: undisclosed: its body$/);
    assert.match(unchecked[1] ?? "", /: \d+ acts after that$/);
  });

  await t.test("another leaf with the number of one that was executed is executed, too", async () => {
    const twin = changed(homeId, (leaves) => {
      const one = leaves.find(({ leaf }) => isTag(decodeLeaf(leaf))) ?? assert.fail();
      const leaf = decodeLeaf(one.leaf) as NewLeaf;
      return [...leaves, { ...one, leaf: encodeLeaf({ ...leaf, grounds: "POLICY", header: undefined }) }];
    });
    assert.match(await firstOf(twin), /USER_TAG .*: grounds were POLICY, and now are ROOT_QUORUM$/);
  });

  await t.test("a leaf that stands in two logs is one act", async () => {
    const twice = await replayWith(
      rig,
      changed(homeId, (leaves) => [...leaves, ...leaves]),
    );
    assert.deepEqual([twice.acts, twice.differences], [report.acts, []]);
    assert.equal(toHex(leavesOf(homeId)[0]?.leaf.subarray(0, 1) ?? new Uint8Array()), "02");
  });
});
