/** What the simulator says would become of activities is what becomes of them. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { token, tokenInterface, transferOf } from "../../test/contract_calls.ts";
import { type ActivityPath, type GatewayRig, type Person, Refused } from "../../test/gateway_rig.ts";
import { exportClient } from "../../test/imports.ts";
import {
  addAccount,
  addPolicy,
  all,
  ask,
  type Draft,
  done,
  hexPayload,
  onBothDatabases,
  seenBy,
  type Where,
} from "../../test/policy_rig.ts";
import { activities } from "../generated/activities.ts";
import { listActivities } from "./list_activities.ts";
import { listPolicies } from "./list_policies.ts";
import { simulateActivity } from "./simulate_activity.ts";

type Asked = { path: ActivityPath; parameters: object };

async function simulate(
  rig: GatewayRig,
  caller: Person,
  { path, parameters }: Asked,
  more: object = {},
  where: Where = {},
) {
  const activity = { type: activities[path].type, parameters };
  return ask(rig, caller, simulateActivity, { activity, ...more }, where);
}

const decisions: Readonly<Record<string, string>> = {
  ACTIVITY_STATUS_COMPLETED: "DECISION_ALLOW",
  ACTIVITY_STATUS_CONSENSUS_NEEDED: "DECISION_CONSENSUS_NEEDED",
  ACTIVITY_STATUS_REJECTED: "DECISION_DENY",
};

/** What really becomes of it: the decision, and what a refusal says or who could approve what waits. */
async function really(
  rig: GatewayRig,
  person: Person,
  { path, parameters }: Asked,
  people: readonly Person[],
  where: Where,
) {
  const answer = await rig.submit(person, path, parameters, where).catch((error: unknown) => error);
  if (answer instanceof Refused) {
    const [detail] = answer.failure.details as readonly [Detail];
    const { message, policyEvaluations, explanations = [] } = detail;
    return { decision: "DECISION_DENY", message, policyEvaluations, explanations, eligible: [] };
  }
  if (answer instanceof Error) throw answer;
  const { id, status } = answer as { id: string; status: string };
  const eligible: string[] = [];
  for (const each of people) {
    if ((await seenBy(rig, each, id, where)).canApprove) eligible.push(each.userId);
  }
  return { decision: decisions[status], eligible: eligible.toSorted() };
}

type Detail = { message: string; policyEvaluations: object[]; explanations?: { policyId: string }[] };

/** Simulated and done: that both say the same. */
async function assertSame(rig: GatewayRig, person: Person, asked: Asked, people: readonly Person[], where: Where = {}) {
  const told = await simulate(rig, person, asked, { timeMs: String(rig.signer.clock.nowMs) }, where);
  const real = await really(rig, person, asked, people, where);
  assert.equal(told.decision, real.decision);
  assert.deepEqual(told.eligibleUserIds.toSorted(), real.eligible);
  if (real.decision !== "DECISION_DENY") return told.decision;
  assert.equal(told.message, real.message);
  const outcomes = told.policyEvaluations.map(({ policyId, outcome }) => ({ policyId, outcome }));
  assert.deepEqual(outcomes, real.policyEvaluations);
  // A refusal explains the policies that decided, a simulation all of them.
  const shown = new Set(real.explanations?.map(({ policyId }) => policyId));
  assert.deepEqual(
    told.explanations.filter(({ policyId }) => shown.has(policyId)),
    real.explanations,
  );
  return told.decision;
}

const [allow, deny, waits] = ["DECISION_ALLOW", "DECISION_DENY", "DECISION_CONSENSUS_NEEDED"];
const signing = "activity.action == 'SIGN'";

type Team = Record<"root" | "ann" | "bob" | "cleo", Person>;

/** Policies over a signature by ann, and what becomes of it. */
const situations: Readonly<
  Record<string, { policies: (team: Team) => readonly Draft[]; decision: string | undefined; by?: keyof Team }>
> = {
  "no policy": { policies: () => [], decision: deny },
  "a policy that allows": { policies: () => [{ condition: signing }], decision: allow },
  "a policy that denies": { policies: () => [{}, { effect: "EFFECT_DENY", condition: signing }], decision: deny },
  "a policy of something else": {
    policies: () => [{ condition: "eth.tx.value == 0" }, { condition: "activity.kind == 'X'" }],
    decision: deny,
  },
  "an erring denial": {
    policies: () => [{}, { effect: "EFFECT_DENY", consensus: "approvers[3].id == ''" }],
    decision: deny,
  },
  "a policy for two": {
    policies: ({ ann, bob }) => [{ condition: signing, consensus: all(ann, bob) }],
    decision: waits,
  },
  "a policy for two others": { policies: ({ bob, cleo }) => [{ consensus: all(bob, cleo) }], decision: deny },
  "a policy for anybody": { policies: () => [{ consensus: "approvers.count() >= 3" }], decision: waits },
  "a policy whose time is over": {
    policies: () => [{ time: "time.now < Timestamp('2020-01-01T00:00:00Z')" }],
    decision: deny,
  },
  "a denial of the root user": { policies: () => [{ effect: "EFFECT_DENY" }], decision: allow, by: "root" },
};

onBothDatabases("policies are simulated as they decide", async (rig) => {
  const team: Team = {
    root: rig.root,
    ann: await rig.newPerson("ann"),
    bob: await rig.newPerson("bob"),
    cleo: await rig.newPerson("cleo"),
  };
  const { address: signWith } = await addAccount(rig);
  const asked: Asked = { path: "sign_raw_payload", parameters: { signWith, payload: "aa", ...hexPayload } };
  for (const [name, { policies, decision, by = "ann" }] of Object.entries(situations)) {
    const policyIds: string[] = [];
    for (const draft of policies(team)) policyIds.push(await addPolicy(rig, draft));
    assert.equal(await assertSame(rig, team[by], asked, Object.values(team)), decision, name);
    for (const policyId of policyIds) await done(rig, rig.root, "delete_policy", { policyId });
  }
});

onBothDatabases("the quorum, one's own credentials and what no policy decides are simulated too", async (rig) => {
  const { organizationId, people } = await rig.newSubOrganization(2, ["ann", "bob"]);
  const [ann, bob] = people as [Person, Person];
  const where = { organizationId };
  const tag = (): Asked => ({ path: "create_user_tag", parameters: { userTagName: randomUUID(), userIds: [] } });
  assert.equal(await assertSame(rig, ann, tag(), people, where), waits);
  const rename: Asked = { path: "update_organization_name", parameters: { organizationName: "New" } };
  assert.equal(await assertSame(rig, ann, rename, people, where), waits);
  const own: Asked = { path: "delete_api_keys", parameters: { userId: ann.userId, apiKeyIds: [randomUUID()] } };
  const told = await simulate(rig, ann, own, {}, where);
  assert.deepEqual([told.decision, told.grounds], [allow, "OWN_CREDENTIAL"]);
  const both = await simulate(rig, ann, tag(), { approverIds: [ann.userId, bob.userId] }, where);
  assert.deepEqual([both.decision, both.grounds], [allow, "ROOT_QUORUM"]);
});

onBothDatabases(
  "approvals count as they would: after a submission that waits, of those who have a vote",
  async (rig) => {
    const [ann, bob, cleo] = [await rig.newPerson("ann"), await rig.newPerson("bob"), await rig.newPerson("cleo")];
    await addPolicy(rig, { condition: "activity.kind == 'CREATE_USER_TAG'", consensus: all(ann, bob) });
    const tag: Asked = { path: "create_user_tag", parameters: { userTagName: "Tag", userIds: [] } };
    const told = async (proposer: Person, ...approvers: Person[]) => {
      const more = { proposerId: proposer.userId, approverIds: approvers.map(({ userId }) => userId) };
      const { decision, eligibleUserIds } = await simulate(rig, rig.root, tag, more);
      return [decision, eligibleUserIds.length];
    };
    assert.deepEqual(await told(ann, ann), [waits, 2]);
    assert.deepEqual(await told(ann, ann, bob), [allow, 0]);
    assert.deepEqual(await told(ann, ann, cleo), [waits, 2], "cleo has no vote");
    assert.deepEqual(await told(ann, bob), [waits, 2], "ann's day is over");
    assert.deepEqual(await told(cleo, cleo, ann, bob), [deny, 0], "what cleo submits does not wait");
    assert.deepEqual(await told(cleo, cleo, rig.root), [deny, 0], "nor for the root user");
    assert.deepEqual(await told(ann, ann, rig.root), [allow, 0]);
  },
);

onBothDatabases("drafts are what really follows when they are made, and nothing is made by asking", async (rig) => {
  const ann = await rig.newPerson("ann");
  const tag: Asked = { path: "create_user_tag", parameters: { userTagName: "Tag", userIds: [] } };
  const [policyId, other] = [await addPolicy(rig, {}), await addPolicy(rig, { condition: "eth.tx.value == 0" })];
  const add = [{ policyName: "New", effect: "EFFECT_DENY", condition: "activity.action == 'CREATE'" }];
  const replaced = {
    effect: "EFFECT_ALLOW",
    condition: "activity.kind == 'CREATE_WALLET'",
    consensus: "",
    time: "",
  } as const;
  const before = [await ask(rig, ann, listPolicies), await ask(rig, ann, listActivities, {})];
  const decided = async (policies: object) => {
    const { decision, policyEvaluations } = await simulate(rig, ann, tag, { policies });
    return [decision, policyEvaluations.length];
  };
  assert.deepEqual(await decided({}), [allow, 2]);
  assert.deepEqual(await decided({ add }), [deny, 3]);
  assert.deepEqual(await decided({ replace: [{ policyId, ...replaced }] }), [deny, 2]);
  assert.deepEqual(await decided({ remove: [policyId] }), [deny, 1]);
  assert.deepEqual(await decided({ remove: [policyId, other] }), [deny, 0]);
  assert.deepEqual(await decided({ add, remove: [policyId, other], replace: [] }), [deny, 1]);
  assert.deepEqual([await ask(rig, ann, listPolicies), await ask(rig, ann, listActivities, {})], before);

  const { policyEvaluations, explanations, traces } = await simulate(rig, ann, tag, { policies: { add } });
  const mine = policyEvaluations.find(({ policyName }) => policyName === "New");
  assert.equal(mine?.outcome, "OUTCOME_DENY_EXPLICIT");
  assert.equal(explanations.find((each) => each.policyId === mine?.policyId)?.clause, add[0]?.condition);
  const trace = traces.find((each) => each.policyId === mine?.policyId);
  assert.deepEqual(
    trace?.entries.map(({ text, value }) => [text, value]),
    [
      ["activity.action", "CREATE"],
      [add[0]?.condition, "true"],
    ],
  );
  const { effect, condition } = replaced;
  await done(rig, rig.root, "update_policy", { policyId, policyEffect: effect, policyCondition: condition });
  assert.equal(await assertSame(rig, ann, tag, [ann]), deny);
});

onBothDatabases("a scenario's people, keys and interfaces are as if they were there", async (rig) => {
  const ann = await rig.newPerson("ann");
  const [newcomer, tagId] = [randomUUID(), randomUUID()];
  const { address: signWith, walletId } = await addAccount(rig);
  await addPolicy(rig, { condition: "eth.tx.function_name == 'transfer'" });
  await addPolicy(rig, {
    condition: "activity.kind == 'CREATE_USER_TAG'",
    consensus: `approvers.any(user, user.tags.contains('${tagId}'))`,
  });
  await addPolicy(rig, { condition: `private_key.tags.contains('${tagId}') && private_key.label == 'Hot'` });
  await addPolicy(rig, { condition: "activity.kind == 'EXPORT_WALLET' && wallet.label == 'Mine' && wallet.imported" });
  const transfer: Asked = {
    path: "sign_transaction",
    parameters: { signWith, type: "TRANSACTION_TYPE_ETHEREUM", unsignedTransaction: transferOf(1n) },
  };
  const decided = async (asked: Asked, scenario: object, more: object = {}) =>
    (await simulate(rig, ann, asked, { scenario, ...more })).decision;

  const supposed = { type: "ETHEREUM", smartContractAddress: token, smartContractInterface: tokenInterface };
  assert.equal(await decided(transfer, {}), deny);
  assert.equal(await decided(transfer, { interfaces: [supposed] }), allow);
  assert.equal(await assertSame(rig, ann, transfer, [ann]), deny);
  const real = { ...supposed, type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM", label: "Token" };
  await done(rig, rig.root, "create_smart_contract_interface", real);
  assert.equal(await assertSame(rig, ann, transfer, [ann]), allow);
  assert.equal(
    await decided(transfer, { interfaces: [{ ...supposed, smartContractInterface: "[]" }] }),
    deny,
    "before the one that is there",
  );

  const tag: Asked = { path: "create_user_tag", parameters: { userTagName: "Tag", userIds: [] } };
  const users = [{ userId: newcomer, userName: "Newcomer", userTags: [tagId] }];
  assert.equal(await decided(tag, { users }, { proposerId: newcomer }), allow);
  assert.equal(await decided(tag, { users: [{ userId: ann.userId, userName: "ann", userTags: [tagId] }] }), allow);
  assert.equal(await assertSame(rig, ann, tag, [ann]), deny);

  const key = { privateKeyId: randomUUID(), privateKeyName: "Hot", curve: "CURVE_SECP256K1", publicKey: "02" };
  const payload: Asked = {
    path: "sign_raw_payload",
    parameters: { signWith: key.privateKeyId, payload: "aa", ...hexPayload },
  };
  assert.equal(await decided(payload, { keys: [{ ...key, tags: [tagId] }] }), allow);
  assert.equal(await decided(payload, { keys: [key] }), deny);
  const { targetPublicKey } = exportClient();
  const exported: Asked = { path: "export_wallet", parameters: { walletId, targetPublicKey } };
  const account = {
    walletId,
    walletName: "Mine",
    imported: true,
    address: "0x00",
    addressFormat: "ADDRESS_FORMAT_ETHEREUM",
  };
  assert.equal(await decided(exported, { keys: [{ ...account, curve: "CURVE_SECP256K1", publicKey: "02" }] }), allow);
  assert.equal(await assertSame(rig, ann, exported, [ann]), deny);
});
