import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import { testCaller } from "../../test/caller.ts";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { birth, newActivity, newUser, nowMs, signing } from "../../test/store_items.ts";
import type { User } from "../state/entities.ts";
import { encodePage } from "../state/pages.ts";
import { commitGroup } from "../store/commit.ts";
import type { CommitItem } from "../store/commit_item.ts";
import { dialectOf } from "../views/dialect.ts";
import { getActivity } from "./get_activity.ts";
import { listActivities } from "./list_activities.ts";

type View = {
  id: string;
  organizationId: string;
  status: string;
  canApprove: boolean;
  canReject: boolean;
  votes: Vote[];
};
type Vote = { userId: string; message: string };

const tagType = "ACTIVITY_TYPE_CREATE_USER_TAG";

function activityBy(user: User, status: string) {
  const vote = { id: randomUUID(), user, selection: "VOTE_SELECTION_APPROVED", createdAtMs: nowMs };
  const envelope = { type: tagType, timestampMs: String(nowMs), organizationId: randomUUID() };
  const body = Buffer.from(JSON.stringify({ ...envelope, parameters: { userTagName: randomUUID(), userIds: [] } }));
  return newActivity({ status, type: tagType, body, votes: JSON.stringify([vote]) });
}

for (const dialect of dialects) {
  describe(`reading activities on ${dialect}`, () => {
    /** Two root users of a quorum of two; the first has proposed what waits, and what is over. A parent, and a stranger. */
    async function consensus(t: TestContext) {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return undefined;
      const [parent, organizationId, stranger]: [string, string, string] = [randomUUID(), randomUUID(), randomUUID()];
      const [proposer, other] = [newUser(), newUser()];
      const users = [proposer, other];
      const [waiting, over] = [
        activityBy(proposer, "ACTIVITY_STATUS_CONSENSUS_NEEDED"),
        activityBy(proposer, "ACTIVITY_STATUS_COMPLETED"),
      ];
      const pages = [
        {
          name: "members",
          content: encodePage("members", {
            users: new Map(users.map((user) => [user.userId, user])),
            userTags: new Map(),
            rootQuorum: { threshold: 2, userIds: users.map(({ userId }) => userId) },
          }),
        },
        {
          name: "pending",
          content: encodePage(
            "pending",
            new Map([
              [
                waiting.fingerprint,
                {
                  fingerprint: waiting.fingerprint,
                  activityId: waiting.activityId,
                  proposerId: proposer.userId,
                  createdAtMs: Date.now(),
                  approvals: [{ userId: proposer.userId, credentialId: randomUUID(), atMs: Date.now() }],
                },
              ],
            ]),
          ),
        },
      ];
      const born = birth(organizationId, users, parent);
      const items: CommitItem[] = [
        birth(parent),
        birth(stranger),
        { ...born, next: { version: 1, header: Buffer.alloc(1), directory: Buffer.alloc(1), pages } },
        signing(organizationId, 1, { activity: waiting }),
        signing(organizationId, 1, { activity: over }),
      ];
      assert.deepEqual((await commitGroup(store, items, [])).committed, [true, true, true, true, true]);
      const caller = (userId: string) => testCaller({ organizationId, userId });
      const ours = dialectOf(undefined);
      const list = async (userId: string, request: object) => {
        const body = { organizationId, ...request };
        return (await listActivities.run(store, caller(userId), body, ours)).activities as View[];
      };
      const get = async (userId: string, named: string, activityId: string) => {
        const body = { organizationId: named, activityId };
        return (await getActivity.run(store, caller(userId), body, ours)).activity as View;
      };
      return { list, get, parent, organizationId, stranger, proposer, other, waiting, over };
    }

    test("a list and a single activity say the same, for each reader what that reader can do", async (t) => {
      const found = await consensus(t);
      if (found === undefined) return;
      const { list, get, organizationId, proposer, other, waiting, over } = found;
      const expected = [
        [proposer.userId, { canApprove: false, canReject: true }],
        [other.userId, { canApprove: true, canReject: true }],
        [randomUUID(), { canApprove: false, canReject: false }],
      ] as const;
      for (const [userId, rights] of expected) {
        const activities = await list(userId, {});
        assert.equal(activities.length, 2);
        for (const activity of activities) assert.deepEqual(activity, await get(userId, organizationId, activity.id));
        const { canApprove, canReject } = await get(userId, organizationId, waiting.activityId);
        assert.deepEqual({ canApprove, canReject }, rights);
        const final = await get(userId, organizationId, over.activityId);
        assert.deepEqual([final.canApprove, final.canReject], [false, false]);
      }
    });

    test("votes carry the voter and the bytes that were stamped", async (t) => {
      const found = await consensus(t);
      if (found === undefined) return;
      const { list, proposer, waiting } = found;
      const [activity] = await list(proposer.userId, { filterByStatus: ["ACTIVITY_STATUS_CONSENSUS_NEEDED"] });
      assert.deepEqual(
        activity?.votes.map(({ userId, message }) => [userId, message]),
        [[proposer.userId, Buffer.from(waiting.body).toString()]],
      );
    });

    test("naming the parent answers for its sub-organization; naming another answers like for what does not exist", async (t) => {
      const found = await consensus(t);
      if (found === undefined) return;
      const { get, parent, organizationId, stranger, over } = found;
      assert.equal((await get(randomUUID(), parent, over.activityId)).organizationId, organizationId);
      for (const [named, activityId] of [
        [stranger, over.activityId],
        [organizationId, randomUUID()],
        [parent, randomUUID()],
      ] as const) {
        await assert.rejects(get(randomUUID(), named, activityId), {
          code: "not_found",
          message: `unable to find activity ${activityId} in organization ${named}`,
        });
      }
    });

    test("an answer about large bodies is bounded, and what it leaves out is on the next page", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const [organizationId, user] = [randomUUID(), newUser()];
      const large = Array.from({ length: 5 }, () => {
        const activity = activityBy(user, "ACTIVITY_STATUS_FAILED");
        const parameters = { userTagName: "x", userIds: [], more: "x".repeat(900_000) };
        return { ...activity, body: Buffer.from(JSON.stringify({ parameters })) };
      });
      const items = large.map((activity) => signing(organizationId, 1, { activity }));
      await commitGroup(store, [birth(organizationId), ...items], []);
      const caller = testCaller({ organizationId, userId: user.userId });
      const found: string[] = [];
      for (const count of [2, 2, 1, 0]) {
        const paginationOptions = { limit: "100", ...(found.length > 0 && { before: found.at(-1) ?? "" }) };
        const answer = await listActivities.run(
          store,
          caller,
          { organizationId, paginationOptions },
          dialectOf(undefined),
        );
        const activities = answer.activities as View[];
        assert.equal(activities.length, count);
        assert.ok(JSON.stringify(answer).length < 4 * 1024 * 1024);
        found.push(...activities.map(({ id }) => id));
      }
      assert.deepEqual(
        found,
        large
          .map(({ activityId }) => activityId)
          .sort()
          .reverse(),
      );
    });

    test("a cursor must be an activity of the organization", async (t) => {
      const found = await consensus(t);
      if (found === undefined) return;
      const { list, over, proposer } = found;
      assert.equal((await list(proposer.userId, { paginationOptions: { before: over.activityId } })).length <= 1, true);
      const unknown = randomUUID();
      for (const paginationOptions of [{ before: unknown }, { after: unknown }]) {
        await assert.rejects(list(proposer.userId, { paginationOptions }), { code: "invalid_argument" });
      }
    });
  });
}
