/** The log in the memory's file: what was appended, signed and owed is there after every restart, compaction and change of the root key. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { rootOf } from "@keystead/core/tlog/tree.ts";
import { seededRandom } from "../../../../core/test/seeded_random.ts";
import { sha256 } from "../../state/digest.ts";
import type { LoggedLeaf } from "./log_tail.ts";
import { type Memory, openMemory } from "./memory.ts";

const rootKey = new Uint8Array(32).fill(7);
const bytes = (length: number, fill: number) => new Uint8Array(length).fill(fill);
const newFolder = () => mkdtempSync(join(tmpdir(), "keystead-log-memory-"));
const newLog = (fill = 5) => ({
  logId: bytes(16, fill),
  openedAtMs: 1_000,
  previous: undefined,
  takesAll: false,
});

function leaf(number: number, organization: number, ordinal: number): LoggedLeaf {
  return {
    ...{ organizationId: bytes(16, organization), boot: bytes(16, 3), number, ordinal },
    entry: sha256(`${number} ${organization} ${ordinal}`),
  };
}

/** What can be asked about the log, as plain values. */
function describe({ log, owed, released }: Memory) {
  if (log === undefined) return undefined;
  return {
    logId: toHex(log.logId),
    previous: log.previous && { ...log.previous, logId: toHex(log.previous.logId), root: toHex(log.previous.root) },
    takesAll: log.takesAll,
    size: log.size,
    checkpoint: [log.checkpointSize, toHex(log.edge.root())],
    head: toHex(log.head().root),
    tail: log.leavesFrom(log.checkpointSize, log.tailLength).map(({ number, entry }) => [number, toHex(entry)]),
    ordinals: Array.from(log.ordinals.entries(), ({ organizationId, ordinal }) => [
      toHex(organizationId),
      ordinal,
    ]).sort(),
    owed: owed().map(({ boot, first, last }) => [toHex(boot), first, last]),
    released: released().map(({ boot, first, last }) => [toHex(boot), first, last]),
  };
}

test("a log of random acts is the same after each restart, however small the file is made", () => {
  const random = seededRandom(24);
  for (const compactBytes of [2 ** 30, 2_000]) {
    const folder = newFolder();
    let memory = openMemory(folder, rootKey, { compactBytes });
    memory.openLog(newLog());
    const entries: Uint8Array[] = [];
    const ordinals = new Map<number, number>();
    for (let number = 1; number <= 400; ) {
      const leaves = Array.from({ length: random.below(4) }, () => {
        const organization = random.below(9);
        const ordinal = organization === 0 ? 0 : (ordinals.get(organization) ?? 0) + 1;
        if (ordinal > 0) ordinals.set(organization, ordinal);
        return leaf(number++, organization, ordinal);
      });
      entries.push(...leaves.map(({ entry }) => entry));
      memory.rememberAppended(number, [], leaves);
      if (random.below(10) === 0) {
        const { checkpointSize, size } = memory.log ?? assert.fail();
        const to = checkpointSize + random.below(size - checkpointSize + 1);
        assert.equal(toHex(memory.rememberCheckpoint(to)), toHex(rootOf(entries.slice(0, to))));
      }
      if (random.below(20) === 0) {
        const before = describe(memory);
        memory.close();
        memory = openMemory(folder, rootKey, { compactBytes });
        assert.deepEqual(describe(memory), before);
      }
    }
    assert.equal(toHex(memory.log?.head().root ?? bytes(0, 0)), toHex(rootOf(entries)));
    assert.deepEqual(
      new Map(Array.from(memory.log?.ordinals.entries() ?? [], (each) => [each.organizationId[0], each.ordinal])),
      ordinals,
    );
    memory.close();
  }
});

test("a memory from before there were logs is read as it is, and owes what it has released; so after a compaction", () => {
  const folder = newFolder();
  const memory = openMemory(folder, rootKey, { compactBytes: 300 });
  memory.rememberRelease(1_000, [], [{ boot: bytes(16, 3), first: 1, last: 9 }]);
  assert.deepEqual([memory.log, memory.owed()], [undefined, []]);
  memory.openLog({ ...newLog(), takesAll: true });
  assert.deepEqual(memory.owed(), [{ boot: bytes(16, 3), first: 1, last: 9 }]);
  memory.rememberAppended(2_000, [], [leaf(10, 1, 1), leaf(4, 1, 2)]);
  assert.equal(memory.owes(bytes(16, 3), 4), false);
  assert.equal(memory.owes(bytes(16, 3), 5), true);
  for (let time = 0; time < 20; time++) memory.rememberAppended(3_000 + time, [], []);
  memory.close();
  const again = openMemory(folder, rootKey);
  assert.deepEqual(
    again.owed().map(({ first, last }) => [first, last]),
    [
      [1, 3],
      [5, 9],
    ],
  );
  assert.equal(again.log?.takesAll, true);
  again.rememberTakenIn(4_000);
  again.close();
  assert.equal(openMemory(folder, rootKey).log?.takesAll, false);
});

test("the next log begins empty, owes nothing that a log before has, and what it owed before it still owes", () => {
  const folder = newFolder();
  const memory = openMemory(folder, rootKey);
  memory.openLog(newLog());
  memory.rememberAppended(1_000, [], [leaf(1, 1, 1), leaf(2, 1, 2)]);
  memory.rememberRelease(1_000, [], [{ boot: bytes(16, 3), first: 3, last: 3 }]);
  const previous = memory.log?.head();
  memory.openLog({ ...newLog(6), previous });
  const expected = describe(memory);
  assert.deepEqual([expected?.size, expected?.ordinals, expected?.owed], [0, [], [[toHex(bytes(16, 3)), 3, 3]]]);
  assert.deepEqual(memory.log?.previous, previous);
  memory.close();
  assert.deepEqual(describe(openMemory(folder, rootKey)), expected);
});

test("the root key's rotation writes the log anew, with its last checkpoint", () => {
  const folder = newFolder();
  const memory = openMemory(folder, rootKey);
  memory.openLog(newLog());
  memory.rememberAppended(1_000, [], [leaf(1, 1, 1), leaf(2, 1, 2), leaf(3, 2, 1)]);
  memory.rememberCheckpoint(2);
  const expected = describe(memory);
  memory.close();
  const next = new Uint8Array(randomBytes(32));
  openMemory(folder, next, { retiring: rootKey }).close();
  assert.deepEqual(describe(openMemory(folder, next)), expected);
});

test("a checkpoint that could not be waited for is not remembered, and the same call again is", () => {
  const folder = newFolder();
  let isFull = false;
  const memory = openMemory(folder, rootKey, {
    write: (_file, content, at) => {
      if (isFull) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      writeFileSync(join(folder, "memory"), content.subarray(at), { flag: "a" });
      return content.length - at;
    },
  });
  memory.openLog(newLog());
  memory.rememberAppended(1_000, [], [leaf(1, 1, 1)]);
  isFull = true;
  assert.throws(() => memory.rememberCheckpoint(1), { code: "unavailable", message: /cannot be written/ });
  assert.equal(memory.log?.checkpointSize, 0);
  isFull = false;
  memory.rememberCheckpoint(1);
  memory.close();
  assert.equal(openMemory(folder, rootKey).log?.checkpointSize, 1);
});

test("any cut of the file leaves the log as it was at some moment, and no cut behind a checkpoint loses an entry that it covers", () => {
  const folder = newFolder();
  const path = join(folder, "memory");
  const memory = openMemory(folder, rootKey);
  memory.openLog(newLog());
  const moments = [{ end: statSync(path).size, log: describe(memory) }];
  for (let number = 1; number <= 12; number++) {
    memory.rememberAppended(1_000, [], [leaf(number, 1, number)]);
    moments.push({ end: statSync(path).size, log: describe(memory) });
    if (number % 5 !== 0) continue;
    memory.rememberCheckpoint(number - 1);
    moments.push({ end: statSync(path).size, log: describe(memory) });
  }
  memory.close();
  const full = readFileSync(path);
  for (let length = moments[0]?.end ?? 0; length <= full.length; length += 7) {
    writeFileSync(path, full.subarray(0, length));
    const again = openMemory(folder, rootKey);
    const expected = moments.findLast(({ end }) => end <= length)?.log;
    assert.deepEqual(describe(again), expected);
    again.close();
  }
});
