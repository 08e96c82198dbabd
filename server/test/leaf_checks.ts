/** Holds every leaf of a rig against what it names, as `keystead log verify` does. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { pickBodies } from "@keystead/core/log/export/named_bodies.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { checkLeaf } from "@keystead/core/log/verify/check_leaf.ts";
import { nodeVerifierCurves } from "../src/curves/node_verifier_curves.ts";
import type { GatewayRig } from "./gateway_rig.ts";
import { onBothDatabases } from "./policy_rig.ts";
import { exportOf } from "./replay_rig.ts";

/** Fails for a leaf that is called bad, or whose token could not be checked. */
async function assertLeavesHold(rig: GatewayRig): Promise<void> {
  await rig.dependencies.committer.settle();
  for (const { leaves: exported } of (await exportOf(rig)).organizations.values()) {
    for (const { leaf: bytes, bodies } of exported) {
      const leaf = decodeLeaf(bytes);
      const { bad, unchecked } = checkLeaf(nodeVerifierCurves, bytes, pickBodies(leaf, bodies));
      const untold = unchecked.filter((what) => !what.startsWith("undisclosed: ") || what.endsWith("token"));
      assert.deepEqual(
        { type: leaf.activityType, bad, untold },
        { type: leaf.activityType, bad: undefined, untold: [] },
      );
    }
  }
}

/** The same guarantee on each database; and afterwards every leaf holds. */
export function onBothDatabasesWithLog(name: string, run: (rig: GatewayRig, t: TestContext) => Promise<void>): void {
  onBothDatabases(name, async (rig, t) => {
    await run(rig, t);
    await assertLeavesHold(rig);
  });
}
