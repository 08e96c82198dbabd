import assert from "node:assert/strict";
import { test } from "node:test";
import type { CommitItem } from "../../store/commit_item.ts";
import { createPresence } from "../bounds/presence.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { CommitQueue } from "./commit_queue.ts";
import type { Releases } from "./releases.ts";
import type { Run } from "./run.ts";

type Written = { activityIds: number[]; isLong: boolean };

/** Everything is committed and released; what it notes are the groups, each of which it says took so long. */
function createQueue(workedMs = 0): {
  written: Written[];
  commit(item: CommitItem): Promise<unknown>;
  isBehind(id: string, underWay?: number): boolean;
} {
  const written: Written[] = [];
  const releases = {
    async commit(items: readonly CommitItem[], isLong: boolean) {
      written.push({ activityIds: items.map(({ leaf }) => leaf.number), isLong });
      return { committed: items.map(() => true), workedMs };
    },
    release: async (leaves: readonly unknown[]) => leaves.map(() => ({ kind: "released", result: undefined })),
  };
  const link = { preparing: () => 0 };
  const presence = createPresence();
  for (const seen of ["somebody", "somebody else"]) presence.seen(seen);
  const queue = new CommitQueue(link as SignerLink, releases as unknown as Releases, presence);
  const run = { isCurrent: () => true, reached: () => undefined, abandon: () => undefined } as unknown as Run;
  return {
    written,
    commit: (item) => queue.commit(item, run),
    isBehind: (id, underWay = 0) => queue.isBehind(id, underWay),
  };
}

let numbers = 0;

function leafOf(bytes: number) {
  numbers += 1;
  return { boot: "", number: numbers, leaf: new Uint8Array(bytes) };
}

/** An item whose changes are the signer's JSON. */
function itemOf(organizationId: string, more: Partial<CommitItem>): CommitItem {
  return {
    organizationId,
    expectedVersion: 1,
    changes: "[]",
    leaf: leafOf(100),
    ...more,
  };
}

const removals = (count: number) =>
  JSON.stringify(Array.from({ length: count }, (_, id) => ({ op: "remove", kind: "privateKey", id: `${id}` })));

test("what is short in bytes and has many rows is committed as something long", async () => {
  const records = Array.from({ length: 100 }, () => ({ content: new Uint8Array(10), sealed: new Uint8Array(10) }));
  const pages = Array.from({ length: 100 }, (_, page) => ({ name: `${page}`, content: new Uint8Array(10) }));
  const next = { version: 2, header: new Uint8Array(32), directory: new Uint8Array(32), pages };
  for (const [what, many] of Object.entries({
    changes: { changes: removals(100) },
    records: { records },
    pages: { next },
    "changes of what is born": { births: [itemOf("born", { changes: removals(100) })] },
  })) {
    const { written, commit } = createQueue();
    await commit(itemOf("a", many));
    assert.deepEqual(
      written.map(({ isLong }) => isLong),
      [true],
      what,
    );
  }
});

test("a text that looks like many changes is the one change that it stands in", async () => {
  const { written, commit } = createQueue();
  const userName = removals(500);
  await commit(itemOf("a", { changes: JSON.stringify([{ op: "put", kind: "user", value: { userName } }]) }));
  assert.deepEqual(
    written.map(({ isLong }) => isLong),
    [false],
  );
});

test("few rows are committed with those of others, many by themselves", async () => {
  const { written, commit } = createQueue();
  const few = ["a", "b", "c"].map((organizationId) => commit(itemOf(organizationId, { changes: removals(5) })));
  const many = ["d", "d", "d"].map((organizationId) => commit(itemOf(organizationId, { changes: removals(400) })));
  await Promise.all([...few, ...many]);
  assert.deepEqual(
    written.filter(({ isLong }) => !isLong).map(({ activityIds }) => activityIds.length),
    [3],
  );
  assert.deepEqual(
    written.filter(({ isLong }) => isLong).map(({ activityIds }) => activityIds.length),
    [1, 1, 1],
  );
});

test("whoever has more short ones than one group takes rests, and others do not wait for it", async () => {
  const { written, commit } = createQueue(10);
  const flood = Array.from({ length: 12 }, () => commit(itemOf("flood", { leaf: leafOf(16 * 1024) })));
  await flood[0];
  const begunAt = performance.now();
  const honest = itemOf("honest", {});
  await commit(honest);
  assert.deepEqual(written[1]?.activityIds, [honest.leaf.number]);
  await Promise.all(flood);
  // Two rests of three times what a group took; a timer may be a millisecond early.
  assert.ok(performance.now() - begunAt >= 2 * (3 * 10 - 1));
});

test("an organization is behind with a mebibyte that waits, until it is committed", async () => {
  const { commit, isBehind } = createQueue();
  const flood = Array.from({ length: 17 }, () => commit(itemOf("flood", { leaf: leafOf(60 * 1024) })));
  assert.equal(isBehind("flood"), false);
  flood.push(commit(itemOf("flood", { leaf: leafOf(60 * 1024) })));
  assert.equal(isBehind("flood"), true);
  assert.equal(isBehind("honest"), false);
  await Promise.all(flood);
  assert.equal(isBehind("flood"), false);
});

test("what is under way counts as long as what waits", async () => {
  const { commit, isBehind } = createQueue();
  const flood = Array.from({ length: 9 }, () => commit(itemOf("flood", { leaf: leafOf(60 * 1024) })));
  assert.equal(isBehind("flood", 8), false);
  assert.equal(isBehind("flood", 9), true);
  assert.equal(isBehind("honest", 9), false);
  await Promise.all(flood);
  assert.equal(isBehind("flood", 9), false, "of what is to come nothing is known");
});
