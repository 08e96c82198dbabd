import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { watchQueries } from "../../test/query_plans.ts";
import { birth, newActivity, newLeaf, nowMs, signing } from "../../test/store_items.ts";
import { activityIdPrefix } from "../state/derived_id.ts";
import { findActivityAnywhere } from "./across.ts";
import type { ActivityRow } from "./activities.ts";
import { type ActivityFilter, listActivityIds, loadActivities, loadVotes, pageBytes } from "./activity_lists.ts";
import { commitGroup } from "./commit.ts";
import type { CommitItem } from "./commit_item.ts";
import type { Span } from "./span.ts";

const statuses = ["COMPLETED", "FAILED", "REJECTED", "CONSENSUS_NEEDED"].map((status) => `ACTIVITY_STATUS_${status}`);
const types = ["CREATE_USERS_V4", "CREATE_USER_TAG", "UPDATE_USER"].map((type) => `ACTIVITY_TYPE_${type}`);

/** Activities a millisecond apart, the oldest first, of every status and type. */
function someActivities(count: number): ActivityRow[] {
  return Array.from({ length: count }, (_, index) => {
    const time = activityIdPrefix(nowMs + index);
    return newActivity({
      activityId: time + randomUUID().slice(time.length),
      status: statuses[index % statuses.length] ?? "",
      type: types[Math.floor(index / statuses.length) % types.length] ?? "",
    });
  });
}

function withActivities(organizationId: string, activities: readonly ActivityRow[]): CommitItem[] {
  return activities.map((activity) => signing(organizationId, 1, { activity }));
}

/** What the list must be, told without SQL. */
function expectedIds(activities: readonly ActivityRow[], filter: ActivityFilter, span: Span): string[] {
  const { before = "~", after = "", limit } = span;
  const fitting = activities
    .filter(({ activityId }) => activityId < before && activityId > after)
    .filter(({ status }) => filter.statuses.length === 0 || filter.statuses.includes(status))
    .filter(({ type }) => filter.types.length === 0 || filter.types.includes(type))
    .map(({ activityId }) => activityId);
  const page = span.after !== undefined && span.before === undefined ? fitting.slice(0, limit) : fitting.slice(-limit);
  return page.reverse();
}

for (const dialect of dialects) {
  describe(`lists of activities on ${dialect}`, () => {
    async function activeOrganization(t: TestContext, count: number) {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return undefined;
      const [organizationId, other] = [randomUUID(), randomUUID()];
      const activities = someActivities(count);
      const items = [...withActivities(organizationId, activities), ...withActivities(other, someActivities(5))];
      await commitGroup(store, [birth(organizationId), birth(other), ...items], []);
      return { store, organizationId, other, activities };
    }

    test("every filter and every span gives the activities that fit, newest first", async (t) => {
      const found = await activeOrganization(t, 40);
      if (found === undefined) return;
      const { store, organizationId, activities } = found;
      const [completed = "", ...unfinished] = statuses;
      const [first = "", second = ""] = types;
      const statusLists = [[], [completed], unfinished, [completed, unfinished[0] ?? ""], [unfinished[0] ?? ""]];
      const typeLists = [[], [first], [first, second, first], types, ["ACTIVITY_TYPE_OF_NONE"]];
      const [low, high] = [activities[7]?.activityId, activities[31]?.activityId];
      const spans = [{}, { before: high }, { after: low }, { before: high, after: low }, { before: low, after: high }];
      for (const statuses of statusLists) {
        for (const types of typeLists) {
          for (const span of spans) {
            for (const limit of [1, 3, 100]) {
              const filter = { statuses, types };
              const ids = await listActivityIds(store, organizationId, filter, { ...span, limit });
              assert.deepEqual(
                ids,
                expectedIds(activities, filter, { ...span, limit }),
                JSON.stringify([filter, span]),
              );
            }
          }
        }
      }
    });

    test("pages follow each other without gap or overlap, backward and forward", async (t) => {
      const found = await activeOrganization(t, 23);
      if (found === undefined) return;
      const { store, organizationId, activities } = found;
      const newestFirst = activities.map(({ activityId }) => activityId).reverse();
      const page = (span: Omit<Span, "limit">) =>
        listActivityIds(store, organizationId, { statuses: [], types: [] }, { ...span, limit: 5 });
      const older: string[] = [];
      for (let ids = await page({}); ids.length > 0; ids = await page({ before: older.at(-1) })) older.push(...ids);
      assert.deepEqual(older, newestFirst);
      const newer = [newestFirst.at(-1) ?? ""];
      for (let ids = await page({ after: newer[0] }); ids.length > 0; ids = await page({ after: newer[0] })) {
        newer.unshift(...ids);
      }
      assert.deepEqual(newer, newestFirst);
    });

    test("a page ends before its bodies pass the budget, next to its cursor, and is never empty for it", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const organizationId = randomUUID();
      const third = Math.floor(pageBytes / 3);
      const sizes = [10, third, third, third, pageBytes + 1, 10, pageBytes, 1, 10];
      const activities = someActivities(sizes.length).map((activity, index) => ({
        ...activity,
        body: randomBytes(sizes[index] ?? 0),
      }));
      await commitGroup(store, [birth(organizationId), ...withActivities(organizationId, activities)], []);
      const indexOf = (id: string) => activities.findIndex(({ activityId }) => activityId === id);
      const page = async (span: Omit<Span, "limit">) => {
        const ids = await listActivityIds(store, organizationId, { statuses: [], types: [] }, { ...span, limit: 100 });
        return ids.map(indexOf);
      };
      const older: number[][] = [];
      for (let ids = await page({}); ids.length > 0; ) {
        older.push(ids);
        ids = await page({ before: activities[ids.at(-1) ?? 0]?.activityId });
      }
      assert.deepEqual(older, [[8, 7], [6], [5], [4], [3, 2, 1], [0]]);
      const newer: number[][] = [];
      for (let ids = await page({ after: activities[0]?.activityId }); ids.length > 0; ) {
        newer.push(ids);
        ids = await page({ after: activities[ids[0] ?? 0]?.activityId });
      }
      assert.deepEqual(newer, [[3, 2, 1], [4], [5], [6], [8, 7]]);
      const [low, high] = [activities[0]?.activityId, activities[4]?.activityId];
      assert.deepEqual(await page({ after: low, before: high }), [3, 2, 1]);
    });

    test("activities and votes are loaded in the order asked for, and of their own organization only", async (t) => {
      const found = await activeOrganization(t, 6);
      if (found === undefined) return;
      const { store, organizationId, other, activities } = found;
      const waiting = activities[3];
      assert(waiting?.status === "ACTIVITY_STATUS_CONSENSUS_NEEDED");
      const vote = (text: string, createdAtMs: number) => ({
        activityId: waiting.activityId,
        voteId: randomUUID(),
        vote: JSON.stringify(text),
        createdAtMs,
      });
      const item = { changes: [], expectedVersion: 1, organizationId };
      await commitGroup(
        store,
        [
          { ...item, leaf: newLeaf(), vote: vote("late", nowMs + 2) },
          { ...item, leaf: newLeaf(), vote: vote("early", nowMs + 1) },
        ],
        [],
      );
      const ids = [activities[3], activities[0], activities[5]].flatMap((activity) => activity?.activityId ?? []);
      const rows = await loadActivities(store, organizationId, ids);
      assert.deepEqual(
        rows.map(({ activityId }) => activityId),
        ids,
      );
      assert.deepEqual(rows[0], { ...waiting, body: rows[0]?.body });
      assert.deepEqual(
        await loadVotes(store, organizationId, ids),
        new Map([[waiting.activityId, ['"early"', '"late"']]]),
      );
      assert.deepEqual(await loadActivities(store, other, ids), []);
      assert.deepEqual(await loadVotes(store, other, ids), new Map());
      assert.deepEqual(await loadActivities(store, organizationId, []), []);
      assert.deepEqual(await loadVotes(store, organizationId, []), new Map());
    });

    test("every filter of activities walks its index and sorts nothing but the ends of its ranges", async (t) => {
      const found = await activeOrganization(t, 8);
      if (found === undefined) return;
      const { organizationId, activities } = found;
      const { store, plans } = watchQueries(found.store);
      const [completed = "", ...unfinished] = statuses;
      // SQLite names the index of a primary key itself.
      const key = dialect === "sqlite" ? "sqlite_autoindex_activities_1" : "activities_key";
      const cases: [ActivityFilter, string][] = [
        [{ statuses: [], types: [] }, key],
        [{ statuses: [completed], types: [] }, key],
        [{ statuses: unfinished, types: [] }, "activities_by_status"],
        [{ statuses: unfinished, types }, "activities_by_status"],
        [{ statuses: [], types }, "activities_by_type"],
        [{ statuses: [completed], types }, "activities_by_type"],
      ];
      for (const [filter, index] of cases) {
        for (const span of [{}, { before: activities[5]?.activityId }, { after: activities[2]?.activityId }]) {
          await listActivityIds(store, organizationId, filter, { ...span, limit: 3 });
          const [plan = ""] = await plans();
          assert.match(plan, new RegExp(index), plan);
          assert.doesNotMatch(plan, /Seq Scan|SCAN activities|Sort {2}/, plan);
        }
      }
    });

    test("an activity is found by its id alone, with the organization it ran in", async (t) => {
      const found = await activeOrganization(t, 2);
      if (found === undefined) return;
      const { store, organizationId, activities } = found;
      const activityId = activities[1]?.activityId ?? "";
      const anywhere = await findActivityAnywhere(store, activityId);
      assert.equal(anywhere?.organizationId, organizationId);
      assert.deepEqual([anywhere?.row], await loadActivities(store, organizationId, [activityId]));
      assert.equal(await findActivityAnywhere(store, randomUUID()), undefined);
    });
  });
}
