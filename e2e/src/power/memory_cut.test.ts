/**
 * Power cuts on the signer's memory file alone, by the thousand: whatever sectors are lost, it opens by itself and remembers
 * its own history up to some moment, never a mixture. A sample here, more with `npm run figures`.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openMemory } from "@keystead/server/signer/memory.ts";
import { seededRandom } from "../../../server/test/seeded_random.ts";
import { freshDataFolder } from "../data_folder.ts";
import { apply, cutPower, emptyImage, writeKept } from "./disk_image.ts";
import { type Change, parseJournal } from "./journal.ts";
import { createHistoryCheck, historyOf, memoryFixtures } from "./memory_history.ts";
import { createTestDisk, noTestDisk } from "./test_disk.ts";

const cuts = process.env.KEYSTEAD_FIGURES === "1" ? 5_000 : 200;
const records = 1_000;
const isHistory = createHistoryCheck(records);
const { rootKey, deploymentId, boot } = memoryFixtures;

test(`${cuts} power cuts on the signer's memory: it remembers a moment of its own history`, {
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
    const folder = join(mkdtempSync(join(tmpdir(), "keystead-memory-cut-")), "memory");
    writeKept(cutPower(image, random), dataFolder, folder);
    try {
      const { releases, torn } = lookInto(folder);
      if (releases === undefined && place >= born)
        complaints.push(`after change ${place}: the deployment is forgotten`);
      outcomes[releases === undefined ? "empty" : torn > 0 ? "torn" : "whole"] += 1;
    } catch (error) {
      complaints.push(`after change ${place}: ${error instanceof Error ? error.message : error}`);
    }
    rmSync(join(folder, ".."), { recursive: true });
  }
  t.diagnostic(
    `signer's memory, seed ${seed}: ${cuts} power cuts; ${outcomes.whole} left whole records, ${outcomes.torn} a torn end, ` +
      `${outcomes.empty} nothing yet; refused or mixed up: ${complaints.length}`,
  );
  assert.deepEqual(complaints.slice(0, 5), [], `to repeat it: KEYSTEAD_SEED=${seed}`);
  assert.ok(outcomes.torn > cuts / 20, "hardly anything was torn: the cuts are too kind");
});

/** How far its history goes, undefined when it has not begun. Fails on anything that was never so. */
function lookInto(folder: string): { releases: number | undefined; torn: number } {
  const memory = openMemory(folder, rootKey);
  const { torn } = memory;
  try {
    if (memory.deploymentId === undefined && !memory.wasBornHere(deploymentId)) return { releases: undefined, torn };
    const releases = memory.lastTimeMs;
    assert.ok(isHistory(memory.pins, releases), `other pins than after ${releases} releases`);
    const ranges = memory.released().map(({ first, last }) => [first, last]);
    assert.deepEqual(ranges, releases === 0 ? [] : [[1, releases]]);
    memory.rememberRelease(releases + 1, historyOf(releases + 1).pins, [
      { boot, first: releases + 1, last: releases + 1 },
    ]);
  } finally {
    memory.close();
  }
  const again = openMemory(folder, rootKey);
  assert.equal(again.lastTimeMs, memory.lastTimeMs, "what is remembered next is lost");
  again.close();
  return { releases: memory.lastTimeMs - 1, torn };
}
