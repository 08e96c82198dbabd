import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { type Kysely, sql } from "kysely";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { birth, newUser, nowMs, stateChange } from "../../test/store_items.ts";
import { put } from "../state/entities.ts";
import { findVerifiedInSubOrganizations } from "./across.ts";
import { commitGroup } from "./commit.ts";
import type { CommitItem } from "./commit_item.ts";
import type { NewContactClaim } from "./contact_claims.ts";
import { migrations } from "./migrations/migrate.ts";
import { columnTypes } from "./migrations/step.ts";
import type { Store } from "./store.ts";

const contact = "ann@example.com";

/** A parent and sub-organizations with one user each, all at version 1. */
async function family(store: Store, count: number) {
  const parentId = randomUUID();
  const homes = Array.from({ length: count }, () => ({ id: randomUUID(), user: newUser({ userEmail: contact }) }));
  const items = [birth(parentId), ...homes.map(({ id, user }) => birth(id, [user], parentId))];
  await commitGroup(store, items, []);
  return { parentId, homes };
}

type Home = Awaited<ReturnType<typeof family>>["homes"][number];

function claiming(
  parentId: string,
  { id, user }: Home,
  proof: NewContactClaim["proof"],
  version = 1,
  changes: Partial<CommitItem> = {},
): CommitItem {
  const claim = { parentId, userId: user.userId, kind: "email", contact: "Ann@Example.com", proof } as const;
  return stateChange(id, version, {
    changes: [put("user", { ...user, emailVerified: { by: "code" } })],
    contactClaims: [{ ...claim, createdAtMs: nowMs }],
    ...changes,
  });
}

for (const dialect of dialects) {
  describe(`contact claims on ${dialect}`, () => {
    test("a contact leads to the first who claims it, whether others come in its group or later", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const { parentId, homes } = await family(store, 3);
      const [first, second, third] = homes as [Home, Home, Home];
      const together = [claiming(parentId, first, "KEY"), claiming(parentId, second, "KEY")];
      const { committed } = await commitGroup(store, together, []);
      assert.equal(committed.filter(Boolean).length, 1);
      const owner = committed[0] ? first : second;
      assert.deepEqual((await commitGroup(store, [claiming(parentId, third, "KEY")], [])).committed, [false]);
      const led = await findVerifiedInSubOrganizations(store, parentId, { kind: "email", contact: "ANN@example.com" });
      assert.deepEqual(
        led.map(({ organizationId }) => organizationId),
        [owner.id],
      );
      const pages = await store.db
        .selectFrom("organizations")
        .select("version")
        .where("organization_id", "=", third.id);
      assert.equal((await pages.executeTakeFirstOrThrow()).version, 1, "nothing of it was written");
      assert.deepEqual((await commitGroup(store, [claiming(parentId, owner, "KEY", 2)], [])).committed, [true]);
    });

    test("what an earlier version verified gives way to a proof by a key, and to nothing else", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const { parentId, homes } = await family(store, 2);
      const [first, second] = homes as [Home, Home];
      const earlier = async () => {
        await store.db.updateTable("contact_claims").set({ proof: "EARLIER" }).execute();
      };
      assert.deepEqual((await commitGroup(store, [claiming(parentId, first, "WORD")], [])).committed, [true]);
      assert.deepEqual((await commitGroup(store, [claiming(parentId, second, "KEY")], [])).committed, [false]);
      await earlier();
      assert.deepEqual((await commitGroup(store, [claiming(parentId, second, "WORD")], [])).committed, [false]);
      assert.deepEqual((await commitGroup(store, [claiming(parentId, second, "KEY")], [])).committed, [true]);
      assert.deepEqual((await commitGroup(store, [claiming(parentId, first, "KEY", 2)], [])).committed, [false]);
    });

    test("marks of earlier versions lead as the migration says", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const parentId = randomUUID();
      const user = (userEmail: string, changes: object = {}) => newUser({ userEmail, emailVerified: true, ...changes });
      const homes = {
        signedUp: user("a@example.com"),
        oneOfTwo: user("d@example.com"),
        theOther: user("D@example.com"),
        unverified: newUser({ userEmail: "e@example.com" }),
        byPhone: newUser({ userPhoneNumber: "+15551234567", phoneVerified: true }),
      };
      const ids = Object.fromEntries(Object.keys(homes).map((name) => [name, randomUUID()])) as Record<
        keyof typeof homes,
        string
      >;
      const births = Object.entries(homes).map(([name, each]) =>
        birth(ids[name as keyof typeof homes], [each], parentId),
      );
      await commitGroup(store, [birth(parentId, [user("parent@example.com")]), ...births], []);
      await store.db.schema.dropTable("contact_claims").execute();
      const { "0025_contact_claims": step } = migrations;
      await step?.(store.db as unknown as Kysely<unknown>, columnTypes(dialect));
      const { rows } = await sql<{ line: string; id: string }>`select kind || ' ' || contact || ' ' || proof as line,
        sub_organization_id as id from contact_claims order by kind, contact`.execute(store.db);
      assert.deepEqual(
        rows.map(({ line, id }) => [line, id]),
        [
          ["email a@example.com EARLIER", ids.signedUp],
          ["phone +15551234567 EARLIER", ids.byPhone],
        ],
      );
    });
  });
}
