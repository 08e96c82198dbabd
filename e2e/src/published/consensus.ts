/** Two of two: what one root user proposes, the other approves or rejects, each with either published client. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { assertActivityCompleted, TurnkeyActivityConsensusNeededError, TurnkeyActivityError } from "@turnkey/http";
import { createKey } from "../key_pairs.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import { apiKeyOf, at, foundOrganization, type Person, refusalOf, wording } from "./clients.ts";
import { approvalBody, rejectionBody, type TagBody, tagBody } from "./requests.ts";

type Approval = (person: Person, fingerprint: string, body: TagBody) => ReturnType<Person["http"]["createUserTag"]>;

/** Every way to say yes to an activity that waits. */
const approvals: Record<string, Approval> = {
  "approveActivity of the server client": ({ sdk }, fingerprint) => sdk.approveActivity({ fingerprint }),
  "approveActivity of the http client": (person, fingerprint) =>
    person.http.approveActivity(approvalBody(person, fingerprint)),
  "the same bytes, stamped and sent by the server client": ({ sdk }, _fingerprint, body) => {
    const { parameters, organizationId, timestampMs } = body;
    return sdk.createUserTag({ ...parameters, organizationId, timestampMs });
  },
  "the same bytes, stamped and sent by the http client": ({ http }, _fingerprint, body) => http.createUserTag(body),
};

/** Two root users who must agree, and a third user who has no vote. */
async function foundPair(server: KeysteadServer, root: Person): Promise<[Person, Person, Person]> {
  const people = await foundOrganization(server, root, ["First", "Second", "Bystander"]);
  const [first, second, bystander] = [at(people, 0), at(people, 1), at(people, 2)];
  await first.sdk.updateRootQuorum({ threshold: 2, userIds: [first.userId, second.userId] });
  return [first, second, bystander];
}

export async function consensus(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [first, second, bystander] = await foundPair(server, root);

  for (const [way, approval] of Object.entries(approvals)) {
    await t.test(`approved by ${way}, an activity completes as itself`, async () => {
      const body = tagBody(first, way);
      const { activity: proposed } = await first.http.createUserTag(body);
      assert.equal(proposed.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
      assert.deepEqual(proposed.result, {});
      assert.deepEqual([proposed.canApprove, proposed.canReject], [false, true]);
      assert.throws(() => assertActivityCompleted(proposed), TurnkeyActivityConsensusNeededError);

      const { activity } = await approval(second, proposed.fingerprint, body);
      assertActivityCompleted(activity);
      assert.equal(activity.id, proposed.id);
      assert.equal(activity.type, "ACTIVITY_TYPE_CREATE_USER_TAG");
      assert.deepEqual(activity.intent, { createUserTagIntent: body.parameters });
      assert.ok(activity.result.createUserTagResult?.userTagId);
      assert.deepEqual([activity.canApprove, activity.canReject], [false, false]);

      const [one, two] = [at(activity.votes, 0), at(activity.votes, 1)];
      assert.equal(activity.votes.length, 2);
      assert.deepEqual([one.userId, two.userId], [first.userId, second.userId]);
      assert.deepEqual([one.user.userName, two.user.userName], ["First", "Second"]);
      assert.deepEqual([one.publicKey, two.publicKey], [first.key.publicKey, second.key.publicKey]);
      assert.equal(one.message, JSON.stringify(body));
      const stamped = JSON.parse(two.message);
      if (way.startsWith("approveActivity"))
        assert.deepEqual(stamped.parameters, { fingerprint: proposed.fingerprint });
      else assert.equal(two.message, one.message);
      for (const vote of activity.votes) {
        assert.equal(vote.selection, "VOTE_SELECTION_APPROVED");
        assert.equal(vote.activityId, activity.id);
        assert.equal(vote.scheme, "SIGNATURE_SCHEME_TK_API_P256");
      }
    });
  }

  await t.test("the server client hands out the result of what it approved, under its own key", async () => {
    const { activity } = await first.http.createUserTag(tagBody(first, "flattened"));
    const approved = await second.sdk.approveActivity({ fingerprint: activity.fingerprint });
    const { userTagId } = (approved as unknown as { createUserTagResult: { userTagId: string } }).createUserTagResult;
    assert.equal(userTagId, approved.activity.result.createUserTagResult?.userTagId);
  });

  await t.test("nothing happens before the second approval, and it happens once", async () => {
    const key = createKey();
    const parameters = {
      users: [{ userName: "New", apiKeys: [apiKeyOf(key)], authenticators: [], oauthProviders: [], userTags: [] }],
    };
    const { organizationId } = first;
    const { activity: proposed } = await first.http.createUsers({
      parameters,
      organizationId,
      timestampMs: String(Date.now()),
      type: "ACTIVITY_TYPE_CREATE_USERS_V4",
    });
    const countNew = async () => (await first.sdk.getUsers()).users.filter(({ userName }) => userName === "New").length;
    assert.equal(await countNew(), 0);
    const body = approvalBody(second, proposed.fingerprint);
    const answers = [await second.http.approveActivity(body), await second.http.approveActivity(body)];
    const again = await second.sdk.approveActivity({ fingerprint: proposed.fingerprint });
    for (const { activity } of [...answers, again]) {
      assert.equal(activity.id, proposed.id);
      assert.equal(activity.votes.length, 2);
      assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
    }
    assert.equal(await countNew(), 1);
  });

  await t.test("a proposer's second yes adds nothing, however it is said", async () => {
    const body = tagBody(first, "alone");
    const { activity: proposed } = await first.http.createUserTag(body);
    for (const [way, approval] of Object.entries(approvals)) {
      const { activity } = await approval(first, proposed.fingerprint, body);
      assert.equal(activity.id, proposed.id);
      assert.equal(activity.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED", way);
      assert.equal(activity.votes.length, 1, way);
    }
  });

  for (const [who, person] of [
    ["the other", second],
    ["the proposer", first],
  ] as const) {
    await t.test(`rejected by ${who}, an activity is over, and no later vote changes it`, async () => {
      for (const client of ["sdk", "http"] as const) {
        const body = tagBody(first, `rejected by ${who} with ${client}`);
        const { activity: proposed } = await first.http.createUserTag(body);
        const { fingerprint } = proposed;
        const { activity } =
          client === "sdk"
            ? await person.sdk.rejectActivity({ fingerprint })
            : await person.http.rejectActivity(rejectionBody(person, fingerprint));
        assert.equal(activity.id, proposed.id);
        assert.equal(activity.status, "ACTIVITY_STATUS_REJECTED");
        assert.equal(activity.votes.at(-1)?.selection, "VOTE_SELECTION_REJECTED");
        assert.throws(() => assertActivityCompleted(activity), TurnkeyActivityError);

        const late = await refusalOf(second.sdk.approveActivity({ fingerprint }));
        assert.equal(late.code, 7);
        // The bytes themselves are not a way around it: they answer what became of them.
        const { activity: resent } = await second.http.createUserTag(body);
        assert.equal(resent.id, proposed.id);
        assert.equal(resent.status, "ACTIVITY_STATUS_REJECTED");
      }
    });
  }

  await t.test("who has no vote is refused, and the activity still waits", async () => {
    const body = tagBody(first, "not yours");
    const { activity: proposed } = await first.http.createUserTag(body);
    for (const [way, approval] of Object.entries(approvals)) {
      assert.equal((await refusalOf(approval(bystander, proposed.fingerprint, body))).code, 7, way);
    }
    assert.equal((await refusalOf(bystander.sdk.rejectActivity({ fingerprint: proposed.fingerprint }))).code, 7);
    const { activity } = await first.http.createUserTag(body);
    assert.equal(activity.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert.equal(activity.votes.length, 1);
  });

  await t.test("what fails after its approval is answered as failed, not refused", async () => {
    const now = Date.now();
    const proposals = [tagBody(first, "contested", now), tagBody(first, "contested", now + 1)];
    const [winner, loser] = await Promise.all(proposals.map((body) => first.http.createUserTag(body)));
    assert.ok(winner !== undefined && loser !== undefined);
    await second.sdk.approveActivity({ fingerprint: winner.activity.fingerprint });
    const { activity } = await second.sdk.approveActivity({ fingerprint: loser.activity.fingerprint });
    assert.equal(activity.status, "ACTIVITY_STATUS_FAILED");
    assert.equal(activity.failure?.code, 3);
    assert.equal(activity.failure?.message, "user tag label must be unique: `contested` exists");
    assert.deepEqual(activity.result, {});
    assert.throws(() => assertActivityCompleted(activity), /Expected COMPLETED status, got ACTIVITY_STATUS_FAILED/);
  });

  await t.test("yes said four ways at the same moment is one vote, and all hear the same", async () => {
    const body = tagBody(first, "crowd");
    const { activity: proposed } = await first.http.createUserTag(body);
    const calls = Object.values(approvals).map((approval) => approval(second, proposed.fingerprint, body));
    for (const { activity } of await Promise.all(calls)) {
      assert.equal(activity.id, proposed.id);
      assertActivityCompleted(activity);
      assert.equal(activity.votes.length, 2);
    }
  });

  await t.test("yes and no at the same moment have one outcome, and the loser hears of it", async () => {
    // Of its own: an organization has room for few tags.
    const [first, second] = await foundPair(server, root);
    for (let round = 0; round < 8; round++) {
      const { activity: proposed } = await first.http.createUserTag(tagBody(first, `race ${round}`));
      const { fingerprint, id: activityId } = proposed;
      const answers = await Promise.allSettled([
        second.sdk.approveActivity({ fingerprint }),
        first.sdk.rejectActivity({ fingerprint }),
      ]);
      const { activity } = await first.sdk.getActivity({ activityId });
      const [winner, loser] = activity.status === "ACTIVITY_STATUS_COMPLETED" ? answers : answers.reverse();
      assert.ok(winner?.status === "fulfilled" && loser?.status === "rejected");
      assert.equal(winner.value.activity.status, activity.status);
      assert.equal(loser.reason.code, 7);
    }
  });

  await t.test("a vote on what was never proposed finds nothing", async () => {
    const fingerprint = `sha256:${"0".repeat(64)}`;
    const expected = wording(
      5,
      "No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint",
    );
    assert.equal((await refusalOf(second.sdk.approveActivity({ fingerprint }))).message, expected);
    assert.equal((await refusalOf(second.http.rejectActivity(rejectionBody(second, fingerprint)))).message, expected);
    // Nor does one from another organization, even its parent.
    const { activity } = await first.http.createUserTag(tagBody(first, "elsewhere"));
    assert.equal((await refusalOf(root.sdk.approveActivity({ fingerprint: activity.fingerprint }))).message, expected);
  });

  await t.test("getActivity and getActivities show each reader what it could do", async () => {
    const { activity: proposed } = await first.http.createUserTag(tagBody(first, "shown"));
    const rights = async (person: Person) => {
      const { activity } = await person.sdk.getActivity({ activityId: proposed.id });
      assert.equal(activity.id, proposed.id);
      assert.equal(activity.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
      return [activity.canApprove, activity.canReject];
    };
    assert.deepEqual(await rights(first), [false, true]);
    assert.deepEqual(await rights(second), [true, true]);
    assert.deepEqual(await rights(bystander), [false, false]);
    const { activities } = await second.sdk.getActivities({
      filterByStatus: ["ACTIVITY_STATUS_CONSENSUS_NEEDED"],
      filterByType: ["ACTIVITY_TYPE_CREATE_USER_TAG"],
    });
    assert.equal(activities[0]?.id, proposed.id);
    assert.equal(activities[0]?.canApprove, true);
  });
}
