/**
 * Every order in which an approval, a rejection, the passing of a day, a change of the quorum and the deletion of a user can
 * meet a waiting activity of three users: each has one outcome, which a model tells beforehand, on both databases.
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
import { createGatewayRig, type GatewayRig, type Person, Refused } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { findActivity } from "../../store/activities.ts";

/** What the rules say, without any of our code. Times are in hours. */
type Model = { members: Set<Name>; threshold: number; approvals: Map<Name, number>; hour: number; status: string };

function newModel(): Model {
  return { members: new Set(names), threshold: 3, approvals: new Map([[proposer, 0]]), hour: 0, status: "waiting" };
}

function isActive(model: Model, name: Name): boolean {
  const since = model.approvals.get(name);
  return since !== undefined && model.hour < since + day;
}

function foretell(model: Model, step: Step): void {
  const { members, approvals } = model;
  if (step.kind === "expire") model.hour += day + 1;
  else if (step.kind === "edit") model.threshold = Math.max(1, members.size - 1);
  else if (step.kind === "delete") {
    members.delete(step.who);
    model.threshold = Math.min(model.threshold, members.size);
  } else if (!members.has(step.who) || model.status !== "waiting") return;
  else if (step.kind === "reject") model.status = "rejected";
  else {
    // A stamp over the body itself cannot be told from a copy of itself: it counts once, and on the submission's day only.
    const isUsed = step.kind === "approve" ? isActive(model, step.who) : approvals.has(step.who) || model.hour >= day;
    if (isUsed) return;
    approvals.set(step.who, model.hour);
    const count = [...members].filter((name) => isActive(model, name)).length;
    if (count >= model.threshold) model.status = "completed";
  }
}

for (const dialect of dialects) {
  test(`on ${dialect} every order of approve, reject, expire, edit and delete has the one outcome foretold`, async (t) => {
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
  const { organizationId, people } = await rig.newSubOrganization(3, names);
  const personOf = (name: Name) => people.find(({ userName }) => userName === name) as Person;
  const body = rig.body("create_user_tag", { userTagName: "wanted", userIds: [] }, { organizationId });
  const proposed = await rig.send(personOf(proposer), "create_user_tag", body);
  assert.equal(statusOf(proposed), "waiting");
  const { fingerprint } = proposed;
  const model = newModel();
  /** Someone proposes, the others approve as far as it needs them. */
  async function decree(path: "update_root_quorum" | "delete_users", parameters: unknown): Promise<void> {
    const [first, ...others] = [...model.members].map(personOf);
    if (first === undefined) throw new Error("nobody is left");
    let activity = await rig.submit(first, path, parameters, { organizationId });
    for (const other of others) {
      if (statusOf(activity) !== "waiting") break;
      const vote = { fingerprint: activity.fingerprint };
      activity = await rig.submit(other, "approve_activity", vote, { organizationId });
    }
    assert.equal(statusOf(activity), "completed");
  }
  const idsOf = (members: Iterable<Name>) => [...members].map((name) => personOf(name).userId);

  async function act(step: Step): Promise<void> {
    if (step.kind === "expire") rig.signer.clock.nowMs += (day + 1) * 3_600_000;
    else if (step.kind === "edit") {
      const threshold = Math.max(1, model.members.size - 1);
      await decree("update_root_quorum", { threshold, userIds: idsOf(model.members) });
    } else if (step.kind === "delete") {
      const left = [...model.members].filter((name) => name !== step.who);
      const threshold = Math.min(model.threshold, left.length);
      await decree("update_root_quorum", { threshold, userIds: idsOf(left) });
      // The one who is to go has no vote on it any more.
      model.members.delete(step.who);
      model.threshold = threshold;
      await decree("delete_users", { userIds: [personOf(step.who).userId] });
    } else await vote(step.kind, personOf(step.who));
  }
  async function vote(kind: Step["kind"], person: Person): Promise<void> {
    try {
      if (kind === "approve by stamping again") await rig.send(person, "create_user_tag", body);
      else {
        const path = kind === "approve" ? "approve_activity" : "reject_activity";
        await rig.submit(person, path, { fingerprint }, { organizationId });
      }
    } catch (error) {
      // Of somebody who is gone, or on something that is over. What came of it is compared below.
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
