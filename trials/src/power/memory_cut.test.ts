/**
 * Power cuts on the signer's memory file alone, by the thousand: whatever sectors are lost, it opens by itself and remembers
 * its own history up to some moment, never a mixture; and that moment is never longer ago than it says. A sample here, more with
 * `npm run figures`.
 */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { freshDataFolder } from "@keystead/e2e/data_folder.ts";
import { createTestDisk, noTestDisk } from "@keystead/e2e/test_disk/test_disk.ts";
import { openMemory } from "@keystead/server/signer/memory/memory.ts";
import { frameRecord } from "@keystead/server/signer/memory/memory_records.ts";
import { pinDigestLength } from "@keystead/server/signer/memory/pins.ts";
import { samples } from "../../../core/test/samples.ts";
import { seededRandom } from "../../../core/test/seeded_random.ts";
import { apply, cutPower, emptyImage, type Kept, keepAll, keepNothing, writeKept } from "./disk_image.ts";
import { type Change, parseJournal } from "./journal.ts";
import { createHistoryCheck, createLogCheck, historyOf, leafNumberOf, memoryFixtures } from "./memory_history.ts";

const cuts = samples.memoryCuts;
const records = samples.memoryCutReleases;
const isHistory = createHistoryCheck(records);
const isLog = createLogCheck(records);
const { rootKey, deploymentId } = memoryFixtures;

test(`${cuts} power cuts on the signer's memory: it remembers a moment of its own history, and every checkpoint that was handed out`, {
  skip: noTestDisk(),
}, async (t) => {
  const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`KEYSTEAD_SEED=${seed}`);
  const random = seededRandom(seed);
  const dataFolder = freshDataFolder(t);
  const disk = createTestDisk(t, dataFolder);
  const writer = disk.start({
    entry: join(import.meta.dirname, "memory_writer.ts"),
    args: [String(seed), String(records)],
  });
  assert.equal(await writer.exited, 0, writer.output());

  const changes = parseJournal(disk.journal());
  const born = changes.findIndex(({ kind, ...change }) => kind === "write" && "through" in change && change.through);
  const places = Array.from({ length: cuts }, () => random.below(changes.length)).sort((a, b) => a - b);
  const image = emptyImage(dataFolder);
  const outcomes = { whole: 0, torn: 0, empty: 0 };
  const complaints: string[] = [];
  let applied = 0;
  for (const place of places) {
    for (; applied <= place; applied++) apply(image, changes[applied] as Change);
    try {
      const handed = withKept(keepAll(image), dataFolder, handedOut);
      const { releases, torn, signed } = withKept(cutPower(image, random), dataFolder, lookInto);
      if (signed < handed)
        complaints.push(`after change ${place}: a checkpoint of ${handed} was handed out, and ${signed} is remembered`);
      if (releases === undefined && place >= born)
        complaints.push(`after change ${place}: the deployment is forgotten`);
      outcomes[releases === undefined ? "empty" : torn > 0 ? "torn" : "whole"] += 1;
    } catch (error) {
      complaints.push(`after change ${place}: ${error instanceof Error ? error.message : error}`);
    }
  }
  t.diagnostic(
    `signer's memory, seed ${seed}: ${cuts} power cuts; ${outcomes.whole} left whole records, ${outcomes.torn} a torn end, ` +
      `${outcomes.empty} nothing yet; refused or mixed up: ${complaints.length}`,
  );
  assert.deepEqual(complaints.slice(0, 5), [], `to repeat it: KEYSTEAD_SEED=${seed}`);
  assert.ok(outcomes.torn > cuts / 20, "hardly anything was torn: the cuts are too kind");
});

function withKept<T>(kept: Kept, dataFolder: string, work: (folder: string) => T): T {
  const folder = join(mkdtempSync(join(tmpdir(), "keystead-memory-cut-")), "memory");
  try {
    writeKept(kept, dataFolder, folder);
    return work(folder);
  } finally {
    rmSync(join(folder, ".."), { recursive: true });
  }
}

/** What the memory says of itself: never are more bytes than this on their way to the disk. */
const mostLost = 256 * 1024;
const longHistory = samples.memoryLossReleases;
/** Never compacted, and after every few hundred releases. */
const compactions = { never: 2 ** 40, often: 300 * 1024 };

for (const [how, compactBytes] of Object.entries(compactions)) {
  test(`a disk that keeps nothing unsynced takes at most ${mostLost} bytes of releases, compacted ${how}`, {
    skip: noTestDisk(),
  }, async (t) => {
    const dataFolder = freshDataFolder(t);
    const disk = createTestDisk(t, dataFolder);
    const writer = disk.start({
      entry: join(import.meta.dirname, "memory_writer.ts"),
      args: ["0", String(longHistory), String(compactBytes)],
    });
    assert.equal(await writer.exited, 0, writer.output());
    const changes = parseJournal(disk.journal());
    // The most is on its way just before it is waited for; and what is lost at the end is lost, too.
    const isWait = (change: Change) => change.kind === "write" && change.through;
    const places = changes.flatMap((change, index) => (isWait(change) || index === changes.length - 1 ? index : []));
    const image = emptyImage(dataFolder);
    const lost: number[] = [];
    for (const [index, place] of places.entries()) {
      for (let at = places[index - 1] ?? 0; at < place; at++) apply(image, changes[at] as Change);
      const [told, kept] = [keepAll(image), keepNothing(image)].map((left) => withKept(left, dataFolder, releasesIn));
      if (told === undefined) continue;
      lost.push(bytesOf(kept ?? 0, told));
    }
    const most = Math.max(...lost);
    t.diagnostic(
      `${lost.length} power cuts, compacted ${how}: at most ${most} of ${bytesOf(0, longHistory)} bytes lost`,
    );
    assert.ok(most <= mostLost, `${most} bytes of releases were lost`);
    // It does not wait for each record either, or every activity would wait for the disk twice.
    assert.ok(most > mostLost / 2, `only ${most} bytes were ever on their way: the cuts are too kind`);
  });
}

/** How many releases it remembers; undefined when it has not begun. */
function releasesIn(folder: string): number | undefined {
  const memory = openMemory(folder, rootKey);
  memory.close();
  return memory.deploymentId === undefined ? undefined : memory.lastTimeMs;
}

/** What the records of these releases take in the file: all behind the first, up to the last. */
function bytesOf(first: number, last: number): number {
  let sum = 0;
  for (let number = first + 1; number <= last; number++) {
    const { pins, leaves } = historyOf(number);
    const moved = pins.map(({ organizationId, pin }) => ({
      ...{ organizationId, version: pin.version, digest: pin.digest.subarray(0, pinDigestLength) },
    }));
    const record = { kind: "appended", value: { timeMs: number, pins: moved, leaves } } as const;
    sum += frameRecord(rootKey, new Uint8Array(32), record).length;
  }
  return sum;
}

/** The size of the last checkpoint that others were told of. */
function handedOut(folder: string): number {
  const path = join(folder, "handed");
  return existsSync(path) ? Number(readFileSync(path, "utf8")) : 0;
}

/** How far its history goes, undefined when it has not begun. Fails on anything that was never so. */
function lookInto(folder: string): { releases: number | undefined; torn: number; signed: number } {
  const memory = openMemory(folder, rootKey);
  const { torn } = memory;
  try {
    if (memory.deploymentId === undefined && !memory.wasBornHere(deploymentId))
      return { releases: undefined, torn, signed: 0 };
    const releases = memory.lastTimeMs;
    assert.ok(isHistory(memory.pins, releases), `other pins than after ${releases} releases`);
    const { log } = memory;
    if (log === undefined && releases === 0) return { releases, torn, signed: 0 };
    assert.ok(log !== undefined && isLog(log, releases), `another log than after ${releases} releases`);
    const ranges = memory.released().map(({ first, last }) => [first, last]);
    const numbers = Array.from({ length: releases }, (_, index) => leafNumberOf(index + 1));
    assert.deepEqual(
      ranges,
      numbers.map((number) => [number, number]),
    );
    const { pins, leaves } = historyOf(releases + 1);
    memory.rememberAppended(releases + 1, pins, leaves);
  } finally {
    memory.close();
  }
  const again = openMemory(folder, rootKey);
  assert.equal(again.lastTimeMs, memory.lastTimeMs, "what is remembered next is lost");
  again.close();
  return { releases: memory.lastTimeMs - 1, torn, signed: again.log?.checkpointSize ?? 0 };
}
