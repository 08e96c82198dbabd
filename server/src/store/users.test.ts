import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { birth, newApiKey, newUser, nowMs, stateChange } from "../../test/store_items.ts";
import { put } from "../state/entities.ts";
import { commitGroup } from "./commit.ts";
import { findApiKey, findUser, listApiKeys, listUsers, listUserTags } from "./users.ts";

for (const dialect of dialects) {
  describe(`users on ${dialect}`, () => {
    test("users and keys are those of the organization, the oldest first, as they were written", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const [organizationId, other] = [randomUUID(), randomUUID()];
      const [oldKey, newKey] = [0, 5].map((later) => ({ ...newApiKey(), createdAtMs: nowMs + later }));
      assert(oldKey && newKey);
      const expiring = { ...newKey, expiresAtMs: nowMs + 60_000 };
      const old = newUser({ userName: "Old", apiKeys: [oldKey, expiring], userTags: [randomUUID()] });
      const contacts = { userEmail: "y@example.com", userPhoneNumber: "+15551234567" };
      const young = newUser({ userName: "Young", ...contacts, apiKeys: [], createdAtMs: nowMs + 1 });
      await commitGroup(store, [birth(organizationId, [young, old]), birth(other)], []);
      assert.deepEqual(await listUsers(store, organizationId), [old, young]);
      assert.deepEqual(await findUser(store, organizationId, young.userId), young);
      assert.deepEqual(await listApiKeys(store, organizationId), [oldKey, expiring]);
      assert.deepEqual(await findApiKey(store, organizationId, expiring.apiKeyId), expiring);
      assert.equal(await findUser(store, other, old.userId), undefined);
      assert.equal(await findApiKey(store, other, oldKey.apiKeyId), undefined);
      assert.deepEqual(await listUsers(store, randomUUID()), []);
    });

    test("tags are those of the organization, the oldest first", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const [organizationId, other] = [randomUUID(), randomUUID()];
      const [late, early] = [2, 0].map((later) => ({
        tagId: randomUUID(),
        tagName: `after ${later}`,
        createdAtMs: nowMs + later,
        updatedAtMs: nowMs + later,
      }));
      assert(late && early);
      const changes = [put("userTag", late), put("userTag", early)];
      await commitGroup(store, [birth(organizationId), birth(other), stateChange(organizationId, 1, { changes })], []);
      assert.deepEqual(await listUserTags(store, organizationId), [early, late]);
      assert.deepEqual(await listUserTags(store, other), []);
    });
  });
}
