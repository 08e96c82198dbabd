/** Races between votes, and between votes and what takes the right to vote away. */
import assert from "node:assert/strict";
import type { Answer } from "@keystead/e2e/wire.ts";
import { defineRace } from "./race.ts";
import { assertRefusedAs, type Organization, outcomeOf, type Person, type Stage, type Waiting } from "./stage.ts";

const wanted = { userTagName: "wanted", userIds: [] };
const takesNoVotes = /the activity is (completed|rejected) and takes no votes/;

type Ballot = { organization: Organization; waiting: Waiting };

/** An activity of the first user that waits for the others. */
async function ballot(stage: Stage, users: number, threshold: number): Promise<Ballot> {
  const organization = await stage.found({ users, threshold });
  const waiting = await stage.waits(organization, organization.people[0], "create_user_tag", wanted);
  return { organization, waiting };
}

function approval(stage: Stage, { organization, waiting }: Ballot, voter: Person) {
  return stage.stamped(organization, voter, "approve_activity", { fingerprint: waiting.fingerprint });
}

function rejection(stage: Stage, { organization, waiting }: Ballot, voter: Person) {
  return stage.stamped(organization, voter, "reject_activity", { fingerprint: waiting.fingerprint });
}

type Vote = { userId: string; selection: string };

/** Who voted, and how, as an activity shows it. */
function votesOf(activity: { votes: Vote[] }): string[] {
  return activity.votes.map(({ userId, selection }) => `${userId} ${selection.replace("VOTE_SELECTION_", "")}`);
}

const approved = ({ userId }: Person) => `${userId} APPROVED`;
const rejected = ({ userId }: Person) => `${userId} REJECTED`;

/** The tag is there if, and only if, the activity ran. */
async function assertRan(stage: Stage, { organization, waiting }: Ballot, reader: Person, ran: boolean) {
  const activity = await stage.activity(organization, reader, waiting.activityId);
  assert.deepEqual(await stage.tagNames(organization, reader), ran ? [wanted.userTagName] : []);
  return { ...activity, outcome: activity.status.replace("ACTIVITY_STATUS_", "") };
}

export const doubleVote = defineRace({
  name: "double vote: a user who approves many times at once has one vote",
  setUp: (stage) => ballot(stage, 3, 3),
  requests(fixture, stage) {
    const [, voter] = fixture.organization.people;
    const twice = approval(stage, fixture, voter);
    return [twice, twice, approval(stage, fixture, voter), stage.restamped(fixture.waiting, voter)];
  },
  async check(fixture, answers, stage) {
    const [proposer, voter] = fixture.organization.people;
    for (const answer of answers) {
      assert.equal(outcomeOf(answer), "CONSENSUS_NEEDED", answer.text);
      assert.deepEqual(votesOf(answer.json.activity), [approved(proposer), approved(voter)]);
    }
    const after = await assertRan(stage, fixture, proposer, false);
    assert.equal(after.outcome, "CONSENSUS_NEEDED");
    assert.deepEqual(votesOf(after), [approved(proposer), approved(voter)]);
    return "one vote";
  },
  endsAlike: "a vote that is given once more shows nothing of which one counted",
});

export const doubleExecute = defineRace({
  name: "double execute: of several completing votes one runs the activity, once",
  setUp: (stage) => ballot(stage, 4, 2),
  requests(fixture, stage) {
    const [, ...voters] = fixture.organization.people;
    return voters.flatMap((voter) => {
      const request = approval(stage, fixture, voter);
      return [request, request];
    });
  },
  async check(fixture, answers, stage) {
    const [proposer, ...voters] = fixture.organization.people;
    const after = await assertRan(stage, fixture, proposer, true);
    assert.equal(after.outcome, "COMPLETED");
    const winner = voters.findIndex((voter) => after.votes[1]?.userId === voter.userId);
    assert.deepEqual(votesOf(after), [approved(proposer), approved(voters[winner] as Person)]);
    answers.forEach((answer, index) => {
      if (Math.floor(index / 2) !== winner) assertRefusedAs(answer, 403, takesNoVotes);
      else assert.deepEqual(answer.json.activity, answers[winner * 2]?.json.activity);
    });
    assert.equal(outcomeOf(answers[winner * 2] as Answer), "COMPLETED");
    return `voter ${winner + 1}`;
  },
});

/** The approval that completes it against a rejection by whoever: one of them counts. */
function againstReject(name: string, rejecterIndex: 0 | 2) {
  return defineRace({
    name,
    setUp: (stage) => ballot(stage, 3, 2),
    requests: (fixture, stage) => [
      approval(stage, fixture, fixture.organization.people[1]),
      rejection(stage, fixture, fixture.organization.people[rejecterIndex]),
    ],
    async check(fixture, [yes, no], stage) {
      const { people } = fixture.organization;
      const ran = outcomeOf(yes) === "COMPLETED";
      const after = await assertRan(stage, fixture, people[0], ran);
      assertRefusedAs(ran ? no : yes, 403, takesNoVotes);
      assert.equal(outcomeOf(ran ? yes : no), after.outcome);
      assert.equal(after.outcome, ran ? "COMPLETED" : "REJECTED");
      assert.deepEqual(votesOf(after), [
        approved(people[0]),
        ran ? approved(people[1]) : rejected(people[rejecterIndex]),
      ]);
      return ran ? "approved" : "rejected";
    },
  });
}

export const voteAgainstReject = againstReject("vote against reject: what was rejected never runs", 2);
export const takingBack = againstReject("the proposer takes it back while the completing vote arrives", 0);

export const restampAgainstApproval = defineRace({
  name: "the body stamped again and approve_activity by one user are one vote",
  setUp: (stage) => ballot(stage, 3, 2),
  requests(fixture, stage) {
    const [, voter] = fixture.organization.people;
    return [stage.restamped(fixture.waiting, voter), approval(stage, fixture, voter)];
  },
  async check(fixture, answers, stage) {
    const [proposer, voter] = fixture.organization.people;
    for (const answer of answers) assert.equal(outcomeOf(answer), "COMPLETED", answer.text);
    const after = await assertRan(stage, fixture, proposer, true);
    assert.deepEqual(votesOf(after), [approved(proposer), approved(voter)]);
    const isStamp = after.votes[1].message === fixture.waiting.body;
    return isStamp ? "by stamp" : "by approve_activity";
  },
});

export const deletedVoter = defineRace({
  name: "a user is deleted while it votes: the vote counts before, and never after",
  async setUp(stage) {
    const organization = await stage.found({ users: 1, threshold: 1 });
    const proposer = await stage.member(organization);
    const voter = await stage.member(organization);
    const both = [proposer, voter].map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(" && ");
    await stage.allow(organization, "ACTIVITY_TYPE_CREATE_USER_TAG", both);
    const waiting = await stage.waits(organization, proposer, "create_user_tag", wanted);
    return { organization, waiting, proposer, voter };
  },
  requests: (fixture, stage) => [
    approval(stage, fixture, fixture.voter),
    stage.stamped(fixture.organization, fixture.organization.people[0], "delete_users", {
      userIds: [fixture.voter.userId],
    }),
  ],
  async check(fixture, [vote, removal], stage) {
    const [root] = fixture.organization.people;
    assert.equal(outcomeOf(removal), "COMPLETED", removal.text);
    const ran = outcomeOf(vote) === "COMPLETED";
    if (!ran) assertRefusedAs(vote, 401, /could not find public key/);
    const after = await assertRan(stage, fixture, root, ran);
    assert.equal(after.outcome, ran ? "COMPLETED" : "CONSENSUS_NEEDED");
    assert.deepEqual(votesOf(after), [approved(fixture.proposer), ...(ran ? [approved(fixture.voter)] : [])]);
    assertRefusedAs(await stage.send(approval(stage, fixture, fixture.voter)), 401, /could not find public key/);
    return ran ? "voted first" : "deleted first";
  },
});

export const voterLeavesQuorum = defineRace({
  name: "a member leaves the root quorum while it votes: it votes before, and never after",
  async setUp(stage) {
    const organization = await stage.found({ users: 4, threshold: 2 });
    const [proposer, , , other] = organization.people;
    const waiting = await stage.waits(organization, proposer, "create_user_tag", wanted);
    const left = organization.people.filter((_, index) => index !== 1).map(({ userId }) => userId);
    const leaving = await stage.waits(organization, other, "update_root_quorum", { threshold: 2, userIds: left });
    return { organization, waiting, leaving };
  },
  requests: (fixture, stage) => [
    approval(stage, fixture, fixture.organization.people[1]),
    approval(stage, { ...fixture, waiting: fixture.leaving }, fixture.organization.people[2]),
  ],
  async check(fixture, [vote, leave], stage) {
    const { people } = fixture.organization;
    assert.equal(outcomeOf(leave), "COMPLETED", leave.text);
    const ran = outcomeOf(vote) === "COMPLETED";
    if (!ran) assertRefusedAs(vote, 403, /this user has no vote on this activity/);
    const after = await assertRan(stage, fixture, people[0], ran);
    assert.equal(after.outcome, ran ? "COMPLETED" : "CONSENSUS_NEEDED");
    const { userIds } = await stage.quorum(fixture.organization, people[0]);
    assert.ok(!userIds.includes(people[1].userId));
    return ran ? "voted first" : "left first";
  },
});
