/** How keys are found and deleted among many: by an index of the very thing that is asked for. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import { account, bringing, changing, deleted, privateKey, row, wallet } from "../../test/key_items.ts";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { watchQueries } from "../../test/query_plans.ts";
import { birth } from "../../test/store_items.ts";
import type { RecordWish } from "../state/record_wish.ts";
import { commitGroup } from "./commit.ts";
import { listPrivateKeys } from "./private_keys.ts";
import { findRecords } from "./records.ts";
import { findAccountsByAddress, listAccounts } from "./wallets.ts";

for (const dialect of dialects) {
  describe(`keys among many on ${dialect}`, () => {
    /** A thousand accounts in twenty wallets and two hundred private keys, one of each of which is asked for. */
    async function manyKeys(t: TestContext) {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return undefined;
      const organizationId = randomUUID();
      const own = wallet(organizationId, "own");
      const first = account(own);
      const key = privateKey(organizationId, "key");
      const wallets = Array.from({ length: 20 }, (_, n) => {
        const other = wallet(organizationId, `wallet ${n}`);
        const accounts = Array.from({ length: 50 }, (_, m) => row(account(other, { path: `m/${m}` })));
        return [row(other, `seed ${n}`), ...accounts];
      });
      const keys = Array.from({ length: 200 }, (_, n) => row(privateKey(organizationId, `key ${n}`), `secret ${n}`));
      const rows = [row(own, "own"), row(first), row(key, "key"), ...wallets.flat(), ...keys];
      const made = await commitGroup(store, [birth(organizationId), bringing(organizationId, 1, ...rows)], []);
      assert.deepEqual(made.committed, [true, true]);
      // As autovacuum would have done by the time that there are so many.
      if (store.dialect === "postgres") await store.pool.query("analyze");
      return { ...watchQueries(store), organizationId, own, first, key };
    }

    /** The line that says how a table is read, and in PostgreSQL the one below it, which says by what. */
    function accessOf(plan: string, table: string): string {
      const lines = plan.split("\n");
      const at = lines.findIndex((line) => new RegExp(`(SEARCH|SCAN|Scan using \\S+ on) ${table}\\b`).test(line));
      return lines.slice(at, at + (dialect === "sqlite" ? 1 : 2)).join(" ");
    }

    test("each look-up begins with the index of what it is given", async (t) => {
      const found = await manyKeys(t);
      if (found === undefined) return;
      const { store, plans, organizationId: id, own, first, key } = found;
      const { walletId } = own;
      const { curve, addressFormat } = first;
      const [keyAddress] = key.addresses;
      const find = (wish: RecordWish) => () => findRecords(store, id, wish);
      const looks: [work: () => Promise<unknown>, table: string, given: string][] = [
        [find({ by: "address", address: first.address }), "wallet_accounts", "address_key"],
        [find({ by: "signWith", signWith: keyAddress?.address ?? "" }), "private_key_addresses", "address_key"],
        [() => findAccountsByAddress(store, id, walletId, first.address), "wallet_accounts", "address_key"],
        [find({ by: "place", walletId, pathKey: "m/0", curve, addressFormat }), "wallet_accounts", "wallet_id"],
        [find({ by: "name", kind: "walletAccount", name: "x" }), "wallet_accounts", "name_key"],
        [find({ by: "blindIndex", kind: "wallet", blindIndex: "x" }), "wallets", "blind_index"],
        [find({ by: "blindIndex", kind: "privateKey", blindIndex: "x" }), "private_keys", "blind_index"],
      ];
      for (const [work, table, given] of looks) {
        await work();
        const plan = (await plans()).at(-1) ?? "";
        assert.match(accessOf(plan, table), new RegExp(`${given} ?=`), plan);
      }
    });

    test("lists come in the order of their index, without being sorted", async (t) => {
      const found = await manyKeys(t);
      if (found === undefined) return;
      const { store, plans, organizationId: id, own } = found;
      const lists: [work: () => Promise<unknown>, index: string][] = [
        [() => listPrivateKeys(store, id), "private_keys_in_order"],
        [() => listAccounts(store, id, own.walletId, { limit: 10 }), "wallet_accounts_of_wallet"],
        [() => listAccounts(store, id, undefined, { limit: 10 }), "wallet_accounts_in_order"],
      ];
      for (const [work, index] of lists) {
        await work();
        const plan = (await plans()).at(-1) ?? "";
        assert.ok(plan.includes(index), plan);
        assert.doesNotMatch(plan, /TEMP B-TREE|Sort/, plan);
      }
    });

    test("a deletion reads only the rows that go with it", async (t) => {
      const found = await manyKeys(t);
      if (found === undefined) return;
      const { store, plans, organizationId, own, key } = found;
      const gone = [deleted("wallet", own.walletId), deleted("privateKey", key.privateKeyId)];
      const { committed } = await commitGroup(store, [changing(organizationId, 2, ...gone)], []);
      assert.deepEqual(committed, [true]);
      const plan = (await plans()).join("\n");
      assert.match(accessOf(plan, "wallet_accounts"), /wallet_id ?=/, plan);
      assert.match(accessOf(plan, "private_keys"), /private_key_id ?=/, plan);
      assert.match(accessOf(plan, "private_key_addresses"), /private_key_id ?=/, plan);
    });
  });
}
