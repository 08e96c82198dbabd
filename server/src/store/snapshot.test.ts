/** What is read together is of one moment, whatever others commit in between. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { birth, newApiKey, newUser, stateChange } from "../../test/store_items.ts";
import { put, remove } from "../state/entities.ts";
import { commitGroup } from "./commit.ts";
import { findVersion } from "./organizations.ts";
import { inSnapshot } from "./snapshot.ts";
import type { Store } from "./store.ts";
import { findUser, listUsers, listUserTags } from "./users.ts";

for (const dialect of dialects) {
  describe(`snapshots on ${dialect}`, () => {
    test("statements of a snapshot do not see what is committed between them", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const organizationId = randomUUID();
      await commitGroup(store, [birth(organizationId)], []);
      const tag = { tagId: randomUUID(), tagName: "late", createdAtMs: 1, updatedAtMs: 1 };
      const seen = await inSnapshot(store, async (snapshot) => {
        const before = await findVersion(snapshot, organizationId);
        // It commits beside the snapshot, and does not wait for it.
        await commitGroup(store, [stateChange(organizationId, 1, { changes: [put("userTag", tag)] })], []);
        const tags = await listUserTags(snapshot, organizationId);
        // The other way of asking, which lists take.
        const rows = await snapshot.db.selectFrom("user_tags").selectAll().execute();
        return { before, tags, rows, after: await findVersion(snapshot, organizationId) };
      });
      assert.deepEqual(seen, { before: 1, tags: [], rows: [], after: 1 });
      assert.deepEqual(
        [await findVersion(store, organizationId), await listUserTags(store, organizationId)],
        [2, [tag]],
      );
    });

    test("what fails in a snapshot lets go of it", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const fail = () => inSnapshot(store, () => Promise.reject(new Error("no")));
      for (let i = 0; i < 20; i++) await assert.rejects(fail(), /no/);
      assert.equal(await inSnapshot(store, (snapshot) => findVersion(snapshot, randomUUID())), undefined);
    });

    test("a snapshot of a snapshot is itself, and nothing is written through it", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      await inSnapshot(store, (snapshot) => inSnapshot(snapshot, (inner) => assert.equal(inner, snapshot)));
      const insert = (snapshot: Store) =>
        snapshot.db
          .insertInto("user_tags")
          .values({ organization_id: "o", tag_id: "t", tag_name: "n", created_at_ms: 1, updated_at_ms: 1 })
          .execute();
      await assert.rejects(inSnapshot(store, insert), /for reading|read-only/);
    });

    test("a user who is deleted while users are read is shown with its keys, or not at all", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const organizationId = randomUUID();
      const user = newUser({ apiKeys: [newApiKey()] });
      await commitGroup(store, [birth(organizationId)], []);
      const writer = write(store, organizationId, (version) =>
        version % 2 === 1 ? put("user", user) : remove("user", user.userId),
      );
      for (let i = 0; i < 100; i++) {
        const alone = findUser(store, organizationId, user.userId);
        const all = await listUsers(store, organizationId);
        const shown = [...all.filter(({ userId }) => userId === user.userId), await alone];
        for (const each of shown) assert.equal(each?.apiKeys.length ?? 1, 1);
      }
      await writer;
    });
  });
}

async function write(store: Store, organizationId: string, change: (version: number) => ReturnType<typeof remove>) {
  for (let version = 1; version < 100; version++) {
    await commitGroup(store, [stateChange(organizationId, version, { changes: [change(version)] })], []);
    await new Promise(setImmediate);
  }
}
