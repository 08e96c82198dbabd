import assert from "node:assert/strict";
import { test } from "node:test";
import { createGatewayRig } from "../../../test/gateway_rig.ts";
import { createAdmission } from "../bounds/admission.ts";
import { admissionLimits } from "../bounds/memory_bounds.ts";
import { noOrders } from "../link/courier_orders.ts";
import { createOrganizations } from "./organization_states.ts";

test("what is owed for reading rests on the place with the signer, by the most that any of its readings owes", async (t) => {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const { store, link, issuers, organizationId } = rig;
  const admission = createAdmission(admissionLimits);
  const [rests, owed]: [number[], number[]] = [[], []];
  const { leave } = admission;
  admission.leave = (id, weight, restMs = 0) => {
    assert.equal(id, organizationId);
    rests.push(restMs);
    leave(id, weight);
  };
  const readers: string[] = [];
  const readForSubmit = async (id: string, reading: () => Promise<void> | void) => {
    await reading();
    readers.push(id);
    owed.push([40, 70, 10][owed.length] ?? 0);
    return owed.at(-1) ?? 0;
  };
  rig.dependencies.organizations = createOrganizations(
    ...([store, link, assert.fail, admission, issuers, noOrders, readForSubmit] as const),
  );
  await rig.submit(rig.root, "create_user_tag", { userTagName: "first", userIds: [] });
  assert.deepEqual([rests, readers], [[0], []], "little is not measured");
  const privateKeys = Array.from({ length: 17 }, (_, n) => ({
    privateKeyName: `key ${n}`,
    curve: "CURVE_ED25519",
    addressFormats: [],
    privateKeyTags: [],
  }));
  await rig.submit(rig.root, "create_private_keys", { privateKeys });
  assert.deepEqual(rests, [0, Math.max(...owed)]);
  assert.deepEqual(new Set(readers), new Set([organizationId]));
});
