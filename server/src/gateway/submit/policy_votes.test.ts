/** Policies that want several people: who may approve and how, what each vote came to, and what changes while they wait. */
import assert from "node:assert/strict";
import { type GatewayRig, newUser, type Person } from "../../../test/gateway_rig.ts";
import {
  addAccount,
  addPolicy,
  all,
  ask,
  done,
  evaluationsOf,
  hexPayload,
  listedBy,
  onBothDatabases,
  seenBy,
} from "../../../test/policy_rig.ts";
import { getPolicyEvaluations } from "../../queries/get_policy_evaluations.ts";
import { listPolicies } from "../../queries/list_policies.ts";

const waits = "ACTIVITY_STATUS_CONSENSUS_NEEDED";
const completed = "ACTIVITY_STATUS_COMPLETED";
const requires = "OUTCOME_REQUIRES_CONSENSUS";
const noVote = {
  code: "permission_denied",
  message: /this user has no vote on this activity; members of the root quorum have one, /,
};

type Team = Readonly<Record<"ann" | "bob" | "cleo", Person>>;

/** A waiting signature of ann's, which a policy wants bob to approve. Cleo is not asked. */
async function propose(rig: GatewayRig) {
  const team: Team = {
    ann: await rig.newPerson("ann"),
    bob: await rig.newPerson("bob"),
    cleo: await rig.newPerson("cleo"),
  };
  const { address } = await addAccount(rig);
  const condition = "activity.kind == 'SIGN_RAW_PAYLOAD'";
  const policyId = await addPolicy(rig, { condition, consensus: all(team.ann, team.bob) });
  const body = rig.body("sign_raw_payload", { signWith: address, payload: "aa", ...hexPayload });
  const proposed = await rig.send(team.ann, "sign_raw_payload", body);
  assert.equal(proposed.status, waits);
  assert.deepEqual(proposed.result, {});
  return { ...team, policyId, body, address, id: proposed.id, fingerprint: proposed.fingerprint };
}

type Proposed = Awaited<ReturnType<typeof propose>>;

const ways: Readonly<
  Record<string, (rig: GatewayRig, person: Person, proposed: Proposed) => ReturnType<GatewayRig["send"]>>
> = {
  approve_activity: (rig, person, { fingerprint }) => rig.submit(person, "approve_activity", { fingerprint }),
  "stamping the same bytes": (rig, person, { body }) => rig.send(person, "sign_raw_payload", body),
};

for (const [way, approve] of Object.entries(ways)) {
  onBothDatabases(`whom a policy names approves by ${way}, and whom it does not is refused`, async (rig) => {
    const proposed = await propose(rig);
    const { ann, bob, cleo, policyId, id, address } = proposed;
    await assert.rejects(approve(rig, cleo, proposed), noVote);
    assert.equal((await seenBy(rig, ann, id)).votes.length, 1);
    const again = await approve(rig, ann, proposed);
    assert.deepEqual([again.id, again.status, again.votes.length], [id, waits, 1], "the proposer's own adds nothing");
    rig.signer.clock.nowMs += 1_000;
    const signed = await approve(rig, bob, proposed);
    assert.deepEqual([signed.id, signed.status, signed.votes.length], [id, completed, 2]);
    const direct = await rig.submit(rig.root, "sign_raw_payload", { signWith: address, payload: "aa", ...hexPayload });
    assert.deepEqual(signed.result, direct.result, "it is the signature that the root user would have got");

    const { policyEvaluations } = await ask(rig, cleo, getPolicyEvaluations, { activityId: id });
    assert.deepEqual(
      policyEvaluations.map(({ voteId, policyEvaluations }) => ({ voteId, policyEvaluations })),
      [requires, "OUTCOME_ALLOW"].map((outcome, at) => ({
        voteId: signed.votes[at]?.id,
        policyEvaluations: [{ policyId, outcome }],
      })),
    );
    const [first, second] = policyEvaluations.map(({ details }) => details[0]);
    assert.equal(first?.clause, all(bob), "what is not met yet is named");
    assert.equal(second?.expression, "condition");
    assert.deepEqual(await approve(rig, bob, proposed), signed, "and once more is the same answer");
  });
}

onBothDatabases("what a reader may do about what waits is shown, in each and in the list", async (rig) => {
  const { ann, bob, cleo, id, fingerprint } = await propose(rig);
  const rights = async (person: Person) => {
    const one = await seenBy(rig, person, id);
    const activities = await listedBy(rig, person, { filterByStatus: [waits] });
    const listed = activities.find((each) => each.id === id);
    const [shown, inList] = [one, listed].map((each) => [each?.canApprove, each?.canReject]);
    assert.deepEqual(shown, inList);
    return shown;
  };
  const expected: readonly (readonly [Person, boolean, boolean])[] = [
    [ann, false, true],
    [bob, true, true],
    [cleo, false, false],
    [rig.root, true, true],
  ];
  for (const [person, ...may] of expected) assert.deepEqual(await rights(person), may, person.userName);
  await rig.submit(bob, "reject_activity", { fingerprint });
  for (const [person] of expected) {
    const { canApprove, canReject, status } = await seenBy(rig, person, id);
    assert.deepEqual([canApprove, canReject, status], [false, false, "ACTIVITY_STATUS_REJECTED"]);
  }
});

onBothDatabases(
  "one whom a policy names rejects, one whom it does not cannot, and the proposer takes back",
  async (rig) => {
    const { bob, cleo, id, fingerprint, policyId, ann } = await propose(rig);
    await assert.rejects(rig.submit(cleo, "reject_activity", { fingerprint }), noVote);
    rig.signer.clock.nowMs += 1_000;
    assert.equal((await rig.submit(bob, "reject_activity", { fingerprint })).status, "ACTIVITY_STATUS_REJECTED");
    assert.deepEqual(await evaluationsOf(rig, id), [{ [policyId]: requires }, { [policyId]: "OUTCOME_REJECTED" }]);
    const { policyEvaluations } = await ask(rig, cleo, getPolicyEvaluations, { activityId: id });
    const [, told] = policyEvaluations.map(({ details }) => details[0]);
    assert.deepEqual([told?.outcome, told?.clause], ["OUTCOME_REJECTED", all(bob)], "with what it still waited for");
    const tag = await rig.submit(ann, "sign_raw_payload", { signWith: "nobody", payload: "bb", ...hexPayload });
    const taken = await rig.submit(ann, "reject_activity", { fingerprint: tag.fingerprint });
    assert.equal(taken.status, "ACTIVITY_STATUS_REJECTED");
  },
);

/** What can happen to the policy while it waits, and what bob's approval comes to then. */
const changes: Readonly<
  Record<string, { change: (rig: GatewayRig, proposed: Proposed) => Promise<unknown>; leads: string }>
> = {
  "its condition does not hold any more": {
    change: (rig, { policyId }) =>
      done(rig, rig.root, "update_policy", { policyId, policyCondition: "activity.kind == 'X'" }),
    leads: "no vote",
  },
  "it names another": {
    change: (rig, { policyId, ann, cleo }) =>
      done(rig, rig.root, "update_policy", { policyId, policyConsensus: all(ann, cleo) }),
    leads: "no vote",
  },
  "it wants one more": {
    change: (rig, { policyId, ann, bob, cleo }) =>
      done(rig, rig.root, "update_policy", { policyId, policyConsensus: all(ann, bob, cleo) }),
    leads: waits,
  },
  "it is satisfied by the proposer alone": {
    change: (rig, { policyId, ann, bob }) =>
      done(rig, rig.root, "update_policy", { policyId, policyConsensus: `(${all(ann)}) || (${all(bob)})` }),
    leads: completed,
  },
  "it denies instead": {
    change: (rig, { policyId }) =>
      done(rig, rig.root, "update_policy", { policyId, policyEffect: "EFFECT_DENY", policyConsensus: "" }),
    leads: "no vote",
  },
  "another denies": {
    change: (rig) => addPolicy(rig, { effect: "EFFECT_DENY", condition: "activity.action == 'SIGN'" }),
    leads: "no vote",
  },
  "another denies what bob approves": {
    change: (rig, { bob }) => addPolicy(rig, { effect: "EFFECT_DENY", consensus: all(bob) }),
    leads: "ACTIVITY_STATUS_REJECTED",
  },
  "it is deleted": {
    change: (rig, { policyId }) => done(rig, rig.root, "delete_policy", { policyId }),
    leads: "no vote",
  },
  "its time is over": {
    async change(rig, { policyId }) {
      const until = new Date(rig.signer.clock.nowMs + 1_000).toISOString();
      await done(rig, rig.root, "update_policy", { policyId, time: `time.now < Timestamp('${until}')` });
      rig.signer.clock.nowMs += 2_000;
    },
    leads: "no vote",
  },
  "its proposer is gone": {
    change: (rig, { ann }) => done(rig, rig.root, "delete_users", { userIds: [ann.userId] }),
    leads: "no vote",
  },
};

onBothDatabases("a vote is weighed by the policies of its own moment", async (rig) => {
  for (const [name, { change, leads }] of Object.entries(changes)) {
    const proposed = await propose(rig);
    const { bob, id, fingerprint } = proposed;
    await change(rig, proposed);
    const approval = rig.submit(bob, "approve_activity", { fingerprint });
    if (leads === "no vote") {
      await assert.rejects(approval, noVote, name);
      assert.equal((await seenBy(rig, bob, id)).status, waits, name);
    } else assert.equal((await approval).status, leads, name);
    const { policies } = await ask(rig, rig.root, listPolicies);
    for (const { policyId } of policies) await done(rig, rig.root, "delete_policy", { policyId });
    if (leads === "no vote") {
      const ended = await rig.submit(rig.root, "approve_activity", { fingerprint });
      assert.equal(ended.status, completed, `${name}: the root user can always end it`);
    }
  }
});

onBothDatabases("an approval of yesterday does not count for a policy, and can be given again", async (rig) => {
  const { ann, bob, fingerprint, id, policyId } = await propose(rig);
  rig.signer.clock.nowMs += 25 * 3_600_000;
  assert.equal((await rig.submit(bob, "approve_activity", { fingerprint })).status, waits);
  rig.signer.clock.nowMs += 1_000;
  assert.equal((await rig.submit(ann, "approve_activity", { fingerprint })).status, completed);
  assert.deepEqual(await evaluationsOf(rig, id), [
    { [policyId]: requires },
    { [policyId]: requires },
    { [policyId]: "OUTCOME_ALLOW" },
  ]);
});

onBothDatabases("a policy that asks for a certain credential takes no vote by another", async (rig) => {
  const [ann, bob] = [await rig.newPerson("ann"), await rig.newPerson("bob")];
  const { user, privateKey } = newUser("bob");
  const added = { userId: bob.userId, apiKeys: [{ ...user.apiKeys[0], apiKeyName: "second" }] };
  const { apiKeyIds } = await done<{ apiKeyIds: [string] }>(rig, bob, "create_api_keys", added);
  const second = `credentials.any(each, each.id == '${apiKeyIds[0]}')`;
  await addPolicy(rig, { condition: "activity.kind == 'CREATE_USER_TAG'", consensus: `${all(ann)} && ${second}` });
  const { fingerprint, id, status } = await rig.submit(ann, "create_user_tag", { userTagName: "Tag", userIds: [] });
  assert.equal(status, waits);
  assert.equal((await seenBy(rig, bob, id)).canApprove, true, "with one of his keys he can");
  await assert.rejects(rig.submit(bob, "approve_activity", { fingerprint }), noVote);
  const approved = await rig.submit({ ...bob, privateKey }, "approve_activity", { fingerprint });
  assert.equal(approved.status, completed);
});

onBothDatabases(
  "what waits for the root quorum and cannot be read keeps no member from reading the list",
  async (rig) => {
    const { organizationId, people } = await rig.newSubOrganization(2, ["ann", "bob"]);
    const [ann, bob] = people as [Person, Person];
    const where = { organizationId };
    // Nobody looks into it before both have approved.
    const unreadable = rig.body(
      "sign_transaction",
      { signWith: "nobody", type: "TRANSACTION_TYPE_ETHEREUM", unsignedTransaction: "c0" },
      where,
    );
    const waiting = await rig.send(ann, "sign_transaction", unreadable);
    assert.equal(waiting.status, waits);
    const member = await joined(rig, [ann, bob], organizationId);
    const policy = rig.body("create_policy", { policyName: "All", effect: "EFFECT_ALLOW", notes: "" }, where);
    await rig.send(ann, "create_policy", policy);
    assert.equal((await rig.send(bob, "create_policy", policy)).status, completed);
    const activities = await listedBy(rig, member, { filterByStatus: [waits] }, where);
    assert.deepEqual(
      activities.map(({ id, canApprove, canReject }) => [id, canApprove, canReject]),
      [[waiting.id, false, false]],
    );
    assert.equal((await seenBy(rig, member, waiting.id, where)).canApprove, false);
    const failed = await rig.submit(bob, "approve_activity", { fingerprint: waiting.fingerprint }, where);
    assert.equal(failed.status, "ACTIVITY_STATUS_FAILED");
  },
);

/** A member without a place in the quorum of two. */
async function joined(rig: GatewayRig, [ann, bob]: readonly [Person, Person], organizationId: string): Promise<Person> {
  const { user, privateKey } = newUser("member");
  const body = rig.body("create_users", { users: [{ ...user, userTags: [] }] }, { organizationId });
  await rig.send(ann, "create_users", body);
  const { result } = await rig.send(bob, "create_users", body);
  const { userIds } = result.createUsersResult as { userIds: [string] };
  return { userId: userIds[0], userName: "member", privateKey };
}
