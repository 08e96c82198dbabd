import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import { dialects, openTestStore, testSource } from "../../test/open_test_store.ts";
import {
  birth,
  boot,
  newActivity,
  newApiKey,
  newLeaf,
  newState,
  newUser,
  nowMs,
  signing,
  stateChange,
} from "../../test/store_items.ts";
import { put, remove } from "../state/entities.ts";
import { slotOf } from "../state/journal.ts";
import { findDeployment, loadUnreleased } from "./across.ts";
import { findActivity } from "./activities.ts";
import { commitGroup } from "./commit.ts";
import type { CommitGroup, CommitItem, CommittedGroup } from "./commit_item.ts";
import { type LongWriter, startLongWriter } from "./long_writer.ts";
import { findCaller, loadHeaders, loadJournal, loadState } from "./organizations.ts";
import { closeStore, openStore, type Store } from "./store.ts";
import { findUser } from "./users.ts";

/** Stores whose commits all go through a thread of their own, like long ones. */
const longWriters = new WeakMap<Store, LongWriter>();

function commitInto(store: Store, ...group: CommitGroup): Promise<CommittedGroup> {
  return longWriters.get(store)?.commit(...group) ?? commitGroup(store, ...group);
}

async function commit(store: Store, ...items: CommitItem[]): Promise<boolean[]> {
  return (await commitInto(store, items, [])).committed;
}

async function openCommitStore(t: TestContext, dialect: Store["dialect"], isLong: boolean): Promise<Store | undefined> {
  const store = await openTestStore(t, dialect);
  if (!isLong || store?.dialect !== "sqlite") return store;
  const writer = startLongWriter();
  t.after(() => writer.close());
  writer.open(store.sqlite);
  longWriters.set(store, writer);
  return store;
}

const ways = [...dialects.map((dialect) => ({ dialect, isLong: false })), { dialect: "sqlite", isLong: true }] as const;

async function count(store: Store, table: "leaves" | "activities" | "pages" | "users" | "user_tags" | "credentials") {
  const { n } = await store.db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as("n"))
    .executeTakeFirstOrThrow();
  return Number(n);
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

for (const { dialect, isLong } of ways) {
  /** A test on a store that has one organization at version 1. */
  const withOrganization = (
    name: string,
    run: (store: Store, organizationId: string, t: TestContext) => Promise<void>,
  ) =>
    test(name, async (t) => {
      const store = await openCommitStore(t, dialect, isLong);
      if (store === undefined) return;
      const organizationId = randomUUID();
      assert.deepEqual(await commit(store, birth(organizationId)), [true]);
      await run(store, organizationId, t);
    });

  describe(`group commit on ${dialect}${isLong ? ", in the thread of long ones" : ""}`, () => {
    withOrganization("an item commits only while the heads of others that it requires stand", async (store, parent) => {
      const [one, two] = [randomUUID(), randomUUID()];
      await commit(store, birth(one, [newUser()], parent), birth(two, [newUser()], parent));
      const headOf = async (id: string) => (await loadState(store, id))?.header ?? new Uint8Array();
      const first = { organizationId: parent, header: await headOf(parent) };
      assert.deepEqual(await commit(store, stateChange(one, 1, { standing: [first] })), [true]);
      assert.deepEqual(await commit(store, stateChange(parent, 1)), [true]);
      const missed = [stateChange(one, 2, { standing: [first] }), signing(two, 1, { standing: [first] })];
      assert.deepEqual(await commit(store, ...missed), [false, false]);
      const second = { organizationId: parent, header: await headOf(parent) };
      // One that requires what is gone, in a group with others, takes only itself back.
      const [stale, fresh] = [stateChange(one, 2, { standing: [first] }), stateChange(two, 1, { standing: [second] })];
      assert.deepEqual(await commit(store, stale, signing(parent, 2), fresh), [false, true, true]);
      const both = [signing(two, 2, { standing: [second] }), signing(two, 2, { standing: [first] })];
      assert.deepEqual(
        await commit(store, ...both),
        [true, false],
        "two states of one parent are never both the newest",
      );
      assert.equal((await loadState(store, parent))?.version, 2, "the parent is where it was");
    });

    withOrganization("what requires a head waits for nobody else who requires it", async (store, parent) => {
      const children = Array.from({ length: 12 }, () => randomUUID());
      await commit(store, ...children.map((id) => birth(id, [newUser()], parent)));
      const standing = [
        { organizationId: parent, header: (await loadState(store, parent))?.header ?? new Uint8Array() },
      ];
      const groups = children.map((id) => commit(store, stateChange(id, 1, { standing }), signing(parent, 1)));
      assert.deepEqual(await Promise.all(groups), Array(children.length).fill([true, true]));
    });

    withOrganization("an activity writes state, leaf, row and projection together", async (store, id) => {
      const item = stateChange(id, 1);
      assert.deepEqual(await commit(store, item), [true]);
      const state = await loadState(store, id);
      assert.equal(state?.version, 2);
      assert.equal(hex(state.header), hex(item.next?.header ?? new Uint8Array()));
      assert.equal(hex(state.directory), hex(item.next?.directory ?? new Uint8Array()));
      const pages = new Map(state.pages.map(({ name, content }) => [name, hex(content)]));
      assert.deepEqual([...pages.keys()].sort(), ["members", "settings"]);
      assert.equal(pages.get("members"), hex(item.next?.pages[0]?.content ?? new Uint8Array()));
      const { body, ...activity } = (await findActivity(store, id, item.activity?.activityId ?? "")) ?? newActivity();
      const { body: wrote, ...expected } = item.activity ?? newActivity();
      assert.deepEqual(activity, expected);
      assert.equal(hex(body), hex(wrote));
      assert.equal(await count(store, "user_tags"), 1);
      assert.deepEqual(
        (await loadUnreleased(store, 10)).map(({ version, activityId }) => [version, activityId]),
        [
          [1, null],
          [2, expected.activityId],
        ],
      );
    });

    withOrganization("a chain moves the version once and keeps every leaf and activity", async (store, id) => {
      const chain = [
        signing(id, 1),
        stateChange(id, 1),
        stateChange(id, 2),
        signing(id, 3),
        stateChange(id, 3),
        signing(id, 4),
      ];
      assert.deepEqual(
        await commit(store, ...chain),
        chain.map(() => true),
      );
      assert.equal((await loadState(store, id))?.version, 4);
      assert.equal(await count(store, "leaves"), 7);
      assert.equal(await count(store, "activities"), 6);
      assert.equal(await count(store, "user_tags"), 3);
      assert.equal(await count(store, "pages"), 2);
      const headers = chain.flatMap(({ next }) => (next === undefined ? [] : hex(next.header)));
      assert.deepEqual((await loadHeaders(store, id, 2, 4)).map(hex), headers);
      assert.deepEqual((await loadHeaders(store, id, 3, 3)).map(hex), headers.slice(1, 2));
      const journal = chain.flatMap(({ next, activity }) => (next === undefined ? [] : (activity?.fingerprint ?? [])));
      assert.deepEqual((await loadJournal(store, id, slotOf(nowMs), 4)).map(hex), journal);
      assert.deepEqual((await loadJournal(store, id, slotOf(nowMs), 3)).map(hex), journal.slice(0, 2));
    });

    withOrganization(
      "an organization that moved on keeps out all of its items and none of the others'",
      async (store, id) => {
        const [other, third] = [randomUUID(), randomUUID()];
        assert.deepEqual(await commit(store, birth(other), birth(third)), [true, true]);
        assert.deepEqual(await commit(store, stateChange(id, 1)), [true]);
        const before = await loadState(store, id);
        const group = [
          stateChange(id, 1),
          stateChange(other, 1),
          stateChange(id, 2),
          signing(third, 1),
          signing(third, 7),
        ];
        assert.deepEqual(await commit(store, ...group), [false, true, false, true, false]);
        assert.deepEqual(await loadState(store, id), before);
        assert.equal((await loadState(store, other))?.version, 2);
        assert.equal(await count(store, "leaves"), 6);
        assert.equal(await count(store, "activities"), 3);
        assert.equal(await count(store, "user_tags"), 2);
      },
    );

    withOrganization("signing at a version that is gone commits nothing", async (store, id) => {
      await commit(store, stateChange(id, 1));
      assert.deepEqual(await commit(store, signing(id, 1)), [false]);
      assert.deepEqual(await commit(store, signing(randomUUID(), 1)), [false]);
      assert.deepEqual(await commit(store, signing(id, 2), signing(id, 2)), [true, true]);
    });

    withOrganization("items after a gap in their chain wait, those before it commit", async (store, id) => {
      const group = [stateChange(id, 1), stateChange(id, 1), stateChange(id, 2), signing(id, 2)];
      assert.deepEqual(await commit(store, ...group), [true, false, false, false]);
      assert.equal((await loadState(store, id))?.version, 2);
      assert.equal(await count(store, "activities"), 1);
    });

    withOrganization("a repeated fingerprint drops its organization alone", async (store, id) => {
      const other = randomUUID();
      const first = signing(id, 1);
      assert.deepEqual(await commit(store, birth(other), first), [true, true]);
      const again = newActivity({ fingerprint: first.activity?.fingerprint ?? "" });
      const group = [
        stateChange(other, 1),
        stateChange(id, 1),
        signing(id, 2, { activity: again }),
        birth(randomUUID()),
        stateChange(other, 2),
      ];
      assert.deepEqual(await commit(store, ...group), [true, false, false, true, true]);
      assert.equal((await loadState(store, id))?.version, 1);
      assert.equal((await loadState(store, other))?.version, 3);
      assert.equal(await count(store, "activities"), 3);
    });

    withOrganization("a finished activity is never overwritten", async (store, id) => {
      const first = signing(id, 1);
      await commit(store, first);
      for (const status of [
        "ACTIVITY_STATUS_COMPLETED",
        "ACTIVITY_STATUS_REJECTED",
        "ACTIVITY_STATUS_CONSENSUS_NEEDED",
      ]) {
        const activity = newActivity({ ...first.activity, status });
        assert.deepEqual(await commit(store, signing(id, 1, { activity })), [false]);
        assert.deepEqual(await commit(store, stateChange(id, 1, { activity })), [false]);
      }
      assert.equal(
        (await findActivity(store, id, first.activity?.activityId ?? ""))?.status,
        "ACTIVITY_STATUS_COMPLETED",
      );
      const twice = signing(id, 1);
      const copy = { ...twice, leaf: newLeaf() };
      assert.deepEqual(await commit(store, twice, copy), [true, false]);
      assert.equal(await count(store, "leaves"), 3);
    });

    withOrganization("an activity that waited for consensus is replaced by its outcome", async (store, id) => {
      const waiting = newActivity({ status: "ACTIVITY_STATUS_CONSENSUS_NEEDED", result: null, votes: "[1]" });
      await commit(store, stateChange(id, 1, { activity: waiting, changes: [] }));
      const done = {
        ...waiting,
        status: "ACTIVITY_STATUS_COMPLETED",
        result: "{}",
        votes: "[]",
        slot: slotOf(nowMs),
        updatedAtMs: nowMs + 5,
      };
      assert.deepEqual(await commit(store, stateChange(id, 2, { activity: done })), [true]);
      const { body: _, ...stored } = (await findActivity(store, id, waiting.activityId)) ?? newActivity();
      // The submission's own vote stays in the row; later ones have rows of their own.
      const { body: __, ...expected } = { ...done, votes: waiting.votes };
      assert.deepEqual(stored, expected);
      assert.deepEqual((await loadJournal(store, id, slotOf(nowMs), 3)).map(hex), [waiting.fingerprint]);

      const inOneGroup = newActivity({ status: "ACTIVITY_STATUS_CONSENSUS_NEEDED", result: null });
      const outcome = { ...inOneGroup, status: "ACTIVITY_STATUS_REJECTED", slot: slotOf(nowMs) };
      const chain = [stateChange(id, 3, { activity: inOneGroup }), stateChange(id, 4, { activity: outcome })];
      assert.deepEqual(await commit(store, ...chain), [true, true]);
      assert.equal((await findActivity(store, id, inOneGroup.activityId))?.status, "ACTIVITY_STATUS_REJECTED");
      assert.equal(await count(store, "activities"), 2);
    });

    withOrganization("a repeated leaf drops its organization alone", async (store, id) => {
      const other = randomUUID();
      const item = signing(id, 1);
      await commit(store, item, birth(other));
      const group = [signing(id, 1, { leaf: { ...newLeaf(), number: item.leaf.number } }), stateChange(other, 1)];
      assert.deepEqual(await commit(store, ...group), [false, true]);
    });

    withOrganization("an organization is born once, with others in the same group", async (store, id) => {
      const [child, sibling] = [randomUUID(), randomUUID()];
      const group = [
        birth(child, [newUser()], id),
        stateChange(id, 1),
        stateChange(child, 1),
        birth(sibling, [newUser()], id),
        birth(id),
      ];
      assert.deepEqual(await commit(store, ...group), [true, true, true, true, false]);
      assert.equal((await loadState(store, child))?.version, 2);
      assert.equal((await findCaller(store, child, "", ""))?.parentId, id);
      assert.deepEqual(await commit(store, birth(child, [newUser()], id), birth(randomUUID())), [false, true]);
      assert.equal((await loadState(store, child))?.version, 2);
    });

    withOrganization("the deployment's keyring is written with its first organization and stays", async (store) => {
      assert.equal(await findDeployment(store), undefined);
      const [first, second] = [birth(randomUUID()), birth(randomUUID())];
      const withKeyring = (item: CommitItem, keyring: Uint8Array): CommitItem => ({
        ...item,
        birth: { organizationName: "Acme", keyring },
      });
      assert.deepEqual(await commit(store, withKeyring(first, new Uint8Array([1, 2]))), [true]);
      assert.deepEqual(await commit(store, withKeyring(second, new Uint8Array([3]))), [false]);
      assert.equal(hex((await findDeployment(store)) ?? new Uint8Array()), "0102");
      assert.equal(await loadState(store, second.organizationId), undefined);
    });

    withOrganization("released leaves are marked and their results appear with the next group", async (store, id) => {
      const items = [signing(id, 1), signing(id, 1), signing(id, 1)];
      await commit(store, ...items);
      const released = items.slice(0, 2).map(({ leaf, activity }, index) => ({
        organizationId: id,
        boot,
        number: leaf.number,
        ...(index === 0 ? { activityId: activity?.activityId ?? "", result: '{"r":"00"}' } : {}),
      }));
      // A leaf of the birth and the third signature stay; a group that conflicts releases all the same.
      assert.deepEqual((await commitInto(store, [stateChange(id, 7)], released)).committed, [false]);
      assert.deepEqual((await loadUnreleased(store, 10)).map(({ number }) => number).slice(1), [items[2]?.leaf.number]);
      const results = await Promise.all(
        items.map(async ({ activity }) => (await findActivity(store, id, activity?.activityId ?? ""))?.result),
      );
      assert.deepEqual(results, ['{"r":"00"}', null, null]);
      // The same beside an organization that violates.
      const third = { organizationId: id, boot, number: items[2]?.leaf.number ?? 0 };
      assert.deepEqual((await commitInto(store, [birth(id)], [third])).committed, [false]);
      assert.deepEqual((await commitInto(store, [], [])).committed, []);
      assert.equal((await loadUnreleased(store, 10)).length, 1);
    });

    withOrganization("unreleased leaves come in the order in which they can be released", async (store, id) => {
      await commit(store, signing(id, 1), stateChange(id, 1), signing(id, 2), stateChange(id, 2));
      const rows = await loadUnreleased(store, 10);
      assert.deepEqual(
        rows.map(({ version }) => version),
        [1, 2, 3, null, null],
      );
      assert.deepEqual(
        rows.map(({ header }) => header !== null),
        [true, true, true, false, false],
      );
      assert.deepEqual(
        rows.map(({ sealed }) => sealed !== null),
        [false, false, false, true, true],
      );
      assert.equal((await loadUnreleased(store, 2)).length, 2);
    });

    withOrganization("a user's credentials are exactly its keys", async (store, id) => {
      const user = newUser({ apiKeys: [newApiKey(), newApiKey()] });
      const [kept, dropped] = user.apiKeys;
      assert(kept && dropped);
      const find = async (key: { curve: string; publicKey: string }) =>
        (await findCaller(store, id, key.curve, key.publicKey))?.credential;
      await commit(store, stateChange(id, 1, { changes: [put("user", user)] }));
      const { type } = dropped;
      assert.deepEqual(await find(dropped), {
        credentialId: dropped.apiKeyId,
        userId: user.userId,
        userName: "Ann",
        type,
      });

      const expiring = { ...newApiKey(), expiresAtMs: nowMs + 1 };
      const changed = { ...user, userName: "Bea", apiKeys: [{ ...kept, apiKeyName: "desk" }, expiring] };
      await commit(store, stateChange(id, 2, { changes: [put("user", changed)] }));
      assert.equal(await find(dropped), undefined);
      assert.deepEqual(await find(expiring), {
        credentialId: expiring.apiKeyId,
        userId: user.userId,
        userName: "Bea",
        type,
        expiresAtMs: nowMs + 1,
      });

      // A key moves from one user to another under a new id, within one chain and within one activity.
      const moved = { ...kept, apiKeyId: randomUUID() };
      const heir = newUser({ apiKeys: [moved] });
      const chain = [
        stateChange(id, 3, { changes: [put("user", { ...changed, apiKeys: [] })] }),
        stateChange(id, 4, { changes: [put("user", heir)] }),
        stateChange(id, 5, {
          changes: [put("user", { ...heir, apiKeys: [] }), put("user", { ...changed, apiKeys: [kept] })],
        }),
      ];
      assert.deepEqual(await commit(store, ...chain.slice(0, 2)), [true, true]);
      assert.equal((await find(kept))?.userId, heir.userId);
      assert.deepEqual(await commit(store, ...chain.slice(2)), [true]);
      assert.equal((await find(kept))?.userId, user.userId);

      await commit(store, stateChange(id, 6, { changes: [remove("user", user.userId)] }));
      assert.equal(await find(kept), undefined);
      assert.equal(await count(store, "users"), 2);
    });

    withOrganization(
      "credentials that a change leaves out stay as they are, or as the change before it has them",
      async (store, id) => {
        const user = newUser({ apiKeys: [newApiKey(), newApiKey()] });
        const [kept, dropped] = user.apiKeys;
        assert(kept && dropped);
        const find = async ({ curve, publicKey }: typeof kept) =>
          (await findCaller(store, id, curve, publicKey))?.credential;
        const tagged = (changes: Partial<typeof user>) => ({
          ...put("user", { ...user, ...changes, apiKeys: [] }),
          keepsParts: true as const,
        });
        await commit(store, stateChange(id, 1, { changes: [put("user", user)] }));
        // As the signer wrote it.
        await commit(store, stateChange(id, 2, { changes: JSON.stringify([tagged({ userName: "Bea" })]) }));
        assert.deepEqual([(await find(kept))?.userName, (await find(dropped))?.userName], ["Bea", "Bea"]);
        // Nothing that an index is over.
        const userTags = [randomUUID()];
        await commit(store, stateChange(id, 3, { changes: [tagged({ userName: "Bea", userTags })] }));
        assert.deepEqual((await findUser(store, id, user.userId))?.userTags, userTags);
        const added = newApiKey();
        const chain = [
          stateChange(id, 4, { changes: [put("user", { ...user, apiKeys: [kept, added] })] }),
          stateChange(id, 5, { changes: [tagged({ userName: "Cleo" })] }),
        ];
        assert.deepEqual(await commit(store, ...chain), [true, true]);
        assert.deepEqual([(await find(kept))?.userName, (await find(added))?.userName], ["Cleo", "Cleo"]);
        assert.equal(await find(dropped), undefined);
        await commit(store, stateChange(id, 6, { changes: [remove("user", user.userId)] }));
        assert.equal(await find(kept), undefined);
      },
    );

    withOrganization("the last change of a chain is what the projection shows", async (store, id) => {
      const tag = { tagId: randomUUID(), tagName: "a", createdAtMs: nowMs, updatedAtMs: nowMs };
      const user = newUser();
      const chain = [
        stateChange(id, 1, { changes: [put("userTag", tag), put("user", user)] }),
        stateChange(id, 2, { changes: [remove("userTag", tag.tagId), remove("user", user.userId)] }),
        stateChange(id, 3, { changes: [put("userTag", { ...tag, tagName: "b" })] }),
        stateChange(id, 4, {
          changes: [
            put("settings", { organizationName: "New", features: [], createdAtMs: nowMs, updatedAtMs: nowMs + 3 }),
          ],
        }),
        stateChange(id, 5, { changes: [put("rootQuorum", { threshold: 1, userIds: [user.userId] })] }),
      ];
      assert.deepEqual(
        await commit(store, ...chain),
        chain.map(() => true),
      );
      assert.deepEqual(await store.db.selectFrom("user_tags").select("tag_name").execute(), [{ tag_name: "b" }]);
      assert.equal((await findCaller(store, id, "", ""))?.organizationName, "New");
      assert.equal(await count(store, "users"), 1);
      await commit(store, stateChange(id, 6, { changes: [remove("userTag", tag.tagId)] }));
      assert.equal(await count(store, "user_tags"), 0);
    });

    withOrganization("an error other than a race is thrown and leaves nothing behind", async (store, id) => {
      const other = randomUUID();
      const bad = stateChange(id, 1, { activity: newActivity({ votes: null as unknown as string }) });
      await assert.rejects(commit(store, birth(other), bad), /null|NULL/);
      assert.equal(await loadState(store, other), undefined);
      assert.equal((await loadState(store, id))?.version, 1);
      // A violation elsewhere in the group does not hide it, nor does the repetition apply a part.
      await assert.rejects(
        commit(store, birth(other), birth(id), { ...bad, organizationId: other, expectedVersion: 1 }),
      );
      assert.equal(await loadState(store, other), undefined);
      assert.deepEqual(await commit(store, stateChange(id, 1)), [true]);
    });

    if (dialect === "sqlite") {
      withOrganization("a full disk takes the whole group back", async (store, id) => {
        assert(store.dialect === "sqlite");
        const { database } = store.sqlite;
        // The bound is that of a connection.
        longWriters.delete(store);
        const before = await loadState(store, id);
        const { page_count: pages } = database.prepare("pragma page_count").get() as { page_count: number };
        database.exec(`pragma max_page_count = ${pages + 20}`);
        const large = { ...newState(2), pages: [{ name: "members", content: randomBytes(500_000) }] };
        await assert.rejects(commit(store, birth(randomUUID()), stateChange(id, 1, { next: large })), { errcode: 13 });
        assert.deepEqual(await loadState(store, id), before);
        assert.equal(await count(store, "leaves"), 1);
        database.exec("pragma max_page_count = 1000000");
        assert.deepEqual(await commit(store, stateChange(id, 1, { next: large })), [true]);
      });
    } else {
      withOrganization(
        "a connection lost during a commit is an error and takes the whole group back",
        async (store, id) => {
          assert(store.dialect === "postgres");
          const { pool } = store;
          const holder = await pool.connect();
          await holder.query("begin");
          await holder.query("select from organizations for update");
          const other = randomUUID();
          const lost = assert.rejects(commit(store, birth(other), stateChange(id, 1)), /terminat/);
          const waiting =
            "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
          for (let found = false; !found; ) {
            const { rows } = await pool.query<{ pid: number }>(waiting);
            for (const { pid } of rows)
              found = (await pool.query("select pg_terminate_backend($1)", [pid])).rowCount === 1;
          }
          await lost;
          await holder.query("rollback");
          holder.release();
          assert.equal(await loadState(store, other), undefined);
          assert.deepEqual(await commit(store, stateChange(id, 1)), [true]);
        },
      );
    }

    withOrganization("NUL in text is refused before anything is written", async (store, id) => {
      const nul = "a\0b";
      for (const change of [
        put("user", newUser({ userName: nul })),
        put("user", newUser({ userEmail: nul })),
        put("user", newUser({ apiKeys: [{ ...newApiKey(), apiKeyName: nul }] })),
        put("userTag", { tagId: randomUUID(), tagName: nul, createdAtMs: 0, updatedAtMs: 0 }),
        put("settings", { organizationName: nul, features: [], createdAtMs: 0, updatedAtMs: 0 }),
      ]) {
        await assert.rejects(commit(store, stateChange(id, 1, { changes: [change] })), { code: "internal" });
      }
      await assert.rejects(commit(store, stateChange(id, 1, { activity: newActivity({ failure: nul }) })), {
        code: "internal",
      });
      assert.equal((await loadState(store, id))?.version, 1);
    });

    withOrganization("changes without a new state are our mistake, not a commit", async (store, id) => {
      await assert.rejects(commit(store, signing(id, 1, { changes: [put("user", newUser())] })), { code: "internal" });
      await assert.rejects(commit(store, signing(id, 1, { activity: newActivity({ slot: 4 }) })), { code: "internal" });
      await assert.rejects(commit(store, stateChange(id, 1, { next: newState(1) })), { code: "internal" });
    });

    withOrganization("bytes of any length and value come back as they were", async (store, id) => {
      const contents = [
        new Uint8Array(),
        new Uint8Array(70_000).fill(0x5c),
        Uint8Array.from({ length: 256 }, (_, i) => i),
      ];
      const pages = contents.map((content, index) => ({ name: `p"${index}\\,{}`, content }));
      // A view into a larger buffer must not bring its neighbours.
      pages.push({ name: "view", content: new Uint8Array(randomBytes(64).buffer, 8, 16) });
      await commit(store, stateChange(id, 1, { next: { ...newState(2), pages } }));
      const stored = new Map((await loadState(store, id))?.pages.map(({ name, content }) => [name, hex(content)]));
      for (const { name, content } of pages) assert.equal(stored.get(name), hex(content));
    });

    withOrganization("commits that are started together all take effect", async (store, id) => {
      const others = Array.from({ length: 20 }, () => randomUUID());
      const done = await Promise.all([
        ...others.map((other) => commit(store, birth(other), signing(id, 1))),
        ...others.map(() => commit(store, signing(id, 1))),
      ]);
      assert.deepEqual(done.flat(), Array(60).fill(true));
      assert.equal(await count(store, "activities"), 40);
    });
  });
}

test("two stores race for one organization's version on postgres and exactly one wins each of 500 times", async (t) => {
  const source = await testSource(t, "postgres");
  if (source === undefined) return;
  const stores = [await openStore(source), await openStore(source)];
  t.after(() => Promise.all(stores.map(closeStore)));
  const [first, second] = stores;
  assert(first && second);
  const [id, other] = [randomUUID(), randomUUID()];
  await commit(first, birth(id), birth(other));
  let signed = 0;
  for (let version = 1; version <= 500; version++) {
    const [a, b, c]: boolean[][] = await Promise.all([
      commit(first, stateChange(id, version)),
      commit(second, stateChange(id, version)),
      commit(second, signing(id, version), signing(other, 1)),
    ]);
    assert(a && b && c);
    assert.deepEqual([...a, ...b].sort(), [false, true], `version ${version}`);
    assert.equal(c[1], true);
    signed += Number(c[0]);
  }
  assert.equal((await loadState(first, id))?.version, 501);
  assert.equal((await loadHeaders(first, id, 1, 501)).length, 501);
  assert.equal(await count(first, "activities"), 500 + 500 + signed);
});

test("groups of many organizations in any order from two stores on postgres never fail", async (t) => {
  const source = await testSource(t, "postgres");
  if (source === undefined) return;
  const stores = [await openStore(source), await openStore(source)];
  t.after(() => Promise.all(stores.map(closeStore)));
  const [first] = stores;
  assert(first);
  const ids = Array.from({ length: 6 }, () => randomUUID());
  await commit(first, ...ids.map((id) => birth(id)));
  const wins = new Map<string, number>(ids.map((id) => [id, 0]));
  const run = async (store: Store) => {
    for (let round = 0; round < 40; round++) {
      const order = ids.toSorted(() => Math.random() - 0.5);
      const versions = await Promise.all(order.map(async (id) => (await loadState(store, id))?.version ?? 0));
      const items = order.map((id, i) =>
        i % 3 === 0 ? signing(id, versions[i] ?? 0) : stateChange(id, versions[i] ?? 0),
      );
      const flags = await commit(store, ...items);
      flags.forEach((flag, i) => {
        const id = order[i] ?? "";
        if (flag && items[i]?.next) wins.set(id, (wins.get(id) ?? 0) + 1);
      });
    }
  };
  await Promise.all([...stores, ...stores].map(run));
  for (const id of ids) assert.equal((await loadState(first, id))?.version, 1 + (wins.get(id) ?? 0));
});
