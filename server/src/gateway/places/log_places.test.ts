import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { createFakeLog, type FakeLog, namedLeaf } from "../../../test/fake_log.ts";
import type { PlacedLeaves } from "../../store/log_rows.ts";
import { LogPlaces } from "./log_places.ts";

const boot = "b0".repeat(16);
const organizationId = randomUUID();

function begin(fake: FakeLog, stored = 0) {
  const lost: number[][] = [];
  const places = new LogPlaces(fake.link, (_, ...range) => lost.push(range));
  const link = places.watch(fake.link);
  places.begin(fake.logId, stored, fake.leaves.length);
  const release = (...numbers: number[]) => {
    const rows = numbers.map((number) => ({ leaf: namedLeaf(organizationId, boot, number), sealed: undefined }));
    return link.request("release", { rows, links: [] });
  };
  return { places, release, lost };
}

const summary = (placed: PlacedLeaves | undefined) =>
  placed?.leaves.map(({ position, ordinal, number, organizationId: id, boot: of }) => {
    assert.deepEqual([id, of], [organizationId, boot]);
    return [position, ordinal, number];
  });

async function taken(places: LogPlaces) {
  await places.catchUp();
  const { isReady, placed } = places.take();
  assert.equal(isReady, true);
  places.written(placed);
  return summary(placed);
}

test("places come in the order of the log, each once, and nothing is asked for while none is lacking", async () => {
  const fake = createFakeLog();
  const { places, release } = begin(fake);
  assert.equal(await taken(places), undefined);
  fake.asked.length = 0;
  await release(7);
  await release(8, 9);
  assert.deepEqual(await taken(places), [
    [0, 1, 7],
    [1, 2, 8],
    [2, 3, 9],
  ]);
  assert.equal(places.stored, 3);
  await release(10);
  assert.deepEqual(await taken(places), [[3, 4, 10]]);
  assert.deepEqual(fake.asked, ["release", "release", "release"]);
});

test("what a lost reply said is asked for before anything behind it is stored", async () => {
  const fake = createFakeLog();
  const { places, release } = begin(fake);
  await taken(places);
  fake.losesReplies = 1;
  await assert.rejects(release(1, 2), { code: "unavailable" });
  await release(3);
  assert.deepEqual(places.take(), { isReady: false, placed: undefined });
  assert.deepEqual(await taken(places), [
    [0, 1, 1],
    [1, 2, 2],
    [2, 3, 3],
  ]);
});

test("a leaf that was released before brings no place, and is not marked before its place is known", async () => {
  const fake = createFakeLog();
  const { places, release } = begin(fake);
  await taken(places);
  fake.losesReplies = 1;
  await assert.rejects(release(1));
  // As if nobody had noticed.
  await places.catchUp();
  fake.losesReplies = 0;
  await release(1);
  places.fallBehind();
  assert.equal(places.take().isReady, false);
  assert.deepEqual(await taken(places), [[0, 1, 1]]);
});

test("while places are being written none are taken; those of a commit that failed come again, with what followed", async () => {
  const fake = createFakeLog();
  const { places, release } = begin(fake);
  await taken(places);
  await release(1);
  const { placed } = places.take();
  await release(2);
  assert.equal(places.take().isReady, false);
  places.failed(placed);
  assert.deepEqual(await taken(places), [
    [0, 1, 1],
    [1, 2, 2],
  ]);
  // Of a commit that nobody waits for any more.
  places.written(placed);
  assert.equal(places.stored, 2);
});

test("after a start the tail is asked for in portions, from what is stored", async () => {
  const fake = createFakeLog();
  const first = begin(fake);
  for (let number = 1; number <= 25; number++) await first.release(number);
  fake.portion = 4;
  const { places } = begin(fake, 10);
  const tail = await taken(places);
  assert.deepEqual([tail?.length, tail?.[0], tail?.at(-1)], [15, [10, 11, 11], [24, 25, 25]]);
});

test("positions that neither side has any more are told of, and the rest is kept all the same", async () => {
  const fake = createFakeLog();
  const first = begin(fake);
  for (let number = 1; number <= 8; number++) await first.release(number);
  fake.checkpointSize = 5;
  const { places, lost } = begin(fake, 2);
  assert.deepEqual(await taken(places), [
    [5, 6, 6],
    [6, 7, 7],
    [7, 8, 8],
  ]);
  assert.deepEqual(lost, [[2, 5]]);
  assert.equal(places.stored, 8);
});

test("a signer that comes back with the same log takes nothing from what waits here", async () => {
  const fake = createFakeLog();
  const { places, release } = begin(fake);
  await taken(places);
  await release(1);
  places.begin(fake.logId, 0, fake.leaves.length);
  assert.deepEqual(await taken(places), [[0, 1, 1]]);
  const other = createFakeLog();
  places.begin(other.logId, 3, 3);
  assert.deepEqual([places.logId, places.stored], [other.logId, 3]);
});

test("before a signer has joined, places are left to the tail", async () => {
  const fake = createFakeLog();
  const places = new LogPlaces(fake.link);
  const leaf = namedLeaf(organizationId, boot, 1);
  await places.watch(fake.link).request("release", { rows: [{ leaf, sealed: undefined }], links: [] });
  assert.deepEqual(places.take(), { isReady: true, placed: undefined });
  places.begin(fake.logId, 0, 1);
  assert.deepEqual(await taken(places), [[0, 1, 1]]);
  assert.equal(uuidFromBytes(fake.leaves[0]?.organizationId ?? new Uint8Array()), organizationId);
});
