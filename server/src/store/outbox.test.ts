import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { watchQueries } from "../../test/query_plans.ts";
import { birth, newActivity, nowMs, stateChange } from "../../test/store_items.ts";
import { dropClaims, listDueMessages } from "./across.ts";
import { forgetMessages } from "./across_ended.ts";
import { commitGroup } from "./commit.ts";
import type { CommitItem } from "./commit_item.ts";
import { claimMessage, noteFailed, noteRetry, noteSent } from "./outbox.ts";

const expiresAtMs = nowMs + 300_000;
const sealed = randomBytes(1_089);

for (const dialect of dialects) {
  describe(`outbox on ${dialect}`, () => {
    async function open(t: TestContext) {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return undefined;
      const organizationId = randomUUID();
      await commitGroup(store, [birth(organizationId)], []);
      const rows = () => store.db.selectFrom("outbox").selectAll().execute();
      const due = (atMs = nowMs) => listDueMessages(store, atMs, 10);
      return { store, organizationId, rows, due };
    }

    /** An activity that asks for this many messages. */
    function sending(organizationId: string, version: number, count: number): CommitItem {
      const outbox = Array.from({ length: count }, () => ({
        messageId: randomUUID(),
        channel: "email",
        expiresAtMs,
        sealed,
      }));
      return { ...stateChange(organizationId, version), activity: newActivity(), outbox };
    }

    test("messages are committed with their activity, or neither is", async (t) => {
      const opened = await open(t);
      if (opened === undefined) return;
      const { store, organizationId, rows, due } = opened;
      const [item, late] = [sending(organizationId, 1, 2), sending(organizationId, 7, 1)];
      assert.deepEqual((await commitGroup(store, [item], [])).committed, [true]);
      assert.deepEqual((await commitGroup(store, [late], [])).committed, [false]);
      assert.deepEqual(
        (await rows()).map(({ message_id, activity_id, state }) => [message_id, activity_id, state]).sort(),
        item.outbox?.map(({ messageId }) => [messageId, item.activity?.activityId, "PENDING"]).sort(),
      );
      const [message] = await due();
      assert.deepEqual(new Uint8Array(message?.sealed ?? []), new Uint8Array(sealed));
      assert.deepEqual([message?.attempts, message?.expiresAtMs, message?.error], [0, expiresAtMs, null]);
      assert.deepEqual(await due(nowMs - 1), [], "nothing is due before its time");
    });

    test("of several that claim a message at once one gets it, until its claim ends", async (t) => {
      const opened = await open(t);
      if (opened === undefined) return;
      const { store, organizationId, due } = opened;
      await commitGroup(store, [sending(organizationId, 1, 1)], []);
      const [message] = await due();
      assert.ok(message);
      const untilMs = nowMs + 1_000;
      const claims = await Promise.all(
        Array.from({ length: 10 }, (_, host) => claimMessage(store, message, { host: `h${host}`, nowMs, untilMs })),
      );
      assert.equal(claims.filter((claim) => claim !== undefined).length, 1);
      assert.deepEqual(await due(untilMs - 1), []);
      const [again] = await due(untilMs);
      assert.equal(again?.attempts, 1);
      assert.ok(
        again && (await claimMessage(store, again, { host: "other", nowMs: untilMs, untilMs: untilMs + 1_000 })),
      );
    });

    test("who has lost a claim changes nothing but that it was sent", async (t) => {
      const opened = await open(t);
      if (opened === undefined) return;
      const { store, organizationId, rows, due } = opened;
      await commitGroup(store, [sending(organizationId, 1, 1)], []);
      const [first] = await due();
      assert.ok(first);
      const lost = await claimMessage(store, first, { host: "a", nowMs, untilMs: nowMs + 1 });
      const [second] = await due(nowMs + 1);
      assert.ok(lost && second);
      const held = await claimMessage(store, second, { host: "b", nowMs, untilMs: nowMs + 1_000 });
      assert.ok(held);
      assert.equal(await noteFailed(store, lost, "rejected", nowMs), false);
      await noteRetry(store, lost, { error: "deferred", nowMs, nextAttemptAtMs: nowMs });
      assert.partialDeepStrictEqual(await rows(), [{ state: "PENDING", claimed_by: "b", attempts: 2, error: null }]);
      await noteSent(store, lost, nowMs);
      assert.partialDeepStrictEqual(await rows(), [{ state: "SENT", claimed_by: null, sealed: null }]);
      assert.equal(await noteFailed(store, held, "unreachable", nowMs), false, "what is sent does not fail any more");
      assert.partialDeepStrictEqual(await rows(), [{ state: "SENT", error: null }]);
    });

    test("a retry waits for its time, a failure is the end, and neither keeps the box of what is over", async (t) => {
      const opened = await open(t);
      if (opened === undefined) return;
      const { store, organizationId, rows, due } = opened;
      await commitGroup(store, [sending(organizationId, 1, 1)], []);
      const [message] = await due();
      assert.ok(message);
      const claim = await claimMessage(store, message, { host: "a", nowMs, untilMs: nowMs + 9 });
      assert.ok(claim);
      await noteRetry(store, claim, { error: "deferred", nowMs, nextAttemptAtMs: nowMs + 5_000 });
      assert.deepEqual(await due(nowMs + 4_999), []);
      const [again] = await due(nowMs + 5_000);
      assert.deepEqual([again?.error, again?.attempts], ["deferred", 1]);
      assert.equal(await noteFailed(store, claim, "rejected", nowMs), true);
      assert.deepEqual(await due(nowMs + 9_999_999), []);
      assert.partialDeepStrictEqual(await rows(), [{ state: "FAILED", error: "rejected", sealed: null }]);
    });

    test("claims of a gateway that ended can be dropped, and old messages be forgotten", async (t) => {
      const opened = await open(t);
      if (opened === undefined) return;
      const { store, organizationId, rows, due } = opened;
      await commitGroup(store, [sending(organizationId, 1, 2)], []);
      const [message] = await due();
      assert.ok(message);
      await claimMessage(store, message, { host: "a", nowMs, untilMs: nowMs + 60_000 });
      assert.equal((await due()).length, 1);
      await dropClaims(store, nowMs);
      assert.equal((await due()).length, 2);
      await forgetMessages(store, nowMs);
      assert.equal((await rows()).length, 2);
      await forgetMessages(store, nowMs + 1);
      assert.equal((await rows()).length, 0);
    });

    test("due messages are found by an index of those that are not over", async (t) => {
      const opened = await open(t);
      if (opened === undefined) return;
      const { plans, store } = watchQueries(opened.store);
      await listDueMessages(store, nowMs, 10);
      const [plan = ""] = await plans();
      assert.match(plan, /outbox_due/);
      assert.doesNotMatch(plan, /TEMP B-TREE|Sort/);
    });
  });
}
