/** Policies and interfaces of contracts from HTTP to the tables and back, on both databases. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { testCaller } from "../../test/caller.ts";
import { type ActivityPath, createGatewayRig, type GatewayRig, Refused } from "../../test/gateway_rig.ts";
import { dialects } from "../../test/open_test_store.ts";
import type { QueryDefinition } from "../endpoints/define_query.ts";
import type { Static, TObject } from "../fields/schema.ts";
import { getPolicy } from "../queries/get_policy.ts";
import { getPolicyEvaluations } from "../queries/get_policy_evaluations.ts";
import { getSmartContractInterface } from "../queries/get_smart_contract_interface.ts";
import { listPolicies } from "../queries/list_policies.ts";
import { listSmartContractInterfaces } from "../queries/list_smart_contract_interfaces.ts";
import { decodePage, maxPagesLength } from "../state/pages.ts";
import { findPage } from "../store/organizations.ts";
import { dialectOf } from "../views/dialect.ts";

const caller = testCaller();

async function ask<P extends TObject, R extends TObject>(
  rig: GatewayRig,
  query: QueryDefinition<P, R>,
  request: object = {},
  organizationId = rig.organizationId,
): Promise<Static<R>> {
  return await query.run(rig.store, caller, { organizationId, ...request } as Static<P>, dialectOf(undefined));
}

/** The result of an activity by the root user. */
async function done<T extends object>(rig: GatewayRig, path: ActivityPath, parameters: object): Promise<T> {
  const { status, result } = await rig.submit(rig.root, path, parameters);
  assert.equal(status, "ACTIVITY_STATUS_COMPLETED");
  return Object.values(result)[0] as T;
}

function onBothDatabases(name: string, run: (rig: GatewayRig) => Promise<void>): void {
  for (const dialect of dialects) {
    test(`${dialect}: ${name}`, async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig !== undefined) await run(rig);
    });
  }
}

type Made = { policyIds: string[] };
type MadeInterface = { smartContractInterfaceId: string };

const written = {
  policyName: "Treasury",
  effect: "EFFECT_ALLOW",
  condition: ` activity.resource == "ä"\n`,
  consensus: "approvers.count() > 1",
  time: "time.now > Timestamp('2026-01-01T00:00:00Z')",
  notes: "Two\nlines.",
};

onBothDatabases("policies are written, changed and deleted, and read as they were written", async (rig) => {
  const { policyId } = await done<{ policyId: string }>(rig, "create_policy", written);
  const two = {
    policies: [
      { policyName: "Second", effect: "EFFECT_DENY" },
      { ...written, policyName: "Third" },
    ],
  };
  const { policyIds } = await done<Made>(rig, "create_policies", two);
  const { policy } = await ask(rig, getPolicy, { policyId });
  const { createdAt, updatedAt, ...shown } = policy;
  assert.deepEqual(shown, { policyId, ...written });
  assert.deepEqual(createdAt, updatedAt);
  const all = async () => (await ask(rig, listPolicies)).policies;
  assert.deepEqual((await all()).map((each) => each.policyId).sort(), [policyId, ...policyIds].sort());

  rig.signer.clock.nowMs += 1_000;
  await done(rig, "update_policy", { policyId, policyCondition: "", policyName: "Renamed" });
  const { policy: changed } = await ask(rig, getPolicy, { policyId });
  const { updatedAt: later, ...rest } = changed;
  assert.deepEqual(rest, { policyId, ...written, policyName: "Renamed", condition: "", createdAt });
  assert.notDeepEqual(later, updatedAt);

  await done(rig, "delete_policies", { policyIds });
  assert.deepEqual(
    (await all()).map((each) => each.policyId),
    [policyId],
  );
  await done(rig, "delete_policy", { policyId });
  assert.deepEqual(await all(), []);
  await assert.rejects(ask(rig, getPolicy, { policyId }), { code: "not_found" });
});

onBothDatabases("the page that the signer decides on and the table that readers see hold the same", async (rig) => {
  const policies = Array.from({ length: 20 }, (_, index) => ({ ...written, policyName: `Policy ${index}` }));
  const { policyIds } = await done<Made>(rig, "create_policies", { policies });
  await done(rig, "delete_policies", { policyIds: policyIds.slice(5, 10) });
  await done(rig, "update_policy", { policyId: policyIds[0], policyEffect: "EFFECT_DENY" });
  const bytes = await findPage(rig.store, rig.organizationId, "policies");
  assert.ok(bytes);
  const page = decodePage("policies", bytes);
  const { policies: listed } = await ask(rig, listPolicies);
  const times = (ms: number) => String(Math.floor(ms / 1000));
  assert.deepEqual(
    [...page.values()]
      .map(({ createdAtMs, updatedAtMs, ...policy }) => ({ ...policy, at: [times(createdAtMs), times(updatedAtMs)] }))
      .sort((a, b) => (a.policyId < b.policyId ? -1 : 1)),
    listed
      .map(({ createdAt, updatedAt, ...policy }) => ({ ...policy, at: [createdAt.seconds, updatedAt.seconds] }))
      .sort((a, b) => (a.policyId < b.policyId ? -1 : 1)),
  );
  assert.deepEqual(
    [...page.keys()],
    policyIds.filter((id) => !policyIds.slice(5, 10).includes(id)),
  );
});

onBothDatabases("a policy that is none leaves a failed activity and nothing else", async (rig) => {
  const policies = [written, { ...written, policyName: "Bad", condition: "eth.tx.nowhere == 1" }];
  await assert.rejects(done(rig, "create_policies", { policies }), (error) => {
    assert.ok(error instanceof Refused);
    assert.equal(error.failure.code, 3);
    assert.match(error.failure.message, /^invalid policy condition: /);
    return true;
  });
  assert.deepEqual(await ask(rig, listPolicies), { policies: [] });
  assert.equal(await findPage(rig.store, rig.organizationId, "policies"), undefined);
});

onBothDatabases("policies of selectors are refused by their types, to members", async (rig) => {
  for (const type of ["ACTIVITY_TYPE_CREATE_POLICY", "ACTIVITY_TYPE_CREATE_POLICY_V2"]) {
    const body = JSON.parse(Buffer.from(rig.body("create_policy", { selectors: [] })).toString());
    await assert.rejects(rig.send(rig.root, "create_policy", Buffer.from(JSON.stringify({ ...body, type }))), {
      code: "invalid_argument",
      message:
        `Invalid activity type: \`${type}\` is no longer supported: ` +
        "policies are written as expressions; use `ACTIVITY_TYPE_CREATE_POLICY_V3`",
    });
  }
});

onBothDatabases("policies fill the state up to its bound, and what goes beyond is refused", async (rig) => {
  // Notes are never compiled, so that only the state bounds them.
  const notes = "é".repeat(4_000);
  const many = (from: number) =>
    Array.from({ length: 50 }, (_, index) => ({ policyName: `Policy ${from + index}`, effect: "EFFECT_ALLOW", notes }));
  let count = 0;
  const fill = async () => {
    for (; count < 1_000; count += 50) await done(rig, "create_policies", { policies: many(count) });
  };
  await assert.rejects(fill(), {
    message: `organization has reached its limit of ${maxPagesLength} bytes of users, credentials, tags and policies; delete some first`,
  });
  assert.ok(count >= 200, `${count} policies fit`);
  const { policies } = await ask(rig, listPolicies);
  assert.equal(policies.length, count);
  // It can still be decided on, and made shorter.
  await done(rig, "delete_policies", { policyIds: policies.slice(1).map(({ policyId }) => policyId) });
  assert.equal((await ask(rig, listPolicies)).policies.length, 1);
});

onBothDatabases(
  "expressions have a bound of their own: what would pass it is refused, and what shrinks never is",
  async (rig) => {
    const longest = `'${"x".repeat(4_000)}' == ''`;
    const long = (name: string) => ({
      policyName: name,
      effect: "EFFECT_ALLOW",
      condition: longest,
      consensus: longest,
    });
    const many = (from: number) => Array.from({ length: 60 }, (_, index) => long(`Policy ${from + index}`));
    const { policyIds } = await done<Made>(rig, "create_policies", { policies: many(0) });
    const full = { message: /^organization has reached its limit of 524288 bytes of policy expressions; / };
    await assert.rejects(done(rig, "create_policies", { policies: many(60) }), full);
    await done(rig, "create_policies", { policies: many(60).slice(0, 5) });
    await assert.rejects(done(rig, "create_policy", long("One more")), full);
    const [policyId] = policyIds;
    await assert.rejects(done(rig, "update_policy", { policyId, time: longest }), full);
    await done(rig, "update_policy", { policyId, policyConsensus: "", time: longest });
    await done(rig, "create_policy", { policyName: "Without expressions", effect: "EFFECT_DENY" });
  },
);

const abi = JSON.stringify([{ type: "function", name: "pause", inputs: [], outputs: [] }], null, 1);
const usdc = {
  smartContractAddress: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
  smartContractInterface: abi,
  type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
  label: "USDC",
};

onBothDatabases("an interface is kept with its text, and gone when it is deleted", async (rig) => {
  const { smartContractInterfaceId } = await done<MadeInterface>(rig, "create_smart_contract_interface", usdc);
  const { smartContractInterface } = await ask(rig, getSmartContractInterface, { smartContractInterfaceId });
  const { createdAt, updatedAt, ...shown } = smartContractInterface;
  assert.deepEqual(shown, {
    organizationId: rig.organizationId,
    smartContractInterfaceId,
    smartContractAddress: usdc.smartContractAddress.toLowerCase(),
    smartContractInterface: abi,
    type: "ETHEREUM",
    label: "USDC",
    notes: "",
  });
  assert.deepEqual(createdAt, updatedAt);
  assert.deepEqual(await ask(rig, listSmartContractInterfaces), { smartContractInterfaces: [smartContractInterface] });
  await assert.rejects(done(rig, "create_smart_contract_interface", { ...usdc, label: "Again" }), {
    message: `smart contract interface ${smartContractInterfaceId} exists for \`${usdc.smartContractAddress.toLowerCase()}\`; delete it first`,
  });
  const { organizationId: elsewhere } = await rig.newSubOrganization(1, ["Ann"]);
  const below = ask(rig, getSmartContractInterface, { smartContractInterfaceId }, elsewhere);
  await assert.rejects(below, { code: "not_found" });

  await done(rig, "delete_smart_contract_interface", { smartContractInterfaceId });
  assert.deepEqual(await ask(rig, listSmartContractInterfaces), { smartContractInterfaces: [] });
  await done(rig, "create_smart_contract_interface", usdc);
});

onBothDatabases("the longest text fits everywhere", async (rig) => {
  const length = 400 * 1024 - 2;
  const longest = `[${" ".repeat(length)}]`;
  const { smartContractInterfaceId } = await done<MadeInterface>(rig, "create_smart_contract_interface", {
    ...usdc,
    smartContractInterface: longest,
  });
  const { smartContractInterface: shown } = await ask(rig, getSmartContractInterface, { smartContractInterfaceId });
  assert.equal(shown.smartContractInterface, longest);
});

onBothDatabases("the root quorum's votes have entries with nothing in them, the oldest first", async (rig) => {
  const { organizationId, people } = await rig.newSubOrganization(2, ["Ann", "Bob"]);
  const [ann, bob] = people;
  assert.ok(ann && bob);
  const body = rig.body("create_user_tag", { userTagName: "Tag", userIds: [] }, { organizationId });
  const { id: activityId } = await rig.send(ann, "create_user_tag", body);
  const { votes } = await rig.send(bob, "create_user_tag", body);
  const { policyEvaluations } = await ask(rig, getPolicyEvaluations, { activityId }, organizationId);
  assert.deepEqual(
    policyEvaluations,
    votes.map(({ id, createdAt }) => ({
      ...{ id, voteId: id, activityId, organizationId, createdAt },
      ...{ policyEvaluations: [], details: [] },
    })),
  );
  const elsewhere = ask(rig, getPolicyEvaluations, { activityId });
  await assert.rejects(elsewhere, {
    code: "not_found",
    message: `unable to find activity ${activityId} in organization ${rig.organizationId}`,
  });
  await assert.rejects(ask(rig, getPolicyEvaluations, { activityId: randomUUID() }), { code: "not_found" });
});
