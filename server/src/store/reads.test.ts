import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { birth, newApiKey, newUser, signing, stateChange } from "../../test/store_items.ts";
import {
  findProvenInSubOrganizations,
  findUnprovenInSubOrganizations,
  hasIdentityAt,
  listHeads,
  listLeaves,
  maxCandidates,
} from "./across.ts";
import { findActivity, findActivityByFingerprint } from "./activities.ts";
import { commitGroup } from "./commit.ts";
import { findCaller, findFactsLength, findStateLength, loadHeaders, loadJournal, loadState } from "./organizations.ts";

for (const dialect of dialects) {
  describe(`reads on ${dialect}`, () => {
    /** A parent, two children, and a stranger; one key is in both children and the stranger, another in one child. */
    async function family(t: TestContext) {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return undefined;
      const [parent, left, right, stranger] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()].sort();
      assert(parent && left && right && stranger);
      const [shared, single] = [newApiKey(), newApiKey()];
      const withKeys = (...keys: (typeof shared)[]) =>
        newUser({ apiKeys: keys.map((key) => ({ ...key, apiKeyId: randomUUID() })) });
      const items = [
        birth(parent),
        birth(left, [withKeys(shared)], parent),
        birth(right, [withKeys(shared, single)], parent),
        birth(stranger, [withKeys(shared, single)]),
      ];
      await commitGroup(store, items, []);
      return { store, parent, left, right, stranger, shared, single };
    }

    test("a caller is found by organization, curve and key, and in no other organization", async (t) => {
      const found = await family(t);
      if (found === undefined) return;
      const { store, parent, right, single } = found;
      const caller = await findCaller(store, right, single.curve, single.publicKey);
      assert.equal(caller?.credential?.userName, "Ann");
      assert.equal(caller.parentId, parent);
      assert.deepEqual(await findCaller(store, parent, single.curve, single.publicKey), {
        organizationId: parent,
        organizationName: "Acme",
      });
      assert.equal(
        (await findCaller(store, right, "API_KEY_CURVE_SECP256K1", single.publicKey))?.credential,
        undefined,
      );
      assert.equal(await findCaller(store, randomUUID(), single.curve, single.publicKey), undefined);
    });

    test("how long a state is can be asked without reading it, and is that of what would be read", async (t) => {
      const found = await family(t);
      if (found === undefined) return;
      const { store, left, right } = found;
      const facts = { name: "keyFacts/0a", content: new Uint8Array(5_000) };
      const members = { name: "members", content: new Uint8Array(300_000) };
      const change = stateChange(left, 1);
      assert.ok(change.next !== undefined);
      await commitGroup(store, [{ ...change, next: { ...change.next, pages: [facts, members] } }], []);
      const read = (await loadState(store, left))?.pages ?? assert.fail();
      const length = read.reduce((sum, { content }) => sum + content.length, 0);
      assert.ok(length > 300_000);
      assert.equal(await findStateLength(store, left), length);
      assert.equal(await findStateLength(store, randomUUID()), 0);
      assert.equal(await findFactsLength(store, left), 5_000);
      assert.equal(await findFactsLength(store, right), 0);
    });

    test("a key is found below its parent only, apart where it is proven, and of many copies the oldest", async (t) => {
      const found = await family(t);
      if (found === undefined) return;
      const { store, parent, left, right, stranger, shared, single } = found;
      const idsBy = (find: typeof findProvenInSubOrganizations) => async (of: string, key: typeof shared) =>
        (await find(store, of, key.curve, key.publicKey)).map(({ organizationId }) => organizationId);
      const unprovenSince =
        (fromMs: number): typeof findProvenInSubOrganizations =>
        (...asked) =>
          findUnprovenInSubOrganizations(...asked, fromMs);
      const [proven, unproven] = [idsBy(findProvenInSubOrganizations), idsBy(unprovenSince(0))];
      assert.deepEqual(await unproven(parent, single), [right]);
      assert.deepEqual(await unproven(parent, shared), [left, right].sort());
      assert.deepEqual(await unproven(stranger, shared), []);
      assert.deepEqual(await proven(parent, shared), []);
      const [row] = await findUnprovenInSubOrganizations(store, parent, single.curve, single.publicKey, 0);
      assert.deepEqual(await idsBy(unprovenSince(single.createdAtMs))(parent, single), [right]);
      assert.deepEqual(await idsBy(unprovenSince(single.createdAtMs + 1))(parent, single), []);
      assert.deepEqual(row, await findCaller(store, right, single.curve, single.publicKey));

      const copies = (count: number, isProven: boolean) =>
        Array.from({ length: count }, (_, index) => {
          const createdAtMs = shared.createdAtMs + 1 + index;
          const key = { ...shared, apiKeyId: randomUUID(), createdAtMs, ...(isProven && { proven: true as const }) };
          return birth(randomUUID(), [newUser({ apiKeys: [key] })], parent);
        });
      const [later, marked] = [copies(maxCandidates, false), copies(maxCandidates + 1, true)];
      await commitGroup(store, [...later, ...marked].reverse(), []);
      const idsOf = (items: typeof later) => items.map(({ organizationId }) => organizationId);
      assert.deepEqual(
        await unproven(parent, shared),
        [...[left, right].sort(), ...idsOf(later)].slice(0, maxCandidates),
      );
      assert.deepEqual(await proven(parent, shared), idsOf(marked).slice(0, maxCandidates));
    });

    test("an issuer is known where anybody is registered, by its exact name", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const issuer = "https://login.example/tenant";
      const provider = {
        ...{ providerId: randomUUID(), providerName: "own", issuer },
        ...{ audience: "a".repeat(2_000), subject: 'quoted " and ü'.repeat(200), proven: true as const },
        ...{ createdAtMs: 1, updatedAtMs: 1 },
      };
      await commitGroup(store, [birth(randomUUID(), [newUser({ oauthProviders: [provider] })])], []);
      assert.equal(await hasIdentityAt(store, issuer), true);
      for (const other of [`${issuer}/`, "https://login.example", `${issuer}"`, "https://login.example/tenanu", ""]) {
        assert.equal(await hasIdentityAt(store, other), false, other);
      }
    });

    test("an activity is found by its fingerprint or id within its organization only", async (t) => {
      const found = await family(t);
      if (found === undefined) return;
      const { store, left, right } = found;
      const { activity, ...item } = signing(left, 1);
      assert(activity);
      await commitGroup(store, [{ ...item, activity }], []);
      const stored = await findActivityByFingerprint(store, left, activity.fingerprint);
      assert.equal(stored?.activityId, activity.activityId);
      assert.deepEqual(await findActivity(store, left, activity.activityId), stored);
      assert.equal(await findActivityByFingerprint(store, right, activity.fingerprint), undefined);
      assert.equal(await findActivity(store, right, activity.activityId), undefined);
    });

    test("what does not exist is undefined or empty", async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      assert.equal(await loadState(store, randomUUID()), undefined);
      assert.deepEqual(await loadHeaders(store, randomUUID(), 0, 9), []);
      assert.deepEqual(await loadJournal(store, randomUUID(), 9, 9), []);
      assert.deepEqual(await listHeads(store, undefined, 9), []);
      assert.deepEqual(await listLeaves(store, undefined, 9), []);
    });

    test("heads and leaves are listed in pages by key", async (t) => {
      const found = await family(t);
      if (found === undefined) return;
      const { store, parent, left, right, stranger } = found;
      await commitGroup(store, [stateChange(left, 1), signing(left, 2), signing(parent, 1)], []);
      const first = await listHeads(store, undefined, 3);
      assert.deepEqual(
        first.map(({ organizationId, version }) => [organizationId, version]),
        [
          [parent, 1],
          [left, 2],
          [right, 1],
        ],
      );
      assert.deepEqual(
        (await listHeads(store, right, 3)).map(({ organizationId }) => organizationId),
        [stranger],
      );
      const all = await listLeaves(store, undefined, 100);
      assert.equal(all.length, 7);
      const paged: typeof all = [];
      for (
        let page = await listLeaves(store, undefined, 2);
        page.length > 0;
        page = await listLeaves(store, paged.at(-1), 2)
      ) {
        paged.push(...page);
      }
      assert.deepEqual(paged, all);
    });

    test("a state is read whole while others write it", async (t) => {
      const found = await family(t);
      if (found === undefined) return;
      const { store, left } = found;
      const page = (version: number) => ({ name: "members", content: Uint8Array.of(version) });
      const writer = (async () => {
        for (let version = 1; version < 100; version++) {
          const item = stateChange(left, version);
          const next = { version: version + 1, header: new Uint8Array([1]), directory: new Uint8Array([1]) };
          await commitGroup(store, [{ ...item, next: { ...next, pages: [page(version + 1)] } }], []);
          await new Promise(setImmediate);
        }
      })();
      for (let i = 0; i < 100; i++) {
        const state = await loadState(store, left);
        const members = state?.pages.find(({ name }) => name === "members")?.content;
        if (state !== undefined && state.version > 1) assert.equal(members?.[0], state.version);
        await new Promise(setImmediate);
      }
      await writer;
    });
  });
}
