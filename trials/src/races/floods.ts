/** Races against users who send as much as they can. */
import assert from "node:assert/strict";
import { defineRace } from "./race.ts";
import { assertRefusedAs, type Organization, outcomeOf, type Person, type Stage, type Stamped } from "./stage.ts";

/** For `KEYSTEAD_LIMITS`: places run out within a trial. */
export const floodLimits = { pendingActivitiesPerUser: 4, pendingActivitiesPerOrganization: 6 };

const flooded = 12;
const noPlace = /reached its limit of [46] activities that wait for consensus/;
const unknownKey = /could not find public key/;

/** Two members of a quorum of two, and two users who may propose tags and no more. */
async function proposers(stage: Stage) {
  const organization = await stage.found({ users: 2, threshold: 1 });
  const [a, b] = organization.people;
  const [flooder, accomplice] = [await stage.member(organization), await stage.member(organization)];
  const consensus = `approvers.any(user, user.id == '${a.userId}') && approvers.count() >= 2`;
  await stage.allow(organization, "ACTIVITY_TYPE_CREATE_USER_TAG", consensus);
  const quorum = { threshold: 2, userIds: [a.userId, b.userId] };
  await stage.done(organization, a, "update_root_quorum", quorum);
  return { organization, flooder, accomplice };
}

function proposal(stage: Stage, organization: Organization, person: Person): Stamped {
  return stage.stamped(organization, person, "create_user_tag", { userTagName: crypto.randomUUID(), userIds: [] });
}

export const floodedQuorum = defineRace({
  name: "a user floods the organization with proposals while its quorum removes the user: the quorum needs one try",
  async setUp(stage) {
    const fixture = await proposers(stage);
    const { organization, flooder, accomplice } = fixture;
    // Some places, or all of them, are taken before.
    const taken = stage.random.below(floodLimits.pendingActivitiesPerOrganization + 1);
    for (let place = 0; place < taken; place++) {
      const person = place < floodLimits.pendingActivitiesPerUser ? flooder : accomplice;
      assert.equal(outcomeOf(await stage.send(proposal(stage, organization, person))), "CONSENSUS_NEEDED");
    }
    return { ...fixture, taken };
  },
  requests({ organization, flooder, accomplice }, stage) {
    const [a, b] = organization.people;
    const removal = stage.stamped(organization, a, "delete_users", { userIds: [flooder.userId] });
    return [
      removal,
      stage.restamped({ ...removal, activityId: "", fingerprint: "" }, b),
      ...Array.from({ length: flooded }, (_, index) =>
        proposal(stage, organization, index % 4 === 3 ? accomplice : flooder),
      ),
    ];
  },
  async check({ organization, flooder, taken }, [one, other, ...flood], stage) {
    const [a] = organization.people;
    // Whoever came first has proposed it, and the other has approved it.
    const outcomes = [outcomeOf(one), outcomeOf(other)].sort();
    assert.ok(
      ["COMPLETED,COMPLETED", "COMPLETED,CONSENSUS_NEEDED"].includes(outcomes.join()),
      `${one.text}\n${other.text}`,
    );
    const { users } = await stage.ask(organization, a, "list_users");
    assert.ok(users.every(({ userId }: Person) => userId !== flooder.userId));
    for (const answer of flood) {
      if (answer.status === 401) assertRefusedAs(answer, 401, unknownKey);
      else if (answer.status !== 200) assertRefusedAs(answer, 429, noPlace);
      else assert.equal(outcomeOf(answer), "CONSENSUS_NEEDED");
    }
    assertRefusedAs(await stage.send(proposal(stage, organization, flooder)), 401, unknownKey);
    const waiting = taken + flood.filter(({ status }) => status === 200).length;
    assert.ok(waiting <= floodLimits.pendingActivitiesPerOrganization, `${waiting} wait`);
    const wasCut = flood.some(({ status }) => status === 401);
    return `${taken === floodLimits.pendingActivitiesPerOrganization ? "all" : "some"} places taken, removed ${wasCut ? "during" : "after"} the flood`;
  },
});

/** A thousand and one proposals, as many as there were places once for everybody. */
export async function assertUsualLimits(stage: Stage): Promise<void> {
  const { organization, flooder } = await proposers(stage);
  const [a, b] = organization.people;
  const answers = await stage.sendAll(Array.from({ length: 1_001 }, () => proposal(stage, organization, flooder)));
  assert.equal(answers.filter((answer) => answer.status === 200).length, 200);
  for (const answer of answers) {
    if (answer.status !== 200) assertRefusedAs(answer, 429, /limit of 200 activities that wait for consensus: reject/);
  }
  const removal = await stage.waits(organization, a, "delete_users", { userIds: [flooder.userId] });
  assert.equal(outcomeOf(await stage.send(stage.restamped(removal, b))), "COMPLETED");
}
