import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { watchQueries } from "../../test/query_plans.ts";
import { birth, boot, stateChange } from "../../test/store_items.ts";
import { commitGroup } from "./commit.ts";
import { type PlacedLeaf, readEntries, readRun, toLogRows } from "./log_rows.ts";
import { listPlaces, listPlacesBefore } from "./log_runs.ts";
import {
  addCosignatures,
  findLog,
  findStoredEnd,
  findTile,
  keepLog,
  listEntries,
  listLogs,
  listOperatorPlaces,
  listTileRoots,
  noteEndedLogs,
  storeCheckpoint,
} from "./public_log.ts";
import type { Store } from "./store.ts";
import { dropPlaces, storedPlaces } from "./stored_places.ts";

const logId = "0f".repeat(16);

function placed(organizationId: string, position: number, ordinal: number, number = position + 1): PlacedLeaf {
  return { organizationId, boot, number, position, ordinal, entry: Buffer.alloc(32, position % 256) };
}

const nameOf = ({ entry, ...name }: PlacedLeaf) => name;

/** Two organizations in turns, and an act of the operator at every hundredth position. */
function mixed(first: number, count: number, [a, b]: readonly [string, string]): PlacedLeaf[] {
  return Array.from({ length: count }, (_, at) => {
    const position = first + at;
    if (position % 100 === 99) return placed(a, position, 0);
    return placed(position % 2 === 0 ? a : b, position, position + 1);
  });
}

async function store(target: Store, leaves: readonly PlacedLeaf[]): Promise<void> {
  await commitGroup(target, [], [], { logId, leaves });
}

test("a group of one organization is one run of one span, and one row of entries", () => {
  const organizationId = randomUUID();
  const leaves = Array.from({ length: 200 }, (_, at) => placed(organizationId, 300 + at, 7 + at));
  const { entries, runs } = toLogRows({ logId, leaves });
  assert.deepEqual([entries.length, runs.length, runs[0]?.leaves.length], [1, 1, 48]);
  assert.deepEqual(
    runs.flatMap((run) => readRun(run)),
    leaves.map(nameOf),
  );
  assert.deepEqual(
    entries.flatMap((row) => readEntries(row)),
    leaves.map(({ entry }) => entry),
  );
});

test("no row of entries goes beyond a tile or over a gap, and acts of the operator have runs of their own", () => {
  const [a, b] = [randomUUID(), randomUUID()] as const;
  const leaves = [...mixed(250, 10, [a, b]), placed(a, 263, 264), placed(a, 264, 0), placed(a, 265, 0)];
  const { entries, runs } = toLogRows({ logId, leaves });
  assert.deepEqual(
    entries.map(({ first_position, entries: { length } }) => [first_position, length / 32]),
    [
      [250, 6],
      [256, 4],
      [263, 3],
    ],
  );
  assert.deepEqual(
    runs.map(({ organization_id, first_position, last_position, first_ordinal }) => [
      organization_id === a ? "a" : "b",
      first_position,
      last_position,
      first_ordinal,
    ]),
    [
      ["a", 250, 263, 251],
      ["b", 251, 259, 252],
      ["a", 264, 265, 0],
    ],
  );
  assert.deepEqual(
    runs.flatMap((run) => readRun(run)).sort((x, y) => x.position - y.position),
    leaves.map(nameOf),
  );
});

test("a run that somebody has made endless is refused before it is read out", () => {
  const [run] = toLogRows({ logId, leaves: [placed(randomUUID(), 0, 1)] }).runs;
  assert.ok(run !== undefined);
  const endless = Uint8Array.from(run.leaves);
  endless.fill(0xff, -4);
  assert.throws(() => readRun({ ...run, leaves: endless }), { message: "a run of the log is longer than any" });
});

for (const dialect of dialects) {
  describe(`the public log on ${dialect}`, () => {
    const open = (t: Parameters<typeof openTestStore>[0]) => openTestStore(t, dialect);

    test("places are written with the marks of the next group, whatever of that group commits", async (t) => {
      const target = await open(t);
      if (target === undefined) return;
      const organizationId = randomUUID();
      const born = birth(organizationId);
      await commitGroup(target, [born], []);
      const { boot, number } = born.leaf;
      const mark = { organizationId, boot, number };
      const first = { ...mark, position: 0, ordinal: 1, entry: randomBytes(32) };
      // It was prepared on a state that is not there.
      const stale = stateChange(organizationId, 7);
      const { committed } = await commitGroup(target, [stale], [mark], { logId, leaves: [first] });
      assert.deepEqual(committed, [false]);
      assert.equal(await findStoredEnd(target, logId), 1);
      const range = { logId, from: 0, to: 9 };
      assert.deepEqual(await listPlaces(target, organizationId, range, 10), [nameOf(first)]);
      assert.deepEqual(await target.db.selectFrom("unreleased").selectAll().execute(), []);
    });

    test("places that come again, with more behind them, stand once", async (t) => {
      const target = await open(t);
      if (target === undefined) return;
      const leaves = mixed(0, 40, [randomUUID(), randomUUID()]);
      await store(target, leaves.slice(0, 10));
      await store(target, leaves.slice(0, 10));
      await store(target, leaves);
      assert.equal(await findStoredEnd(target, logId), 40);
      const rows = await listEntries(target, logId, 0, 256);
      assert.deepEqual(
        Buffer.concat(rows.map(({ entries }) => entries)),
        Buffer.concat(leaves.map(({ entry }) => entry)),
      );
      const all = [];
      for await (const places of storedPlaces(target, logId, 0)) all.push(...places);
      assert.deepEqual(all, leaves.map(nameOf));
    });

    test("an organization's places are read by range, forwards and backwards, in pages of any length", async (t) => {
      const target = await open(t);
      if (target === undefined) return;
      const ids = [randomUUID(), randomUUID()] as const;
      const leaves = mixed(0, 1_000, ids);
      for (let at = 0; at < leaves.length; at += 70) await store(target, leaves.slice(at, at + 70));
      const own = leaves.filter(({ organizationId, ordinal }) => organizationId === ids[0] && ordinal > 0).map(nameOf);
      for (const [from, to, limit] of [
        [0, 999, 2_000],
        [0, 999, 3],
        [71, 333, 500],
        [300, 300, 5],
        [301, 301, 5],
        [998, 5_000, 10],
      ] as const) {
        const within = own.filter(({ position }) => position >= from && position <= to);
        assert.deepEqual(await listPlaces(target, ids[0], { logId, from, to }, limit), within.slice(0, limit));
        const before = own.filter(({ position }) => position < to).reverse();
        assert.deepEqual(await listPlacesBefore(target, ids[0], logId, to, limit), before.slice(0, limit));
      }
      const acts = leaves.filter(({ ordinal }) => ordinal === 0).map(nameOf);
      assert.deepEqual(await listOperatorPlaces(target, { logId, from: 0, to: 999 }, 100), acts);
      assert.deepEqual(await listOperatorPlaces(target, { logId, from: 200, to: 799 }, 4), acts.slice(2, 6));
      assert.deepEqual(await listPlaces(target, randomUUID(), { logId, from: 0, to: 999 }, 10), []);
    });

    test("what is dropped is cut off exactly, and its leaves wait for their release again", async (t) => {
      const target = await open(t);
      if (target === undefined) return;
      const leaves = mixed(0, 600, [randomUUID(), randomUUID()]);
      for (let at = 0; at < leaves.length; at += 130) await store(target, leaves.slice(at, at + 130));
      for (const from of [599, 530, 512, 300, 300, 0]) {
        await dropPlaces(target, logId, from);
        assert.equal(await findStoredEnd(target, logId), from);
        const left = [];
        for await (const places of storedPlaces(target, logId, 0)) left.push(...places);
        assert.deepEqual(left, leaves.slice(0, from).map(nameOf));
        const waiting = await target.db.selectFrom("unreleased").select("number").orderBy("number").execute();
        assert.deepEqual(
          waiting.map(({ number }) => number),
          leaves.slice(from).map(({ number }) => number),
        );
      }
      assert.deepEqual(await target.db.selectFrom("log_runs").selectAll().execute(), []);
    });

    test("checkpoints never go back, and cosignatures are kept for the newest alone", async (t) => {
      const target = await open(t);
      if (target === undefined) return;
      await keepLog(target, logId, "origin", 5);
      await keepLog(target, logId, "another", 6);
      const tile = (number: number) => ({ level: 0, number, hashes: randomBytes(8_192), root: randomBytes(32) });
      const tiles = [tile(0), tile(1), tile(3)];
      await storeCheckpoint(target, { logId, size: 600, note: "six hundred", tiles });
      await addCosignatures(target, logId, 600, "a line\n");
      await storeCheckpoint(target, { logId, size: 500, note: "five hundred", tiles: [] });
      await addCosignatures(target, logId, 500, "another line\n");
      const row = await findLog(target, logId);
      assert.deepEqual([row?.origin, row?.checkpoint, row?.cosignatures], ["origin", "six hundred", "a line\n"]);
      await storeCheckpoint(target, { logId, size: 601, note: "one more", tiles: [] });
      assert.deepEqual(
        (await listLogs(target)).map(({ checkpoint, cosignatures }) => [checkpoint, cosignatures]),
        [["one more", ""]],
      );
      assert.deepEqual(
        await findTile(target, logId, 0, 1).then((hashes) => hashes && Buffer.from(hashes)),
        tiles[1]?.hashes,
      );
      assert.equal(await findTile(target, logId, 1, 1), undefined);
      // Without the third, the fourth is nothing that could follow.
      assert.equal((await listTileRoots(target, logId, 0, 0, 4)).length, 2);
      await noteEndedLogs(target, [logId]);
      assert.equal((await findLog(target, logId))?.is_open, 0);
      await noteEndedLogs(target, []);
      assert.equal((await findLog(target, logId))?.is_open, 1);
    });

    test("places, entries and tiles are found by their keys, however many there are", async (t) => {
      const target = await open(t);
      if (target === undefined) return;
      const ids = [randomUUID(), randomUUID()] as const;
      await store(target, mixed(0, 3_000, ids));
      const { store: watched, plans } = watchQueries(target);
      if (target.dialect === "postgres") await target.pool.query("analyze");
      await listPlaces(watched, ids[0], { logId, from: 1_000, to: 2_000 }, 10);
      await listPlacesBefore(watched, ids[0], logId, 2_000, 10);
      await listOperatorPlaces(watched, { logId, from: 1_000, to: 2_000 }, 10);
      await listEntries(watched, logId, 512, 768);
      await findStoredEnd(watched, logId);
      await findTile(watched, logId, 0, 1);
      await listTileRoots(watched, logId, 0, 0, 4);
      const all = await plans();
      assert.equal(all.length, 7);
      for (const plan of all) assert.doesNotMatch(plan, /\bSCAN\b(?! CONSTANT)|Seq Scan|TEMP B-TREE|\bSort\b/, plan);
      assert.match(all[2] ?? "", /log_runs_of_operator/);
    });
  });
}
