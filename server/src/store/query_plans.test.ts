/** What is asked for by its own name is found by an index of that, however many others there are, with or without statistics. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { watchQueries } from "../../test/query_plans.ts";
import { birth, newApiKey, newUser, stateChange } from "../../test/store_items.ts";
import { put } from "../state/entities.ts";
import {
  findProvenInSubOrganizations,
  findUnprovenAlone,
  findUnprovenInSubOrganizations,
  findVerifiedInSubOrganizations,
  hasIdentityAt,
  loadUnreleased,
} from "./across.ts";
import { commitGroup } from "./commit.ts";
import { findUnreleasedLeaves } from "./leaves.ts";
import { adviseSqlite } from "./sqlite_statistics.ts";
import { findUser } from "./users.ts";
import { findAccountsByPath } from "./wallets.ts";

test("a disk that takes nothing keeps no database from opening; the advice is given when it does", async (t) => {
  const store = await openTestStore(t, "sqlite");
  assert.ok(store?.dialect === "sqlite");
  const { database } = store.sqlite;
  const given = () => database.prepare("select count(*) as count from sqlite_stat1").get()?.count;
  const whole = given();
  database.exec("delete from sqlite_stat1; pragma query_only = on");
  adviseSqlite(database);
  assert.equal(given(), 0);
  database.exec("pragma query_only = off");
  adviseSqlite(database);
  assert.equal(given(), whole);
  assert.equal(database.isTransaction, false);
});

for (const dialect of dialects) {
  describe(`plans on ${dialect}`, () => {
    /** A parent with three hundred sub-organizations, each with a user of its own; nothing of the last is released yet. */
    async function large(t: TestContext) {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return undefined;
      const parent = randomUUID();
      const children = Array.from({ length: 300 }, () =>
        birth(randomUUID(), [newUser({ apiKeys: [newApiKey()] })], parent),
      );
      const items = [birth(parent), ...children, stateChange(parent, 1)];
      const marks = items.map(({ organizationId, leaf: { boot, number } }) => ({ organizationId, boot, number }));
      await commitGroup(store, items, []);
      await commitGroup(store, [], marks.slice(0, -1));
      if (store.dialect === "postgres") await store.pool.query("analyze");
      return { ...watchQueries(store), parent };
    }

    async function planOf(plans: () => Promise<string[]>, work: Promise<unknown>, which = -1): Promise<string> {
      await work;
      return (await plans()).at(which) ?? "";
    }

    test("a sub-organization's caller is found by its key, not by trying every sub-organization", async (t) => {
      const found = await large(t);
      if (found === undefined) return;
      const { store, plans, parent } = found;
      const key = ["API_KEY_CURVE_P256", "02".repeat(33)] as const;
      await findProvenInSubOrganizations(store, parent, ...key);
      await findUnprovenInSubOrganizations(store, parent, ...key, 0);
      await findUnprovenAlone(store, parent, ...key, 0);
      const all = await plans();
      assert.equal(all.length, 3);
      for (const plan of all) {
        const byKey = {
          sqlite:
            /^SEARCH credentials USING INDEX credentials_across_by_age \(public_key=\? AND curve=\? AND proven=\?( AND created_at_ms>\?)?\)/,
          postgres: /\bcredentials_across_by_age\b/,
        };
        assert.match(plan, byKey[dialect], plan);
        assert.doesNotMatch(plan, /\bSCAN\b|Seq Scan/, plan);
        assert.doesNotMatch(plan, /TEMP B-TREE|\bSort\b/, "nor are all copies of a key sorted to find the oldest");
      }
    });

    test("whether anybody is registered at an issuer is told by one entry of an index", async (t) => {
      const found = await large(t);
      if (found === undefined) return;
      const { store, plans } = found;
      const plan = await planOf(plans, hasIdentityAt(store, "https://accounts.example.com"));
      assert.match(plan, /\bcredentials_by_issuer\b/, plan);
      assert.doesNotMatch(plan, /\bSCAN\b/, plan);
    });

    test("a sub-organization's caller is found by its verified contact, not by trying every sub-organization", async (t) => {
      const found = await large(t);
      if (found === undefined) return;
      const { store, plans, parent } = found;
      await findVerifiedInSubOrganizations(store, parent, { kind: "email", contact: "ann@example.com" });
      await findVerifiedInSubOrganizations(store, parent, { kind: "phone", contact: "+15551234567" });
      const [email = "", phone = ""] = await plans();
      const byKey = { sqlite: /^SEARCH contact_claims USING PRIMARY KEY/, postgres: /\bcontact_claims_key\b/ };
      for (const plan of [email, phone]) {
        assert.match(plan, byKey[dialect], plan);
        assert.doesNotMatch(plan, /SCAN|Seq Scan/, plan);
      }
    });

    test("the leaves of a repeated body are looked for among the few that are not released", async (t) => {
      const found = await large(t);
      if (found === undefined) return;
      const { store, plans, parent } = found;
      await findUnreleasedLeaves(store, parent, randomUUID());
      await loadUnreleased(store, 10);
      const all = await plans();
      assert.equal(all.length, 3);
      for (const plan of all) {
        if (dialect === "sqlite") assert.match(plan, /^(SEARCH|SCAN) unreleased\b/, plan);
        else assert.doesNotMatch(plan, /Seq Scan on (leaves|organizations)/, plan);
      }
    });

    test("the few are looked through first, even when the database last counted while many were on their way", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const busy = randomUUID();
      const items = [birth(busy), ...Array.from({ length: 4_000 }, (_, version) => stateChange(busy, version + 1))];
      const marks = items.map(({ organizationId, leaf: { boot, number } }) => ({ organizationId, boot, number }));
      await commitGroup(store, items, []);
      await commitGroup(store, [], marks.slice(0, -1_000));
      if (store.dialect === "postgres") await store.pool.query("analyze");
      await commitGroup(store, [], marks.slice(-1_000, -1));
      const { store: watched, plans } = watchQueries(store);
      await findUnreleasedLeaves(watched, busy, randomUUID());
      const [own = ""] = await plans();
      if (dialect === "sqlite") assert.match(own, /^SEARCH unreleased\b/, own);
      else assert.match(own, /^Sort.*Nested Loop.* on unreleased.*Index Scan using leaves_key on leaves/s, own);
    });

    test("a user's credentials and a wallet's accounts are found without the others of the organization", async (t) => {
      const found = await large(t);
      if (found === undefined) return;
      const { store, plans, parent } = found;
      const user = await planOf(plans, findUser(store, parent, randomUUID()));
      const path = await planOf(plans, findAccountsByPath(store, parent, randomUUID(), "m/0", "CURVE_SECP256K1"));
      if (dialect !== "sqlite") return;
      assert.match(
        user,
        /SEARCH credentials USING INDEX credentials_by_user \(organization_id=\? AND user_id=\?\)/,
        user,
      );
      assert.match(path, /\(organization_id=\? AND wallet_id=\? AND path_key=\? AND curve=\?\)/, path);
    });

    test("what is gone of a thousand users' credentials is found user by user, not by trying all for each", async (t) => {
      const store = dialect === "postgres" ? await openTestStore(t, dialect) : undefined;
      if (store === undefined) return;
      const organizationId = randomUUID();
      const users = Array.from({ length: 20 }, () => newUser());
      await commitGroup(store, [birth(organizationId, users)], []);
      const { store: watched, plans } = watchQueries(store);
      const changes = users.map((user) => put("user", { ...user, userName: "Bea" }));
      await commitGroup(watched, [stateChange(organizationId, 1, { changes })], []);
      const [plan = ""] = await plans();
      assert.match(plan, /Delete on credentials/);
      assert.doesNotMatch(plan, /Anti Join/, plan);
    });
  });
}
