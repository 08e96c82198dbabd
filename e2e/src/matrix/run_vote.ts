/** The matrix for approve_activity and reject_activity. Their effect is on another activity, which is also their answer. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import { activities } from "../generated/endpoints.ts";
import { invalid } from "../refusals.ts";
import { assertAccepted, assertRefused, bytesOf, stampFields } from "../wire.ts";
import type { Person } from "../world.ts";
import { type ActivityPath, type Envelope, envelope, type Fixture, type Json } from "./fixture.ts";
import { foreignIds, idsOfNothing } from "./foreign.ts";
import { assertOnlyKept, look } from "./look.ts";
import { refused, refuseMalformed, refuseRelatives, refuseStamps, refuseStrangers, type Trial } from "./trial.ts";
import { noSuchActivity, noVote, takesNoVotes, type VoteEntry } from "./votes.ts";

export async function runVote(t: TestContext, path: ActivityPath, entry: VoteEntry, fixture: Fixture): Promise<void> {
  const { root, deputy } = fixture.place;
  await fixture.done("update_root_quorum", { threshold: 2, userIds: [root.userId, deputy.userId] });
  const trial: Trial = {
    fixture,
    kind: "submit",
    path,
    caller: deputy,
    body: async () => voteOn(path, fixture, await propose(fixture)),
    required: ["fingerprint"],
  };
  await t.test(`${path}: bad input`, () => testBadInput(trial));
  await t.test(`${path}: bad stamp`, () => assertUncounted(trial, (votes) => refuseStamps(votes)));
  await t.test(`${path}: no permission`, () => assertUncounted(trial, refuseMember));
  await t.test(`${path}: other organization`, async () => {
    await assertUncounted(trial, refuseStrangers);
    await assertUncounted(trial, refuseRelatives);
    await testForeign(trial);
  });
  await t.test(`${path}: success and replay`, () => testSuccess(trial, entry));
  await t.test(`${path}: the proposer`, () => testProposer(trial, entry));
}

/** An activity that waits for its second approval. */
async function propose(fixture: Fixture): Promise<Json> {
  const answer = await fixture.submit("create_user_tag", { userTagName: randomUUID(), userIds: [] });
  assertAccepted(answer);
  assert.equal(answer.json.activity.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  return answer.json.activity;
}

function voteOn(path: string, { place }: Fixture, { fingerprint }: Pick<Json, "fingerprint">): Envelope {
  return envelope(activities[path as ActivityPath].type, place.organizationId, { fingerprint });
}

/** Refusals leave the activity they were about as it was, and nothing of their own. */
async function assertUncounted(trial: Trial, attempt: (trial: Trial) => Promise<void>): Promise<void> {
  const { fixture, path } = trial;
  const { id, fingerprint } = await propose(fixture);
  const { activity: before } = await fixture.ask("get_activity", { activityId: id });
  await assertOnlyKept(fixture, () => attempt({ ...trial, body: async () => voteOn(path, fixture, { fingerprint }) }));
  const { activity: after } = await fixture.ask("get_activity", { activityId: id });
  assert.deepEqual(after, before);
}

async function testBadInput(trial: Trial): Promise<void> {
  const { fixture, caller, path } = trial;
  await assertUncounted(trial, refuseMalformed);
  const { fingerprint } = await propose(fixture);
  await assertOnlyKept(fixture, async () => {
    for (const wrong of ["", "x", fingerprint.slice(7), `${fingerprint}0`, fingerprint.replace("sha256", "sha1")]) {
      const body = voteOn(path, fixture, { fingerprint: wrong });
      await refused(trial, `the fingerprint ${wrong}`, { body, key: caller.p256 }, noSuchActivity);
    }
    const body = voteOn(path, fixture, { fingerprint: fingerprint.repeat(3) });
    const message = "invalid request body: field `parameters.fingerprint` must not have more than 200 characters";
    await refused(trial, "a fingerprint without end", { body, key: caller.p256 }, invalid(message));
  });
}

async function refuseMember(trial: Trial): Promise<void> {
  await refused(trial, "a member", { body: await trial.body(), key: trial.fixture.place.member.p256 }, noVote);
}

/** What waits, or is done, in another organization answers like what was never there. */
async function testForeign(trial: Trial): Promise<void> {
  const { fixture, caller, path } = trial;
  const theirs = [idsOfNothing(), await foreignIds(fixture, fixture.sub), await foreignIds(fixture, fixture.other)];
  await assertOnlyKept(fixture, async () => {
    for (const target of theirs) {
      const body = voteOn(path, fixture, target);
      await refused(trial, "another organization's activity", { body, key: caller.p256 }, noSuchActivity);
    }
  });
}

async function testSuccess(trial: Trial, entry: VoteEntry): Promise<void> {
  const { fixture, caller, path } = trial;
  const { root, member } = fixture.place;
  const target = await propose(fixture);
  const before = await look(fixture);
  const body = voteOn(path, fixture, target);
  const send = (voter: Person) => fixture.send({ kind: "submit", path, body, key: voter.p256 });
  const answer = await send(caller);
  assertAccepted(answer);
  checkTarget(answer.json, target, body, entry, caller);
  const after = await look(fixture);
  assert.equal(after.userTags.length, before.userTags.length + (entry.status === "ACTIVITY_STATUS_COMPLETED" ? 1 : 0));

  await assertOnlyKept(fixture, async () => {
    assert.deepEqual((await send(caller)).json, answer.json);
    const published = await fixture.send({ kind: "submit", path, body, key: caller.p256, spelling: "published" });
    assert.equal(published.json.activity.id, target.id);
    assertRefused(await send(member), takesNoVotes(entry.status));
    // The proposer has approved it by submitting it; it has not rejected it.
    const again = await send(root);
    if (entry.selection === "VOTE_SELECTION_APPROVED") assert.deepEqual(again.json, answer.json);
    else assertRefused(again, takesNoVotes(entry.status));
    // The same vote in other bytes is no other vote.
    const anew = voteOn(path, fixture, target);
    const repeated = await fixture.send({ kind: "submit", path, body: anew, key: caller.p256 });
    assert.deepEqual(repeated.json, answer.json);
  });
}

/** What a vote may change of the activity it is about. */
const votable = ["result", "votes", "status", "updatedAt", "canReject"];

function checkTarget({ activity }: Json, target: Json, body: Envelope, entry: VoteEntry, voter: Person): void {
  assert.deepEqual(without(activity, votable), without(target, votable));
  assert.equal(activity.status, entry.status);
  assert.equal(activity.canReject, false);
  const isDone = entry.status === "ACTIVITY_STATUS_COMPLETED";
  assert.deepEqual(Object.keys(activity.result), isDone ? ["createUserTagResult"] : []);
  assert.deepEqual(activity.votes.slice(0, -1), target.votes);
  const vote = activity.votes.at(-1);
  assert.equal(vote.user.userName, voter.userName);
  assert.deepEqual(without(vote, ["id", "user", "createdAt"]), {
    userId: voter.userId,
    activityId: target.id,
    selection: entry.selection,
    message: JSON.stringify(body),
    ...stampFields(voter.p256, bytesOf(body)),
  });
}

function without(record: Json, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

/** The proposer's own approval adds nothing; it may take the activity back. */
async function testProposer({ fixture, path }: Trial, entry: VoteEntry): Promise<void> {
  const target = await propose(fixture);
  const body = voteOn(path, fixture, target);
  const answer = await fixture.send({ kind: "submit", path, body, key: fixture.place.root.p256 });
  assertAccepted(answer);
  if (entry.proposerMay) checkTarget(answer.json, target, body, entry, fixture.place.root);
  else assert.deepEqual(answer.json.activity, target);
}
