/** simulate_activity: what would become of an activity. Nothing that is published has it, so only our own document describes it. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { invalid } from "../refusals.ts";
import { assertAccepted, assertRefused } from "../wire.ts";
import { type BadInput, queryEntry } from "./entry.ts";
import type { Fixture, Json } from "./fixture.ts";
import { policyParams } from "./policies.ts";

type Simulation = { activity: { type: string; parameters: object }; proposerId?: string; [name: string]: unknown };

const type = "ACTIVITY_TYPE_CREATE_USER_TAG";
const tag = { type, parameters: { userTagName: "Supposed", userIds: [] } };
/** It allows this kind of activity, and nothing else. */
const tagging = { effect: "EFFECT_ALLOW", condition: "activity.kind == 'CREATE_USER_TAG'" };
const draft = { policyName: "Draft", ...tagging };

const noSuchUser = (userId: string) => invalid(`no user \`${userId}\` in this organization`);
const noSuchPolicy = (policyId: string) => invalid(`policies: no policy \`${policyId}\` in this organization`);

function bent(name: string, change: object, message: string | RegExp): BadInput<Simulation> {
  return { name, bend: (good) => ({ ...good, ...change }), refusal: invalid(message) };
}

async function decide(fixture: Fixture, asked: object): Promise<Json> {
  const { place } = fixture;
  const body = { organizationId: place.organizationId, activity: tag, proposerId: place.member.userId, ...asked };
  const answer = await fixture.send({ kind: "query", path: "simulate_activity", body, key: place.member.p256 });
  assertAccepted(answer);
  return answer.json;
}

export const simulateActivity = queryEntry<Simulation>({
  good: (_, place) => ({ activity: tag, proposerId: place.member.userId, policies: { add: [draft] } }),
  required: ["activity", "activity.type", "activity.parameters"],
  answer(_, { policyEvaluations, explanations, traces, ...rest }) {
    assert.deepEqual(rest, {
      decision: "DECISION_ALLOW",
      grounds: "POLICY",
      message: "it would run, on the grounds of POLICY",
      eligibleUserIds: [],
    });
    const own = policyEvaluations.find((each: Json) => each.policyName === draft.policyName);
    assert.equal(own.outcome, "OUTCOME_ALLOW");
    const why = explanations.find((each: Json) => each.policyId === own.policyId);
    assert.deepEqual([why.expression, why.clause], ["condition", draft.condition]);
    assert.deepEqual(why.observed, { "activity.kind": "CREATE_USER_TAG" });
    const { entries } = traces.find((each: Json) => each.policyId === own.policyId);
    assert.deepEqual(entries.at(-1), {
      expression: "condition",
      text: draft.condition,
      start: 0,
      end: draft.condition.length,
      value: "true",
    });
  },
  bad: [
    bent(
      "an unknown type",
      { activity: { ...tag, type: "ACTIVITY_TYPE_X" } },
      "Invalid activity type: `ACTIVITY_TYPE_X`",
    ),
    bent(
      "parameters of another kind",
      { activity: { type, parameters: { userIds: [] } } },
      "invalid request body: missing field `userTagName`",
    ),
    bent(
      "a draft that does not parse",
      { policies: { add: [{ ...draft, condition: "(" }] } },
      /^invalid policy condition: /,
    ),
    bent("nobody who approves", { approverIds: ["nobody"] }, "no user `nobody` in this organization"),
    bent(
      "a key of nothing",
      { scenario: { keys: [{ curve: "CURVE_ED25519", publicKey: "" }] } },
      "scenario.keys: a key has either `privateKeyId`, or `walletId` with `address` and `addressFormat`",
    ),
  ],
  foreign: [
    {
      name: "a proposer",
      bend: (good, { userId }) => ({ ...good, proposerId: userId }),
      refusal: ({ userId }) => noSuchUser(userId),
    },
    {
      name: "a policy that is left out",
      bend: (good, { policyId }) => ({ ...good, policies: { remove: [policyId] } }),
      refusal: ({ policyId }) => noSuchPolicy(policyId),
    },
    {
      name: "a policy that says something else",
      bend: (good, { policyId }) => ({ ...good, policies: { replace: [{ policyId, ...tagging }] } }),
      refusal: ({ policyId }) => noSuchPolicy(policyId),
    },
  ],
  also: {
    "what policies would say is what they say": async (fixture) => {
      const { member } = fixture.place;
      const parameters = { userTagName: `Tag ${randomUUID()}`, userIds: [] };
      const refused = await decide(fixture, { activity: { type, parameters } });
      assert.equal(refused.decision, "DECISION_DENY");
      assert.equal((await fixture.submit("create_user_tag", parameters, member)).status, 403);
      const policy = policyParams(tagging);
      const { policyId } = await fixture.done("create_policy", policy);
      const allowed = await decide(fixture, { activity: { type, parameters } });
      assert.deepEqual([allowed.decision, allowed.grounds], ["DECISION_ALLOW", "POLICY"]);
      const gone = await decide(fixture, { policies: { remove: [policyId] } });
      assert.equal(gone.decision, "DECISION_DENY");
      const other = await decide(fixture, { policies: { replace: [{ policyId, ...tagging, effect: "EFFECT_DENY" }] } });
      assert.equal(other.message, `The following policies denied this action: ${policyId}`);
      assertAccepted(await fixture.submit("create_user_tag", { ...parameters, userTagName: randomUUID() }, member));
      await fixture.done("delete_policy", { policyId });
    },
    "who would have to approve is named": async (fixture) => {
      const { member, deputy, root } = fixture.place;
      const consensus = `approvers.any(user, user.id == '${member.userId}') && approvers.any(user, user.id == '${deputy.userId}')`;
      const policies = { add: [{ ...draft, consensus }] };
      const waits = await decide(fixture, { policies });
      assert.equal(waits.decision, "DECISION_CONSENSUS_NEEDED");
      assert.deepEqual(waits.eligibleUserIds.toSorted(), [root.userId, deputy.userId].toSorted());
      const done = await decide(fixture, { policies, approverIds: [member.userId, deputy.userId] });
      // The deputy is of the root quorum, of which one is enough.
      assert.deepEqual([done.decision, done.grounds], ["DECISION_ALLOW", "ROOT_QUORUM"]);
    },
    "a kind without an endpoint is decided by its type and parameters": async (fixture) => {
      const activity = { type: "ACTIVITY_TYPE_EARN_DEPOSIT", parameters: { assets: "5" } };
      const add = [{ ...draft, condition: "activity.kind == 'EARN_DEPOSIT' && activity.params.assets < 10" }];
      assert.equal((await decide(fixture, { activity, policies: { add } })).decision, "DECISION_ALLOW");
    },
    "an answer is about the sender unless another proposer is named": async (fixture) => {
      const { place } = fixture;
      const body = { organizationId: place.organizationId, activity: tag };
      const answer = await fixture.send({ kind: "query", path: "simulate_activity", body, key: place.root.p256 });
      assertAccepted(answer);
      assert.deepEqual([answer.json.decision, answer.json.grounds], ["DECISION_ALLOW", "ROOT_QUORUM"]);
      const above = { ...body, organizationId: fixture.sub.organizationId };
      const { userId, p256: key } = fixture.parent.member;
      assertRefused(
        await fixture.send({ kind: "query", path: "simulate_activity", body: above, key }),
        noSuchUser(userId),
      );
    },
  },
});
