import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { openCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { decodeEntries, hashTilesAt, type Tile, tileHashReader, widthAt } from "@keystead/core/tlog/tiles.ts";
import { Frontier, leafHash, rootOf, verifyConsistency } from "@keystead/core/tlog/tree.ts";
import { parseVkey } from "@keystead/core/tlog/vkey.ts";
import { createFakeLog, type FakeLog, namedLeaf } from "../../../test/fake_log.ts";
import { openTestStore } from "../../../test/open_test_store.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import { commitGroup } from "../../store/commit.ts";
import { findLog, keepLog } from "../../store/public_log.ts";
import type { Store } from "../../store/store.ts";
import { LogPlaces } from "../places/log_places.ts";
import { createCheckpoints, type SignedCheckpoint } from "./checkpoints.ts";
import { proveConsistency } from "./consistency.ts";
import { readTile } from "./read_tile.ts";

const boot = "b0".repeat(16);
const organizationId = randomUUID();
const going = new AbortController().signal;

async function start(t: TestContext, fake: FakeLog, given?: Store) {
  const store = given ?? (await openTestStore(t, "sqlite"));
  assert.ok(store);
  await keepLog(store, fake.logId, fake.origin, 1);
  const places = new LogPlaces(fake.link);
  const link = places.watch(fake.link);
  places.begin(fake.logId, 0, fake.leaves.length);
  const settle = async () => {
    await places.catchUp();
    const { placed } = places.take();
    if (placed !== undefined) await commitGroup(store, [], [], placed);
    places.written(placed);
  };
  const signed: SignedCheckpoint[] = [];
  let trouble: string | undefined;
  const checkpoints = createCheckpoints({
    ...{ store, link, places, curves: nodeCurves, committer: { settle } },
    logKey: () => fake.publicKey,
    signerTrouble: () => trouble,
    onSigned: (checkpoint) => signed.push(checkpoint),
  });
  let number = fake.leaves.length;
  const release = async (count: number) => {
    const rows = Array.from({ length: count }, () => ({
      leaf: namedLeaf(organizationId, boot, ++number),
      sealed: undefined,
    }));
    await link.request("release", { rows, links: [] });
  };
  return {
    store,
    signed,
    release,
    checkpoints,
    run: () => checkpoints.job.run(going),
    setTrouble: (why: string | undefined) => {
      trouble = why;
    },
  };
}

test("a checkpoint is asked for when something is new, of what is stored, and none while the signer is away", async (t) => {
  const fake = createFakeLog();
  const { store, signed, release, run, setTrouble } = await start(t, fake);
  await run();
  assert.deepEqual(signed, []);
  await release(3);
  setTrouble("the signer stopped; try again");
  await run();
  assert.deepEqual(signed, []);
  setTrouble(undefined);
  await run();
  await run();
  assert.deepEqual(
    signed.map(({ size }) => size),
    [3],
  );
  const log = await findLog(store, fake.logId);
  const { vkey = "", note = "" } = signed[0] ?? {};
  assert.deepEqual([log?.checkpoint, log?.checkpoint_size], [note, 3]);
  assert.deepEqual(openCheckpoint(nodeCurves, parseVkey(vkey), note), {
    origin: fake.origin,
    size: 3,
    root: rootOf(fake.leaves.map(({ entry }) => entry)),
  });
});

test("all tiles of every signed size are served, each as the tree has it, and nothing beyond the signed size", async (t) => {
  const fake = createFakeLog();
  const { store, signed, release, run } = await start(t, fake);
  for (const count of [1, 254, 1, 1, 300, 70_000 - 557, 1]) {
    for (let left = count; left > 0; left -= 5_000) await release(Math.min(left, 5_000));
    await run();
  }
  const sizes = signed.map(({ size }) => size);
  assert.deepEqual(sizes, [1, 255, 256, 257, 557, 70_000, 70_001]);
  const log = await findLog(store, fake.logId);
  assert.ok(log !== undefined);
  const tiles = new Map<string, Uint8Array>();
  for (const size of sizes) {
    for (const tile of hashTilesAt(size)) {
      const name = JSON.stringify(tile);
      const bytes: Uint8Array | undefined = tiles.get(name) ?? (await readTile(store, log, tile));
      assert.equal(bytes?.length, 32 * tile.width, name);
      tiles.set(name, bytes);
    }
    const read = tileHashReader(size, (tile) => tiles.get(JSON.stringify(tile)) ?? new Uint8Array());
    const root = Frontier.at(size, read).root();
    assert.deepEqual(root, rootOf(fake.leaves.slice(0, size).map(({ entry }) => entry)));
  }
  assert.equal(hashTilesAt(70_000).length, 273 + 1 + 1 + 1 + 1);
  for (const [n, width] of [
    [0, 256],
    [0, 1],
    [273, 112],
    [273, 113],
  ] as const) {
    const entries = decodeEntries((await readTile(store, log, { level: "entries", n, width })) ?? new Uint8Array());
    const expected = fake.leaves.slice(n * 256, n * 256 + width).map(({ entry }) => Buffer.from(entry));
    assert.deepEqual(
      entries.map((entry) => Buffer.from(entry)),
      expected,
    );
    const first: Uint8Array | undefined = (await readTile(store, log, { level: 0, n, width }))?.subarray(0, 32);
    assert.deepEqual(Buffer.from(first ?? []), Buffer.from(leafHash(expected[0] ?? new Uint8Array())));
  }
  const none: Tile[] = [
    { level: "entries", n: 273, width: 114 },
    { level: 0, n: 273, width: 114 },
    { level: 0, n: 273, width: 256 },
    { level: 0, n: 274, width: 1 },
    { level: 1, n: 1, width: 18 },
    { level: 2, n: 0, width: 2 },
    { level: 3, n: 0, width: 1 },
  ];
  for (const tile of none) {
    assert.equal(await readTile(store, log, tile), undefined, JSON.stringify(tile));
    assert.ok(widthAt(tile.level, tile.n, 70_001) < tile.width);
  }
});

test("what a witness is sent proves that the log has only grown, between any two sizes", async (t) => {
  const fake = createFakeLog();
  const { store, release, run } = await start(t, fake);
  await release(1_000);
  await run();
  const entries = fake.leaves.map(({ entry }) => entry);
  const root = (size: number) => rootOf(entries.slice(0, size));
  for (const oldSize of [1, 2, 255, 256, 257, 511, 768, 999]) {
    const proof = await proveConsistency(store, fake.logId, oldSize, 1_000);
    verifyConsistency(oldSize, 1_000, proof, root(oldSize), root(1_000));
  }
  await assert.rejects(proveConsistency(store, fake.logId, 1, 1_001), { code: "invalid_argument" });
});

test("rows that do not add up to what the signer signs are not served, and no further checkpoint is asked for", async (t) => {
  const fake = createFakeLog();
  const { store, signed, release, run, checkpoints } = await start(t, fake);
  await release(5);
  await run();
  await release(5);
  const bent = Buffer.alloc(32, 1);
  const [last] = fake.leaves.slice(-1);
  assert.ok(last !== undefined);
  // The reply that came first said otherwise.
  last.entry = bent;
  const expected = `log ${fake.logId}: the rows below 10 are not what the signer has appended; stop the server and run \`npx keystead check-database\``;
  await assert.rejects(run(), { code: "internal", message: expected });
  assert.equal(checkpoints.trouble(), expected);
  assert.equal((await findLog(store, fake.logId))?.checkpoint_size, 5);
  fake.asked.length = 0;
  await run();
  assert.deepEqual([fake.asked, signed.length], [[], 1]);
});

test("places that are lost stop checkpoints before the signer is told that they are stored", async (t) => {
  const fake = createFakeLog();
  const { store, release, run } = await start(t, fake);
  await release(300);
  await run();
  await release(10);
  const next = await start(t, fake, store);
  await store.db.deleteFrom("log_entries").where("first_position", ">=", 256).execute();
  await assert.rejects(next.run(), {
    code: "internal",
    message: `log ${fake.logId}: rows are missing; stop the server and run \`npx keystead check-database\`, or after a restore \`npx keystead accept-database\``,
  });
  assert.equal(fake.checkpointSize, 300);
});

test("a gateway that starts anew goes on from the tiles that are stored", async (t) => {
  const fake = createFakeLog();
  const first = await start(t, fake);
  await first.release(1_000);
  await first.run();
  const second = await start(t, fake, first.store);
  await second.release(700);
  await second.run();
  assert.deepEqual(
    second.signed.map(({ size }) => size),
    [1_700],
  );
});
