/**
 * Every order in which an approval, a rejection, the passing of a day, a change of the policy and the deletion of a user can meet
 * an activity that waits for three users whom a policy names: each has one outcome, which a model tells beforehand, on both
 * databases. The root user of the organization stands aside, and could end it at any time.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import {
  allStories,
  day,
  type Name,
  names,
  proposer,
  type Step,
  sample,
  statusOf,
  storiesOfApproval,
} from "../../../test/consensus_stories.ts";
import { createGatewayRig, type GatewayRig, newUser, type Person, Refused } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { findActivity } from "../../store/activities.ts";

/** What the rules say, without any of our code. Times are in hours. */
type Model = { present: Set<Name>; needed: number; approvals: Map<Name, number>; hour: number; status: string };

function isActive(model: Model, name: Name): boolean {
  const since = model.approvals.get(name);
  return since !== undefined && model.hour < since + day;
}

/** While nobody could ever fulfil the policy, or its proposer is gone, it asks nobody. */
function isOpen({ present, needed }: Model): boolean {
  return present.has(proposer) && present.size >= needed;
}

function foretell(model: Model, step: Step): void {
  const { present, approvals } = model;
  if (step.kind === "expire") model.hour += day + 1;
  else if (step.kind === "edit") model.needed = 2;
  else if (step.kind === "delete") present.delete(step.who);
  else if (!present.has(step.who) || model.status !== "waiting") return;
  else if (step.kind === "reject") {
    if (isOpen(model) || step.who === proposer) model.status = "rejected";
  } else {
    const isUsed = step.kind === "approve" ? isActive(model, step.who) : approvals.has(step.who) || model.hour >= day;
    if (isUsed || !isOpen(model)) return;
    approvals.set(step.who, model.hour);
    const count = [...present].filter((name) => isActive(model, name)).length;
    if (count >= model.needed) model.status = "completed";
  }
}

for (const dialect of dialects) {
  test(`on ${dialect} every order of approve, reject, expire, edit and delete under a policy has the one outcome foretold`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));
    const stories = [...sample(allStories(), seed), ...sample(storiesOfApproval(), seed)];
    const outcomes: Record<string, number> = {};
    for (const story of stories) {
      const status = await live(rig, story);
      outcomes[status] = (outcomes[status] ?? 0) + 1;
    }
    t.diagnostic(`KEYSTEAD_SEED=${seed}: ${stories.length} orders on ${dialect}: ${JSON.stringify(outcomes)}`);
    assert.ok((outcomes.completed ?? 0) > 0 && (outcomes.rejected ?? 0) > 0 && (outcomes.waiting ?? 0) > 0);
  });
}

async function live(rig: GatewayRig, story: readonly Step[]): Promise<string> {
  const { organizationId, people } = await rig.newSubOrganization(1, ["boss"]);
  const [boss] = people as [Person];
  const within = { organizationId };
  const drafts = names.map((name) => newUser(name));
  const users = drafts.map(({ user }) => ({ ...user, userTags: [] }));
  const made = await rig.submit(boss, "create_users", { users }, within);
  const { userIds } = made.result.createUsersResult as { userIds: string[] };
  const personOf = (name: Name): Person => {
    const index = names.indexOf(name);
    return { userId: userIds[index] ?? "", userName: name, privateKey: drafts[index]?.privateKey ?? new Uint8Array() };
  };
  const consensus = (needed: number) =>
    `approvers.filter(user, user.id in [${userIds.map((id) => `'${id}'`).join(", ")}]).count() >= ${needed}`;
  const policy = { policyName: "together", effect: "EFFECT_ALLOW", condition: "activity.kind == 'CREATE_USER_TAG'" };
  const created = await rig.submit(boss, "create_policy", { ...policy, consensus: consensus(3), notes: "" }, within);
  const { policyId } = created.result.createPolicyResult as { policyId: string };

  const body = rig.body("create_user_tag", { userTagName: "wanted", userIds: [] }, within);
  const proposed = await rig.send(personOf(proposer), "create_user_tag", body);
  assert.equal(statusOf(proposed), "waiting");
  const { fingerprint } = proposed;
  const model: Model = {
    present: new Set(names),
    needed: 3,
    approvals: new Map([[proposer, 0]]),
    hour: 0,
    status: "waiting",
  };

  async function act(step: Step): Promise<void> {
    if (step.kind === "expire") rig.signer.clock.nowMs += (day + 1) * 3_600_000;
    else if (step.kind === "edit") {
      await rig.submit(boss, "update_policy", { policyId, policyConsensus: consensus(2) }, within);
    } else if (step.kind === "delete") {
      await rig.submit(boss, "delete_users", { userIds: [personOf(step.who).userId] }, within);
    } else await vote(step.kind, personOf(step.who));
  }
  async function vote(kind: Step["kind"], person: Person): Promise<void> {
    try {
      if (kind === "approve by stamping again") await rig.send(person, "create_user_tag", body);
      else {
        const path = kind === "approve" ? "approve_activity" : "reject_activity";
        await rig.submit(person, path, { fingerprint }, within);
      }
    } catch (error) {
      // Of somebody who is gone, who has no vote, or on something that is over. What came of it is compared below.
      if (!(error instanceof Fault) && !(error instanceof Refused)) throw error;
    }
  }

  for (const [index, step] of story.entries()) {
    await act(step);
    foretell(model, step);
    const row = await findActivity(rig.store, organizationId, proposed.id);
    const told = story.slice(0, index + 1).map((each) => ("who" in each ? `${each.kind} ${each.who}` : each.kind));
    assert.equal(row && statusOf(row), model.status, told.join(", "));
  }
  return model.status;
}
