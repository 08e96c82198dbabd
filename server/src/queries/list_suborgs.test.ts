import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import { testCaller } from "../../test/caller.ts";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { birth, newApiKey, newUser } from "../../test/store_items.ts";
import { commitGroup } from "../store/commit.ts";
import { dialectOf } from "../views/dialect.ts";
import { listSuborgs } from "./list_suborgs.ts";

// The generator of P-256, in both forms of SEC 1.
const x = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
const y = "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";

for (const dialect of dialects) {
  describe(`list_suborgs on ${dialect}`, () => {
    async function parentAndChild(t: TestContext) {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return undefined;
      const [parent, child] = [randomUUID(), randomUUID()];
      const key = { ...newApiKey(), publicKey: `03${x}` };
      const user = newUser({ userEmail: "Bob@example.com", userPhoneNumber: "+15551234567", apiKeys: [key] });
      await commitGroup(store, [birth(parent), birth(child, [user], parent)], []);
      const caller = testCaller({ organizationId: parent });
      const list = async (request: object) => {
        const body = { organizationId: parent, ...request };
        return (await listSuborgs.run(store, caller, body, dialectOf(undefined))).organizationIds;
      };
      return { list, child, key };
    }

    test("each filter takes the values clients send for it", async (t) => {
      const found = await parentAndChild(t);
      if (found === undefined) return;
      const { list, child, key } = found;
      const values: [filterType: string, ...values: string[]][] = [
        ["NAME", "Acme"],
        ["USERNAME", "Ann"],
        ["EMAIL", "Bob@example.com", "bob@EXAMPLE.com"],
        ["PHONE_NUMBER", "+15551234567"],
        ["CREDENTIAL_ID", key.apiKeyId],
        ["PUBLIC_KEY", `03${x}`, `0x03${x}`, `03${x.toUpperCase()}`, `04${x}${y}`, `0x04${x}${y}`.toUpperCase()],
      ];
      for (const [filterType, ...accepted] of values) {
        for (const filterValue of accepted) assert.deepEqual(await list({ filterType, filterValue }), [child]);
      }
      for (const open of [{}, { filterType: "", filterValue: "" }, { filterType: null, filterValue: null }]) {
        assert.deepEqual(await list(open), [child]);
      }
    });

    test("what cannot be a filter is refused with the reason", async (t) => {
      const found = await parentAndChild(t);
      if (found === undefined) return;
      const { list } = found;
      const refusals: [request: object, code: string, message: RegExp][] = [
        [{ filterType: "EMAIL" }, "invalid_argument", /missing field `filterValue`/],
        [{ filterValue: "x" }, "invalid_argument", /missing field `filterType`/],
        [{ filterType: "email", filterValue: "a@b.co" }, "invalid_argument", /`email` is none of CREDENTIAL_ID, NAME/],
        [{ filterType: "toString", filterValue: "x" }, "invalid_argument", /`toString` is none of/],
        [{ filterType: "EMAIL", filterValue: "nobody" }, "invalid_argument", /invalid email address/],
        [{ filterType: "PHONE_NUMBER", filterValue: "555" }, "invalid_argument", /E\.164/],
        [{ filterType: "PUBLIC_KEY", filterValue: "xyz" }, "invalid_argument", /not hex/],
        [{ filterType: "PUBLIC_KEY", filterValue: `05${x}` }, "invalid_argument", /neither a point/],
        [{ filterType: "OIDC_TOKEN", filterValue: "x" }, "unavailable", /^issuers cannot be asked now/],
        [{ paginationOptions: { after: randomUUID() } }, "invalid_argument", /invalid pagination cursor/],
      ];
      for (const [request, code, message] of refusals) await assert.rejects(list(request), { code, message });
    });
  });
}
