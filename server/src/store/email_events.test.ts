import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { watchQueries } from "../../test/query_plans.ts";
import { birth, newActivity, nowMs, stateChange } from "../../test/store_items.ts";
import { listDueMessages } from "./across.ts";
import { forgetMessages } from "./across_ended.ts";
import { commitGroup } from "./commit.ts";
import { type EmailEvent, isEmailEvent, listEmailEvents } from "./email_events.ts";
import { type Claim, claimMessage, noteFailed, noteRetry, noteSent } from "./outbox.ts";
import type { Store } from "./store.ts";

const ann = "Ann@example.com";
const all = { email: ann, eventType: undefined };

for (const dialect of dialects) {
  describe(`events of mail on ${dialect}`, () => {
    async function open(t: TestContext) {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return undefined;
      const organizationId = randomUUID();
      await commitGroup(store, [birth(organizationId)], []);
      return { store, organizationId };
    }

    /** A message that this gateway has claimed. */
    async function claimed(store: Store, organizationId: string, version: number, toAddress?: string): Promise<Claim> {
      const messageId = randomUUID();
      const channel = toAddress === undefined ? "sms" : "email";
      const message = { messageId, channel, expiresAtMs: nowMs + 300_000, sealed: randomBytes(1_089), toAddress };
      const item = { ...stateChange(organizationId, version), activity: newActivity(), outbox: [message] };
      assert.deepEqual((await commitGroup(store, [item], [])).committed, [true]);
      const due = (await listDueMessages(store, nowMs, 10)).find((each) => each.messageId === messageId);
      assert.ok(due);
      const claim = await claimMessage(store, due, { host: "a", nowMs, untilMs: nowMs + 60_000 });
      assert.ok(claim);
      return claim;
    }

    const told = (events: readonly EmailEvent[]) => events.map(({ eventType, error }) => [eventType, error]);

    test("what becomes of a message is told once each, the newest first, by its recipient in either case", async (t) => {
      const opened = await open(t);
      if (opened === undefined) return;
      const { store, organizationId } = opened;
      const claim = await claimed(store, organizationId, 1, ann);
      const list = (email = ann) => listEmailEvents(store, organizationId, { ...all, email }, { limit: 10 });
      assert.deepEqual(await list(), []);
      for (const error of ["deferred", "unreachable"]) {
        await noteRetry(store, claim, { error, nowMs: nowMs + 1, nextAttemptAtMs: nowMs });
      }
      await noteSent(store, claim, nowMs + 2);
      await noteSent(store, claim, nowMs + 3);
      assert.equal(await noteFailed(store, claim, "rejected", nowMs + 4), false);
      const events = await list("ann@EXAMPLE.com");
      assert.deepEqual(told(events), [
        ["Send", null],
        ["DeliveryDelay", "deferred"],
      ]);
      const [{ eventId: _, ...sent } = {}] = events;
      const { messageId } = claim;
      assert.deepEqual(sent, {
        messageId,
        eventType: "Send",
        toAddress: ann,
        fromAddress: null,
        error: null,
        createdAtMs: nowMs + 2,
      });
      assert.deepEqual(await list("other@example.com"), []);
      assert.deepEqual(await listEmailEvents(store, randomUUID(), all, { limit: 10 }), []);
    });

    test("a refusal by the provider is a bounce, any other end a failure, and a text message has no events", async (t) => {
      const opened = await open(t);
      if (opened === undefined) return;
      const { store, organizationId } = opened;
      for (const [version, error] of ["rejected", "expired"].entries()) {
        const claim = await claimed(store, organizationId, version + 1, ann);
        assert.equal(await noteFailed(store, claim, error, nowMs + version), true);
      }
      await noteSent(store, await claimed(store, organizationId, 3), nowMs);
      const list = (eventType?: string) => listEmailEvents(store, organizationId, { ...all, eventType }, { limit: 10 });
      assert.deepEqual(told(await list()), [
        ["Failed", "expired"],
        ["Bounce", "rejected"],
      ]);
      assert.deepEqual(told(await list("Bounce")), [["Bounce", "rejected"]]);
      const rows = await store.db.selectFrom("email_events").select("event_id").execute();
      assert.equal(rows.length, 2);
    });

    test("a page begins behind its cursor, is read by an index, and goes with the contact's days", async (t) => {
      const opened = await open(t);
      if (opened === undefined) return;
      const { store, organizationId } = opened;
      for (const version of [1, 2, 3]) {
        await noteSent(store, await claimed(store, organizationId, version, ann), nowMs + version);
      }
      const watched = watchQueries(store);
      const events = await listEmailEvents(watched.store, organizationId, all, { limit: 3 });
      const [plan = ""] = await watched.plans();
      if (dialect === "sqlite") assert.match(plan, /email_events_by_recipient/);
      const [newest, second, oldest] = events;
      assert.ok(newest && second && oldest);
      const page = (span: { before?: string; after?: string }) =>
        listEmailEvents(store, organizationId, all, { limit: 10, ...span });
      assert.deepEqual(await page({ before: second.eventId }), [oldest]);
      assert.deepEqual(await page({ after: second.eventId }), [newest]);
      assert.equal(await isEmailEvent(store, organizationId, second.eventId), true);
      assert.equal(await isEmailEvent(store, randomUUID(), second.eventId), false);
      await forgetMessages(store, nowMs + 3);
      assert.deepEqual(await page({}), [newest]);
      await forgetMessages(store, nowMs + 4);
      assert.deepEqual(await page({}), []);
    });
  });
}
