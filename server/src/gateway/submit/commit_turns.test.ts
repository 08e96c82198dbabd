import assert from "node:assert/strict";
import { test } from "node:test";
import { CommitTurns, longBytes, maxGroup, maxGroupBytes, type Size } from "./commit_turns.ts";

type Named = { organizationId: string; bytes: number; name: string; requires: string[] };

/** What one organization gets of a group, and the one that exceeds it. */
const shortPart = (64 + 16) * 1024;

const nobodyIsAlone = () => false;

const mebibyte = 1024 * 1024;
const small = 2 * 1024;
const big = 4 * mebibyte;

function filled(...entries: readonly [organizationId: string, bytes: number, count: number][]): CommitTurns<Named> {
  const turns = new CommitTurns<Named>(nobodyIsAlone);
  for (const [organizationId, bytes, count] of entries) add(turns, organizationId, bytes, count);
  return turns;
}

function add(
  turns: CommitTurns<Named>,
  organizationId: string,
  bytes: number,
  count = 1,
  requires: string[] = [],
): void {
  for (let at = 1; at <= count; at++) turns.add({ organizationId, bytes, name: `${organizationId}${at}`, requires });
}

/** The next group, which is over at once, and nobody rests. */
function next(turns: CommitTurns<Named>, size: Size = turns.hasNext("short") ? "short" : "long"): readonly Named[] {
  const group = turns.next(size);
  turns.over(group);
  turns.giveBack(group);
  return group.entries;
}

const waiting = (turns: CommitTurns<Named>) => turns.lengthOf("short") + turns.lengthOf("long");

const names = (group: readonly Named[]) => group.map(({ name }) => name);
const bytesOf = (group: readonly Named[]) => group.reduce((sum, { bytes }) => sum + bytes, 0);

test("a short commit waits for one long one of others at most, however many of them came before", () => {
  const turns = filled(["a", big, 64], ["b", big, 64], ["c", big, 1]);
  assert.deepEqual(names(next(turns, "long")), ["a1"]);
  add(turns, "honest", small);
  assert.deepEqual(names(next(turns, "short")), ["honest1"]);
  assert.deepEqual(names(next(turns, "long")), ["b1"]);
});

test("organizations with long commits take turns, and short ones of many others do not keep them waiting", () => {
  const turns = filled(["a", big, 3], ["b", big, 3]);
  const seen: string[] = [];
  for (let round = 0; round < 6; round++) {
    add(turns, `other${round}-`, small, maxGroup);
    seen.push(...names([...next(turns, "short"), ...next(turns, "long")]).filter((name) => !name.startsWith("other")));
  }
  assert.deepEqual(seen, ["a1", "b1", "a2", "b2", "a3", "b3"]);
});

test("commits of one organization keep their order, short and long", () => {
  const turns = new CommitTurns<Named>(nobodyIsAlone);
  const sizes = Array.from({ length: 300 }, (_, at) => (at % 7 === 3 ? big : at % 5 === 0 ? longBytes * 2 : small));
  sizes.forEach((bytes, at) => {
    turns.add({ organizationId: "a", bytes, name: `${at}`, requires: [] });
    turns.add({ organizationId: "b", bytes: small, name: `b ${at}`, requires: [] });
  });
  const seen: string[] = [];
  while (waiting(turns) > 0) seen.push(...names(next(turns)));
  const inOrder = sizes.map((_, at) => `${at}`);
  assert.deepEqual(
    seen.filter((name) => !name.startsWith("b")),
    inOrder,
  );
  assert.deepEqual(
    seen.filter((name) => name.startsWith("b")),
    inOrder.map((name) => `b ${name}`),
  );
});

test("short commits of many organizations, and of one, fill their groups", () => {
  const many = new CommitTurns<Named>(nobodyIsAlone);
  for (let at = 0; at < 600; at++) add(many, `organization ${at}`, small);
  assert.deepEqual(
    [next(many), next(many), next(many), next(many)].map(names).map(({ length }) => length),
    [maxGroup, maxGroup, 88, 0],
  );
  const one = new CommitTurns<Named>(() => true);
  add(one, "a", small, 300);
  assert.equal(next(one).length, maxGroup);
  assert.equal(next(one).length, 44);
});

test("an organization that floods with short commits shares each group with the others", () => {
  const turns = filled(["flood", 16 * 1024, 1_000], ["honest", small, 3]);
  const group = next(turns);
  assert.deepEqual(
    names(group).filter((name) => name.startsWith("honest")),
    ["honest1", "honest2", "honest3"],
  );
  assert.ok(bytesOf(group) <= maxGroupBytes);
});

test("while others are there, a flood has its part of a group of short ones, and rests until it is let in again", () => {
  const turns = filled(["flood", 16 * 1024, 1_000]);
  const group = turns.next("short");
  assert.ok(bytesOf(group.entries) <= shortPart);
  assert.equal(group.withheld.length, 1);
  add(turns, "flood", small);
  turns.over(group);
  assert.equal(turns.hasNext("short"), false);
  add(turns, "honest", small);
  const other = turns.next("short");
  assert.deepEqual(names(other.entries), ["honest1"]);
  assert.equal(other.withheld.length, 0);
  turns.over(other);
  turns.giveBack(group);
  assert.equal(next(turns)[0]?.name, `flood${group.entries.length + 1}`);
});

test("alone, an organization has as much of a group as there is", () => {
  const turns = new CommitTurns<Named>(() => true);
  add(turns, "a", 16 * 1024, 1_000);
  const short = turns.next("short");
  assert.equal(bytesOf(short.entries), maxGroupBytes);
  assert.equal(short.withheld.length, 0);
  add(turns, "b", longBytes + 1, 20);
  assert.equal(turns.next("long").entries.length, Math.floor(maxGroupBytes / (longBytes + 1)));
});

test("while others are there, groups of long ones are a quarter as long", () => {
  const turns = filled(["a", longBytes + 1, 20]);
  assert.equal(turns.next("long").entries.length, 3);
});

test("no group is longer than its bound, but for one that is so by itself", () => {
  const turns = filled(["a", longBytes + 1, 20], ["b", big, 2], ["c", 100_000, 50]);
  while (waiting(turns) > 0) {
    const group = next(turns);
    assert.ok(group.length === 1 || bytesOf(group) <= maxGroupBytes);
  }
});

test("side by side, a short commit waits for no long one of others, and an organization's own keep their order", () => {
  const turns = filled(["a", big, 2]);
  add(turns, "a", small, 2);
  const long = turns.next("long");
  assert.deepEqual(names(long.entries), ["a1"]);
  add(turns, "honest", small);
  const short = turns.next("short");
  assert.deepEqual(names(short.entries), ["honest1"]);
  turns.over(short);
  turns.over(long);
  assert.equal(turns.hasNext("short"), false, "the second long one comes first");
  const last = turns.next("long");
  assert.equal(turns.hasNext("short"), false, "and is still under way");
  turns.over(last);
  assert.deepEqual(names(turns.next("short").entries), ["a1", "a2"]);
});

test("side by side, what comes while an organization's last long commit is under way waits for it", () => {
  const turns = filled(["a", big, 1]);
  const long = turns.next("long");
  add(turns, "a", small);
  assert.equal(turns.hasNext("short"), false);
  turns.over(long);
  assert.deepEqual(names(turns.next("short").entries), ["a1"]);
});

test("what requires a head that a long commit moves waits for that, and keeps nobody else waiting", () => {
  const turns = filled(["parent", big, 1]);
  const long = turns.next("long");
  add(turns, "child", small, 2, ["parent"]);
  add(turns, "honest", small);
  assert.deepEqual(names(next(turns, "short")), ["honest1"]);
  assert.equal(turns.hasNext("short"), false);
  add(turns, "child", small, 1, ["parent"]);
  assert.equal(turns.hasNext("short"), false);
  turns.over(long);
  assert.deepEqual(names(next(turns, "short")), ["child1", "child2", "child1"]);
  add(turns, "child", small, 1, ["parent"]);
  assert.deepEqual(names(next(turns, "short")), ["child1"]);
});

test("a long commit that requires a head waits for no short ones of that, however many come", () => {
  const turns = filled(["parent", small, 2]);
  const short = turns.next("short");
  add(turns, "child", big, 1, ["parent"]);
  assert.equal(turns.hasNext("long"), true);
  assert.deepEqual(names(next(turns, "long")), ["child1"]);
  turns.over(short);
});

test("a short commit is held back once, not for ever by a parent that has long ones all the time", () => {
  const turns = filled(["parent", big, 2]);
  const first = turns.next("long");
  add(turns, "child", small, 2, ["parent"]);
  assert.deepEqual(names(next(turns, "short")), []);
  turns.over(first);
  assert.deepEqual(names(turns.next("long").entries), ["parent2"]);
  assert.deepEqual(names(next(turns, "short")), ["child1"]);
});
