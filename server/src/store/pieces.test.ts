/** A long list comes in pieces, of one moment, in its order; a short one in one statement. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { birth, newApiKey, newUser, stateChange } from "../../test/store_items.ts";
import { put, remove } from "../state/entities.ts";
import { commitGroup } from "./commit.ts";
import { withLongTurn } from "./long_turn.ts";
import { type Keyed, readByAge, readInOrder } from "./pieces.ts";
import { inLongSnapshot, inSnapshot, isSnapshot } from "./snapshot.ts";
import type { Store } from "./store.ts";
import { listApiKeys, listUsers } from "./users.ts";

/** A list of numbers, told by their texts, that says where each of its pieces was read. */
function numbers(count: number, size: number): { keyed: Keyed<string>; stores: Store[]; afters: string[] } {
  const all = Array.from({ length: count }, (_, n) => String(n).padStart(4, "0"));
  const stores: Store[] = [];
  const afters: string[] = [];
  const keyed: Keyed<string> = {
    size,
    read(store, _, after) {
      stores.push(store);
      afters.push(after);
      return all.filter((each) => each > after).slice(0, size);
    },
    keyOf: (one) => one,
  };
  return { keyed, stores, afters };
}

for (const dialect of dialects) {
  describe(`lists in pieces on ${dialect}`, () => {
    test("a list that ends with its first piece is read once, in no snapshot", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const { keyed, stores } = numbers(9, 10);
      assert.equal((await readInOrder(store, "", keyed)).length, 9);
      assert.deepEqual(stores, [store]);
    });

    test("a longer one is read from its beginning in one snapshot, also where it ends with a piece", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      for (const count of [10, 11, 29, 30, 31]) {
        const { keyed, stores, afters } = numbers(count, 10);
        const read: string[] = await readInOrder(store, "", keyed);
        assert.deepEqual(read, read.toSorted());
        assert.equal(new Set(read).size, count);
        assert.deepEqual(afters.slice(0, 2), ["", ""]);
        assert.ok(stores.slice(1).every((each) => isSnapshot(each) && each === stores[1]));
      }
    });

    test("in a snapshot it goes on where the first piece ends", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const { keyed, stores, afters } = numbers(25, 10);
      await inSnapshot(store, async (snapshot) => {
        assert.equal((await readInOrder(snapshot, "", keyed)).length, 25);
        assert.ok(stores.every((each) => each === snapshot));
      });
      assert.deepEqual(afters, ["", "0009", "0019"]);
    });

    test("the oldest come first, and those of one moment by their keys", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const { keyed } = numbers(25, 10);
      const read = await readByAge(store, "", keyed, (one) => Number(one) % 3);
      const wanted = read.toSorted((a, b) => (Number(a) % 3) - (Number(b) % 3) || (a < b ? -1 : 1));
      assert.deepEqual(read, wanted);
    });

    test("what fails in a later piece fails the list, and lets go of its snapshot", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      for (let i = 0; i < 12; i++) {
        const { keyed } = numbers(25, 10);
        const failing: Keyed<string> = {
          ...keyed,
          read: (...asked) => (asked[2] === "0009" ? Promise.reject(new Error("no")) : keyed.read(...asked)),
        };
        await assert.rejects(readInOrder(store, "", failing), /no/);
      }
      assert.equal((await readInOrder(store, "", numbers(25, 10).keyed)).length, 25);
    });

    test("who gives turns is asked for one before a list goes on in a snapshot, and not before a short one", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      let asked = 0;
      const takeTurn = async () => {
        asked += 1;
      };
      const read = (count: number) => withLongTurn(takeTurn, () => readInOrder(store, "", numbers(count, 10).keyed));
      assert.equal((await read(9)).length, 9);
      assert.equal(asked, 0);
      assert.equal((await read(25)).length, 25);
      assert.equal(asked, 1);
      await withLongTurn(takeTurn, () =>
        inLongSnapshot(store, (snapshot) => readInOrder(snapshot, "", numbers(25, 10).keyed)),
      );
      assert.equal(asked, 2);
      const refused = withLongTurn(
        () => Promise.reject(new Error("too many")),
        () => readInOrder(store, "", numbers(25, 10).keyed),
      );
      await assert.rejects(refused, /too many/);
    });

    test("three hundred users are listed with all their keys, whoever is born and dies meanwhile", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const organizationId = randomUUID();
      const users = Array.from({ length: 300 }, (_, n) =>
        newUser({ createdAtMs: 1_000 + (n % 7), apiKeys: [newApiKey(), newApiKey()] }),
      );
      const passing = newUser({ apiKeys: [newApiKey()] });
      await commitGroup(store, [birth(organizationId, users)], []);
      let isDone = false;
      const writing = (async () => {
        for (let version = 1; !isDone; version++) {
          const change = version % 2 === 1 ? put("user", passing) : remove("user", passing.userId);
          await commitGroup(store, [stateChange(organizationId, version, { changes: [change] })], []);
          await new Promise(setImmediate);
        }
      })();
      const wanted = users.toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.userId < b.userId ? -1 : 1));
      for (let i = 0; i < 5; i++) {
        const listed = await listUsers(store, organizationId);
        const own = listed.filter(({ userId }) => userId !== passing.userId);
        assert.deepEqual(
          own.map(({ userId, apiKeys }) => [userId, apiKeys.length]),
          wanted.map(({ userId }) => [userId, 2]),
        );
        for (const { userId, apiKeys } of listed) assert.equal(apiKeys.length, userId === passing.userId ? 1 : 2);
        const keys = await listApiKeys(store, organizationId);
        assert.ok(keys.length === 600 || keys.length === 601, `${keys.length}`);
        assert.equal(new Set(keys.map(({ apiKeyId }) => apiKeyId)).size, keys.length);
      }
      isDone = true;
      await writing;
    });
  });
}
