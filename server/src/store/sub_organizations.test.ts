import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { watchQueries } from "../../test/query_plans.ts";
import { birth, newApiKey, newUser, nowMs, stateChange } from "../../test/store_items.ts";
import { put, type User } from "../state/entities.ts";
import { commitGroup } from "./commit.ts";
import type { Span } from "./span.ts";
import { findSubOrganization, listSubOrganizationIds, type SubOrganizationFilter } from "./sub_organizations.ts";

for (const dialect of dialects) {
  describe(`lists of sub-organizations on ${dialect}`, () => {
    /** Two parents with children that hold the same values, each in two users, and one deleted child. */
    async function twoFamilies(t: TestContext) {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return undefined;
      const [parent, stranger]: [string, string] = [randomUUID(), randomUUID()];
      const key = newApiKey();
      const holder = (): User =>
        newUser({
          userName: "Bob",
          userEmail: "Bob@example.com",
          userPhoneNumber: "+15551234567",
          apiKeys: [{ ...key, apiKeyId: randomUUID() }],
        });
      const children: string[] = Array.from({ length: 7 }, () => randomUUID()).sort();
      const [deleted = "", plain = "", ...holding] = children;
      const owners = new Map(holding.map((child) => [child, holder()]));
      const namesake = newUser({ userName: "Bob", userEmail: "bob@example.com", userPhoneNumber: "+15551234567" });
      const items = [
        birth(parent, [holder()]),
        birth(stranger),
        birth(randomUUID(), [holder()], stranger),
        birth(deleted, [holder()], parent),
        birth(plain, [newUser()], parent),
        ...[...owners].map(([child, owner]) =>
          birth(child, [owner, { ...namesake, userId: randomUUID(), apiKeys: [] }], parent),
        ),
      ];
      await commitGroup(store, items, []);
      const settings = {
        organizationName: "Acme",
        features: [],
        deleted: true,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
      const removal = {
        ...stateChange(deleted, 1),
        changes: [put("settings", { ...settings, deleted: true as const })],
      };
      await commitGroup(store, [removal], []);
      return { store, parent, stranger, deleted, plain, holding, children: children.slice(1), key, owners };
    }

    test("each filter finds the children of one parent that hold the value, once each, and no deleted one", async (t) => {
      const found = await twoFamilies(t);
      if (found === undefined) return;
      const { store, parent, stranger, plain, holding, children, key, owners } = found;
      const list = (filter: SubOrganizationFilter | undefined, of = parent) =>
        listSubOrganizationIds(store, of, filter, { limit: 100 });
      assert.deepEqual(await list(undefined), children);
      assert.deepEqual(await list({ by: "organizationName", value: "Acme" }), children);
      assert.deepEqual(await list({ by: "userName", value: "Bob" }), holding);
      assert.deepEqual(await list({ by: "userEmail", value: "bob@example.com" }), holding);
      assert.deepEqual(await list({ by: "userEmail", value: "BOB@Example.com" }), holding);
      assert.deepEqual(await list({ by: "userPhoneNumber", value: "+15551234567" }), holding);
      assert.deepEqual(await list({ by: "publicKey", value: key.publicKey }), holding);
      const [child = "", owner] = [...owners][0] ?? [];
      assert.deepEqual(await list({ by: "credentialId", value: owner?.apiKeys[0]?.apiKeyId ?? "" }), [child]);
      for (const by of ["organizationName", "userName", "userEmail", "userPhoneNumber", "publicKey"] as const) {
        assert.deepEqual(await list({ by, value: "nobody's" }), []);
        // As a pattern or a prefix, a value would find others.
        assert.deepEqual(await list({ by, value: "%" }), []);
      }
      assert.equal((await list({ by: "userName", value: "Bob" }, stranger)).length, 1);
      assert.deepEqual(await list(undefined, plain), []);
      assert.deepEqual(await list({ by: "userName", value: "Bob" }, plain), []);
    });

    test("e-mail addresses are compared without the case of ASCII letters, in both databases alike", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const [parent, child] = [randomUUID(), randomUUID()];
      await commitGroup(
        store,
        [birth(parent), birth(child, [newUser({ userEmail: "ÉDITH@Example.com" })], parent)],
        [],
      );
      const list = (value: string) => listSubOrganizationIds(store, parent, { by: "userEmail", value }, { limit: 9 });
      assert.deepEqual(await list("Édith@example.COM"), [child]);
      assert.deepEqual(await list("édith@example.com"), []);
    });

    test("pages of children lie next to their cursor, whichever way they are asked for", async (t) => {
      const found = await twoFamilies(t);
      if (found === undefined) return;
      const { store, parent, deleted, holding, children } = found;
      for (const [filter, all] of [
        [undefined, children],
        [{ by: "userName", value: "Bob" } as const, holding],
      ] as const) {
        const page = (span: Omit<Span, "limit">) =>
          listSubOrganizationIds(store, parent, filter, { ...span, limit: 2 });
        assert.deepEqual(await page({}), all.slice(0, 2));
        assert.deepEqual(await page({ after: all[1] }), all.slice(2, 4));
        assert.deepEqual(await page({ before: all[4] }), all.slice(2, 4));
        assert.deepEqual(await page({ after: all[0], before: all[2] }), all.slice(1, 2));
        assert.deepEqual(await page({ after: all.at(-1) }), []);
        assert.deepEqual(await page({ after: deleted }), all.slice(0, 2));
      }
    });

    test("every filter of children begins with the index of its value", async (t) => {
      const found = await twoFamilies(t);
      if (found === undefined) return;
      const { parent, holding, key } = found;
      const { store, plans } = watchQueries(found.store);
      const cases: [SubOrganizationFilter | undefined, string][] = [
        [undefined, "organizations_by_parent"],
        [{ by: "organizationName", value: "Acme" }, "organizations_across_name"],
        [{ by: "userName", value: "Bob" }, "users_across_name"],
        [{ by: "userEmail", value: "bob@example.com" }, "users_across_email"],
        [{ by: "userPhoneNumber", value: "+15551234567" }, "users_across_phone_number"],
        [{ by: "publicKey", value: key.publicKey }, "credentials_across"],
        [{ by: "credentialId", value: randomUUID() }, "credentials_across_id"],
      ];
      for (const [filter, index] of cases) {
        for (const span of [{}, { after: holding[1] }, { before: holding[3] }]) {
          await listSubOrganizationIds(store, parent, filter, { ...span, limit: 3 });
          const plan = (await plans()).at(-1) ?? "";
          assert.match(plan, new RegExp(`${index}\\b`), plan);
          assert.doesNotMatch(plan, /Seq Scan|SCAN /, plan);
        }
      }
    });

    test("a child is told from a stranger's, and remembered when it was deleted", async (t) => {
      const found = await twoFamilies(t);
      if (found === undefined) return;
      const { store, parent, stranger, deleted, plain } = found;
      assert.deepEqual(await findSubOrganization(store, parent, plain), { deletedAtMs: null });
      assert.deepEqual(await findSubOrganization(store, parent, deleted), { deletedAtMs: nowMs });
      assert.equal(await findSubOrganization(store, stranger, plain), undefined);
      assert.equal(await findSubOrganization(store, parent, parent), undefined);
    });
  });
}
