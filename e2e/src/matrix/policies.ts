/** create_policy, create_policies, update_policy, delete_policy, delete_policies, and what reads policies. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { exhausted, invalid, notFound } from "../refusals.ts";
import { assertAccepted, assertRefused } from "../wire.ts";
import { activityEntry, type BadInput, queryEntry } from "./entry.ts";
import { badName, noSuchPolicy } from "./faults.ts";
import { envelope, type Fixture, type Json } from "./fixture.ts";
import { added } from "./keys.ts";
import { limits } from "./limits.ts";
import { byId } from "./people.ts";
import type { Place } from "./stage.ts";

export type PolicyParams = {
  policyName: string;
  effect: string;
  condition?: string;
  consensus?: string;
  time?: string;
  notes: string;
};

/** It is about nothing that anybody does, so that it allows nobody anything. */
const unmet = "activity.resource == 'NOTHING'";

export function policyParams(more: Partial<PolicyParams> = {}): PolicyParams {
  return { policyName: `Policy ${randomUUID()}`, effect: "EFFECT_ALLOW", condition: unmet, notes: "", ...more };
}

export async function newPolicy(
  fixture: Fixture,
  place: Place = fixture.place,
  more: Partial<PolicyParams> = {},
): Promise<string> {
  return (await fixture.done("create_policy", policyParams(more), place.root, place)).policyId;
}

/** Everything a policy can have, in a spelling that must come back byte for byte. */
const full: Partial<PolicyParams> = {
  effect: "EFFECT_DENY",
  condition: `  ${unmet}\n && activity.type  != "ä 🔑"`,
  consensus: "approvers.any(user, user.tags.contains('nobody'))",
  time: "time.now < Timestamp('2001-01-01T00:00:00Z')",
  notes: "Two\nlines.",
};

/** A policy as it is shown, against what was asked for. */
function checkPolicy({ policyId, createdAt, updatedAt, ...shown }: Json, asked: PolicyParams): void {
  assert.deepEqual(shown, { consensus: "", condition: "", time: "", ...asked });
  assert.deepEqual(createdAt, updatedAt);
}

const badExpressions: readonly [name: string, change: Partial<PolicyParams>, message: RegExp][] = [
  [
    "a field that is not there",
    { condition: "eth.tx.recipient == '0x'" },
    /^invalid policy condition: .* at position /,
  ],
  ["a condition that is no truth", { condition: "activity.type" }, /^invalid policy condition: /],
  ["brackets that are open", { condition: "(true" }, /^invalid policy condition: .* at position /],
  ["a list of a thousand", { condition: `1 in [${"1, ".repeat(999)}1]` }, /^invalid policy condition: /],
  ["forty brackets", { condition: `${"(".repeat(40)}true${")".repeat(40)}` }, /^invalid policy condition: /],
  ["a long one", { condition: `'${"x".repeat(5_000)}' == ''` }, /^invalid policy condition: /],
  ["approvers in a condition", { condition: "approvers.count() > 0" }, /^invalid policy condition: /],
  ["the activity in a consensus", { consensus: "activity.type == ''" }, /^invalid policy consensus: /],
  ["a time that is none", { time: "time.now > Timestamp('yesterday')" }, /^invalid policy time: /],
];

/** Bad policies, wherever a request has its parameters. */
function badPolicies(
  at: string,
  wrap: (policy: Json) => object,
  read: (sent: Json) => Json = (sent) => sent,
): BadInput<Json>[] {
  const field = (name: string) => `\`parameters.${at}${name}\``;
  return [
    {
      name: "an empty name",
      bend: () => wrap(policyParams({ policyName: "" })),
      refusal: invalid(`invalid request body: field ${field("policyName")} must not have fewer than 1 characters`),
    },
    {
      name: "a name with a line break",
      bend: () => wrap(policyParams({ policyName: "a\nb" })),
      refusal: invalid(`invalid request body: field ${field("policyName")} ${badName}`),
    },
    {
      name: "an effect that is none",
      bend: () => wrap(policyParams({ effect: "EFFECT_MAYBE" })),
      refusal: invalid(`invalid request body: field ${field("effect")} must be one of EFFECT_ALLOW, EFFECT_DENY`),
    },
    {
      name: "a name that exists, in other letters",
      bend: async (_, fixture) => {
        const policyName = `taken ${randomUUID()}`;
        await newPolicy(fixture, fixture.place, { policyName });
        return wrap(policyParams({ policyName: policyName.toUpperCase() }));
      },
      refusal: (sent) => invalid(`policy label must be unique: \`${read(sent).policyName.toLowerCase()}\` exists`),
      kept: "FAILED",
    },
    ...badExpressions.map(
      ([name, change, message]): BadInput<Json> => ({
        name,
        bend: () => wrap(policyParams(change)),
        refusal: invalid(message),
        kept: "FAILED",
      }),
    ),
  ];
}

export const createPolicy = activityEntry<PolicyParams>({
  good: () => policyParams(full),
  required: ["policyName", "effect"],
  result: ({ policyName }, { after }) => ({ policyId: byId(after.policies, "policyName", policyName)?.policyId }),
  shows(asked, { before, after }) {
    const [made, ...others] = added(before.policies, after.policies, "policyId");
    assert.deepEqual(others, []);
    checkPolicy(made, asked);
  },
  bad: badPolicies("", (policy) => policy),
  foreign: [],
  also: {
    "what is left out is empty": async (fixture) => {
      const { policyName, effect } = policyParams();
      const { policyId } = await fixture.done("create_policy", { policyName, effect, condition: null });
      const { policy } = await fixture.ask("get_policy", { policyId });
      checkPolicy(policy, { policyName, effect, notes: "" });
    },
    "policies of selectors belong to the past": async (fixture) => {
      for (const type of ["ACTIVITY_TYPE_CREATE_POLICY", "ACTIVITY_TYPE_CREATE_POLICY_V2"]) {
        const parameters = { policyName: "Selectors", selectors: [], effect: "EFFECT_ALLOW", notes: "" };
        const body = envelope(type, fixture.place.organizationId, parameters);
        const answer = await fixture.send({
          kind: "submit",
          path: "create_policy",
          key: fixture.place.root.p256,
          body,
        });
        const instead = "policies are written as expressions; use `ACTIVITY_TYPE_CREATE_POLICY_V3`";
        assertRefused(answer, invalid(`Invalid activity type: \`${type}\` is no longer supported: ${instead}`));
      }
    },
    "the last that fits, and one more": async (fixture) => {
      const limit = limits.policiesPerOrganization;
      const { policies } = await fixture.ask("list_policies");
      const missing = Array.from({ length: limit - policies.length }, () => policyParams());
      await fixture.done("create_policies", { policies: missing });
      const answer = await fixture.submit("create_policy", policyParams());
      assertRefused(answer, exhausted(new RegExp(`^organization has reached its limit of ${limit} policies; `)));
    },
  },
});

/** A second policy that is bad; the first is good, and is not made either. */
const behindGood = (policy: Json) => ({ policies: [policyParams(), policy] });

export const createPolicies = activityEntry<{ policies: PolicyParams[] }>({
  good: () => ({ policies: [policyParams(full), policyParams(), policyParams({ effect: "EFFECT_DENY" })] }),
  required: ["policies", "policies.0.policyName", "policies.0.effect"],
  result: ({ policies }, { after }) => ({
    policyIds: policies.map(({ policyName }) => byId(after.policies, "policyName", policyName)?.policyId),
  }),
  shows({ policies }, { before, after, result }) {
    assert.equal(added(before.policies, after.policies, "policyId").length, policies.length);
    for (const [index, asked] of policies.entries()) {
      checkPolicy(byId(after.policies, "policyId", result.policyIds[index]), asked);
    }
  },
  bad: [
    {
      name: "none",
      bend: () => ({ policies: [] }),
      refusal: invalid("invalid request body: field `parameters.policies` must not have fewer than 1 items"),
    },
    {
      name: "one name twice, in two spellings",
      bend: () => ({ policies: [policyParams({ policyName: "Twice" }), policyParams({ policyName: "TWICE" })] }),
      refusal: invalid("policy label must be unique: `Twice` exists"),
      kept: "FAILED",
    },
    ...badPolicies("policies.1.", behindGood, ({ policies }) => policies[1]),
  ],
  foreign: [],
});

type PolicyUpdate = {
  policyId: string;
  policyName?: string;
  policyEffect?: string;
  policyCondition?: string;
  policyConsensus?: string;
  policyNotes?: string;
  time?: string;
};

/** The parameters of a policy in the words of an update. */
function updateWith(policyId: string, { policyName, effect, condition, consensus, notes, time }: Json): PolicyUpdate {
  const words = { policyName, policyEffect: effect, policyCondition: condition, policyConsensus: consensus };
  return JSON.parse(JSON.stringify({ policyId, ...words, policyNotes: notes, time }));
}

export const updatePolicy = activityEntry<PolicyUpdate>({
  good: async (fixture) => updateWith(await newPolicy(fixture), policyParams(full)),
  required: ["policyId"],
  result: ({ policyId }) => ({ policyId }),
  shows(asked, { before, after }) {
    const { policyId, policyName, policyEffect, policyCondition, policyConsensus, policyNotes, time } = asked;
    const { updatedAt, ...shown } = byId(after.policies, "policyId", policyId);
    const { updatedAt: earlier, ...was } = byId(before.policies, "policyId", policyId);
    assert.deepEqual(shown, {
      ...was,
      policyName,
      effect: policyEffect,
      condition: policyCondition,
      consensus: policyConsensus,
      notes: policyNotes,
      time,
    });
    assert.notDeepEqual(updatedAt, earlier);
    assert.equal(after.policies.length, before.policies.length);
  },
  bad: [
    {
      name: "an empty name",
      bend: (good) => ({ ...good, policyName: "" }),
      refusal: invalid("invalid request body: field `parameters.policyName` must not have fewer than 1 characters"),
    },
    {
      name: "an effect that is none",
      bend: (good) => ({ ...good, policyEffect: "EFFECT_MAYBE" }),
      refusal: invalid(
        "invalid request body: field `parameters.policyEffect` must be one of EFFECT_ALLOW, EFFECT_DENY",
      ),
    },
    {
      name: "another's name, in other letters",
      bend: async ({ policyId }, fixture) => {
        const policyName = `taken ${randomUUID()}`;
        await newPolicy(fixture, fixture.place, { policyName });
        return { policyId, policyName: policyName.toUpperCase() };
      },
      refusal: ({ policyName }) => invalid(`policy label must be unique: \`${policyName.toLowerCase()}\` exists`),
      kept: "FAILED",
    },
    ...badExpressions.map(
      ([name, change, message]): BadInput<PolicyUpdate> => ({
        name,
        bend: ({ policyId }) => updateWith(policyId, change),
        refusal: invalid(message),
        kept: "FAILED",
      }),
    ),
  ],
  foreign: [{ name: "a policy", bend: (good, { policyId }) => ({ ...good, policyId }), refusal: noSuchPolicy }],
  versions: {
    ACTIVITY_TYPE_UPDATE_POLICY: async (fixture) => ({ policyId: await newPolicy(fixture), policyNotes: "V1" }),
  },
  also: {
    "what is left out stays, what is empty goes": async (fixture) => {
      const asked = policyParams(full);
      const { policyId } = await fixture.done("create_policy", asked);
      await fixture.done("update_policy", { policyId, policyConsensus: "" });
      const { policy } = await fixture.ask("get_policy", { policyId });
      checkPolicy({ ...policy, updatedAt: policy.createdAt }, { ...asked, consensus: "" });
    },
  },
});

export const deletePolicy = activityEntry<{ policyId: string }>({
  good: async (fixture) => ({ policyId: await newPolicy(fixture) }),
  required: ["policyId"],
  result: ({ policyId }) => ({ policyId }),
  shows({ policyId }, { before, after }) {
    assert.deepEqual(
      after.policies,
      before.policies.filter((policy) => policy.policyId !== policyId),
    );
  },
  bad: [],
  foreign: [{ name: "a policy", bend: (_, { policyId }) => ({ policyId }), refusal: noSuchPolicy }],
  also: {
    "its name is free": async (fixture) => {
      const policyName = `Once ${randomUUID()}`;
      const policyId = await newPolicy(fixture, fixture.place, { policyName });
      await fixture.done("delete_policy", { policyId });
      await newPolicy(fixture, fixture.place, { policyName });
    },
  },
});

export const deletePolicies = activityEntry<{ policyIds: string[] }>({
  good: async (fixture) => ({ policyIds: [await newPolicy(fixture), await newPolicy(fixture)] }),
  required: ["policyIds"],
  result: ({ policyIds }) => ({ policyIds }),
  shows({ policyIds }, { before, after }) {
    assert.deepEqual(
      after.policies,
      before.policies.filter(({ policyId }) => !policyIds.includes(policyId)),
    );
  },
  bad: [
    {
      name: "none",
      bend: () => ({ policyIds: [] }),
      refusal: invalid("invalid request body: field `parameters.policyIds` must not have fewer than 1 items"),
    },
  ],
  foreign: [
    {
      name: "a policy",
      bend: ({ policyIds: [one] }, { policyId }) => ({ policyIds: [one, policyId] }),
      refusal: noSuchPolicy,
    },
  ],
});

export const getPolicy = queryEntry<{ policyId: string }>({
  good: async (fixture, place) => ({ policyId: await newPolicy(fixture, place, full) }),
  required: ["policyId"],
  answer: async ({ policyId }, { policy, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    assert.deepEqual(policy, byId((await fixture.ask("list_policies")).policies, "policyId", policyId));
    checkPolicy(policy, policyParams({ ...full, policyName: policy.policyName }));
  },
  bad: [],
  foreign: [{ name: "a policy", bend: (_, { policyId }) => ({ policyId }), refusal: noSuchPolicy }],
});

export const listPolicies = queryEntry<object>({
  good: async (fixture, place) => {
    for (const policyName of ["First", "Second"]) await newPolicy(fixture, place, { ...full, policyName });
    return {};
  },
  required: [],
  answer: (_, { policies, ...nothing }) => {
    assert.deepEqual(nothing, {});
    const names = ["First", "Second"];
    assert.equal(policies.length, names.length);
    for (const [index, policyName] of names.entries())
      checkPolicy(policies[index], policyParams({ ...full, policyName }));
  },
  bad: [],
  foreign: [],
});

/** What somebody whom no policy allows anything was refused, by its id. */
async function refusedActivity(fixture: Fixture, place: Place): Promise<string> {
  const parameters = { userTagName: randomUUID(), userIds: [] };
  assert.equal((await fixture.submit("create_user_tag", parameters, place.member, place)).status, 403);
  const { activities } = await fixture.ask("list_activities", { paginationOptions: { limit: "1" } }, place.root, place);
  return activities[0].id;
}

export const getPolicyEvaluations = queryEntry<{ activityId: string }>({
  good: async (fixture, place) => {
    await newPolicy(fixture, place);
    return { activityId: await refusedActivity(fixture, place) };
  },
  required: ["activityId"],
  answer: async ({ activityId }, { policyEvaluations, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    const { activity } = await fixture.ask("get_activity", { activityId });
    const { policies } = await fixture.ask("list_policies");
    assert.equal(policyEvaluations.length, 1);
    const [{ id, details, policyEvaluations: outcomes, ...rest }] = policyEvaluations;
    const [{ id: voteId, createdAt }] = activity.votes;
    assert.equal(typeof id, "string");
    assert.deepEqual(rest, { activityId, organizationId: activity.organizationId, voteId, createdAt });
    const ids = policies.map(({ policyId }: Json) => policyId).sort();
    const idsOf = (list: Json[]) => list.map(({ policyId }) => policyId).sort();
    assert.deepEqual(idsOf(outcomes), ids);
    assert.deepEqual(idsOf(details), ids);
    for (const { outcome } of [...outcomes, ...details]) assert.equal(outcome, "OUTCOME_DENY_IMPLICIT");
    for (const { expression, clause } of details) assert.deepEqual([expression, clause], ["condition", unmet]);
  },
  bad: [],
  foreign: [
    {
      name: "an activity",
      bend: (_, { activityId }) => ({ activityId }),
      refusal: ({ activityId }, { organizationId }) =>
        notFound(`unable to find activity ${activityId} in organization ${organizationId}`),
    },
  ],
  also: {
    "every vote has its entry, and the one by which the root quorum decides is empty": async (fixture) => {
      const { root, deputy } = fixture.place;
      await fixture.done("update_root_quorum", { threshold: 2, userIds: [root.userId, deputy.userId] });
      const body = envelope("ACTIVITY_TYPE_CREATE_USER_TAG", fixture.place.organizationId, {
        userTagName: randomUUID(),
        userIds: [],
      });
      const votes: Json[] = [];
      for (const { p256: key } of [root, deputy]) {
        const answer = await fixture.send({ kind: "submit", path: "create_user_tag", body, key });
        assertAccepted(answer);
        votes.splice(0, votes.length, ...answer.json.activity.votes);
      }
      const [{ activityId }] = votes;
      const { policyEvaluations } = await fixture.ask("get_policy_evaluations", { activityId });
      assert.deepEqual(
        policyEvaluations.map(({ voteId }: Json) => voteId),
        votes.map(({ id }) => id),
      );
      assert.deepEqual(policyEvaluations.at(-1).policyEvaluations, []);
    },
  },
});
