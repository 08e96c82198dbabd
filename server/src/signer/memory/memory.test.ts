import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openMemory } from "./memory.ts";

const rootKey = new Uint8Array(randomBytes(32));
const newFolder = () => mkdtempSync(join(tmpdir(), "keystead-memory-"));
const bytes = (length: number, fill: number) => new Uint8Array(length).fill(fill);
const pinAt = (organization: number, version: number) => ({
  organizationId: bytes(16, organization),
  pin: { version, digest: bytes(32, version) },
});

test("what was remembered is there after a restart", () => {
  const folder = newFolder();
  const memory = openMemory(folder, rootKey);
  memory.rememberDeployment(bytes(16, 9));
  memory.rememberRelease(1_000, [pinAt(1, 5), pinAt(2, 7)], [{ boot: bytes(16, 3), first: 1, last: 2 }]);
  memory.rememberRelease(2_000, [pinAt(1, 6)], [{ boot: bytes(16, 3), first: 4, last: 4 }]);
  memory.close();
  const again = openMemory(folder, rootKey);
  assert.deepEqual(again.deploymentId, bytes(16, 9));
  assert.equal(again.lastTimeMs, 2_000);
  assert.deepEqual(again.pins.get(bytes(16, 1)), { version: 6, digest: bytes(16, 6) });
  assert.deepEqual(again.pins.get(bytes(16, 2)), { version: 7, digest: bytes(16, 7) });
  assert.equal(again.pins.get(bytes(16, 3)), undefined);
  assert.equal(again.wasReleased(bytes(16, 3), 2), true);
  assert.equal(again.wasReleased(bytes(16, 3), 3), false);
  assert.deepEqual(
    again.released().map(({ first, last }) => [first, last]),
    [
      [1, 2],
      [4, 4],
    ],
  );
});

test("a record torn off at any byte is cut, and everything before it is kept", () => {
  const folder = newFolder();
  const path = join(folder, "memory");
  const memory = openMemory(folder, rootKey);
  memory.rememberRelease(1_000, [pinAt(1, 1)], []);
  const whole = statSync(path).size;
  memory.rememberRelease(2_000, [pinAt(1, 2)], []);
  memory.close();
  const full = readFileSync(path);
  for (let length = whole; length < full.length; length++) {
    writeFileSync(path, full.subarray(0, length));
    const torn = openMemory(folder, rootKey);
    assert.equal(torn.pins.get(bytes(16, 1))?.version, 1);
    torn.rememberRelease(3_000, [pinAt(1, 3)], []);
    torn.close();
    const again = openMemory(folder, rootKey);
    assert.equal(again.pins.get(bytes(16, 1))?.version, 3);
    again.close();
  }
});

test("a byte changed anywhere before the last record is damage and refuses the start", () => {
  const folder = newFolder();
  const path = join(folder, "memory");
  const memory = openMemory(folder, rootKey);
  for (let i = 0; i < 3; i++) memory.rememberRelease(2_000 + i, [pinAt(1, 2 + i)], []);
  const end = statSync(path).size;
  memory.rememberRelease(3_000, [pinAt(1, 9)], []);
  memory.close();
  const full = readFileSync(path);
  for (let at = 0; at < end; at++) {
    for (const bit of [0x01, 0x80]) {
      const altered = Buffer.from(full);
      altered[at] = (altered[at] ?? 0) ^ bit;
      writeFileSync(path, altered);
      assert.throws(() => openMemory(folder, rootKey), /memory is damaged/, `byte ${at}`);
      assert.deepEqual(readFileSync(path), altered, "the evidence stays");
    }
  }
});

test("an end that a power cut left zero is cut and kept aside", () => {
  const folder = newFolder();
  const path = join(folder, "memory");
  const memory = openMemory(folder, rootKey);
  memory.rememberRelease(1_000, [pinAt(1, 1)], []);
  memory.close();
  appendFileSync(path, new Uint8Array(200));
  const again = openMemory(folder, rootKey);
  assert.equal(again.pins.get(bytes(16, 1))?.version, 1);
  again.rememberRelease(2_000, [pinAt(1, 2)], []);
  again.close();
  assert.equal(statSync(join(folder, "memory.torn")).size, 200);
  assert.equal(openMemory(folder, rootKey).pins.get(bytes(16, 1))?.version, 2);
});

test("a sector that a power cut lost tears off what is in it and behind it, wherever it lies in the last records", () => {
  const folder = newFolder();
  const path = join(folder, "memory");
  const memory = openMemory(folder, rootKey);
  const ends = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((version) => {
    memory.rememberRelease(
      1_000 + version,
      Array.from({ length: 9 }, () => pinAt(1, version)),
      [],
    );
    return statSync(path).size;
  });
  memory.close();
  const full = readFileSync(path);
  for (let at = 512; at < full.length; at += 512) {
    const left = Buffer.from(full);
    left.fill(0, at, Math.min(at + 512, full.length));
    writeFileSync(path, left);
    const again = openMemory(folder, rootKey);
    const whole = ends.filter((end) => end <= at).length;
    assert.equal(again.pins.get(bytes(16, 1))?.version, whole, `sector at ${at}`);
    assert.equal(again.torn, full.length - (ends[whole - 1] ?? 0));
    again.close();
    assert.equal(statSync(join(folder, "memory.torn")).size, again.torn);
  }
});

test("a sector lost further from the end than a power cut reaches is damage", () => {
  const folder = newFolder();
  const path = join(folder, "memory");
  const memory = openMemory(folder, rootKey);
  const many = Array.from({ length: 4_000 }, (_, index) => pinAt(index % 200, 1));
  for (let n = 0; n < 8; n++) memory.rememberRelease(1_000, many, []);
  memory.close();
  const left = readFileSync(path);
  left.fill(0, 5_120, 5_632);
  writeFileSync(path, left);
  assert.throws(() => openMemory(folder, rootKey), /memory is damaged: put the right root key back/);
});

test("a file of which nothing but its length reached the disk begins anew", () => {
  const folder = newFolder();
  writeFileSync(join(folder, "memory"), new Uint8Array(75));
  const memory = openMemory(folder, rootKey);
  memory.rememberRelease(1_000, [pinAt(1, 1)], []);
  memory.close();
  assert.equal(openMemory(folder, rootKey).pins.size, 1);
});

test("another root key's memory is refused", () => {
  const folder = newFolder();
  const memory = openMemory(folder, rootKey);
  memory.rememberRelease(1_000, [pinAt(1, 1)], []);
  memory.rememberRelease(1_000, [pinAt(1, 2)], []);
  memory.close();
  assert.throws(() => openMemory(folder, new Uint8Array(randomBytes(32))), /memory is damaged/);
});

test("compacting keeps everything and makes the file small again, over and over", () => {
  const folder = newFolder();
  const path = join(folder, "memory");
  const memory = openMemory(folder, rootKey, { compactBytes: 4_096 });
  memory.rememberDeployment(bytes(16, 9));
  for (let i = 1; i <= 2_000; i++) {
    memory.rememberRelease(i, [pinAt(i % 20, i)], [{ boot: bytes(16, 3), first: i, last: i }]);
  }
  memory.close();
  assert.ok(statSync(path).size < 16_384);
  const again = openMemory(folder, rootKey);
  assert.deepEqual(again.deploymentId, bytes(16, 9));
  assert.equal(again.pins.size, 20);
  assert.equal(again.pins.get(bytes(16, 0))?.version, 2_000);
  assert.deepEqual(
    again.released().map(({ first, last }) => [first, last]),
    [[1, 2_000]],
  );
  assert.equal(again.lastTimeMs, 2_000);
});

test("a clock that was reset stays reset after a restart", () => {
  const folder = newFolder();
  const memory = openMemory(folder, rootKey);
  memory.rememberRelease(9_000_000, [pinAt(1, 1)], []);
  memory.resetClock(5_000);
  memory.close();
  assert.equal(openMemory(folder, rootKey).lastTimeMs, 5_000);
});

test("a file cut short inside its first line begins anew; one that begins otherwise is refused", () => {
  const folder = newFolder();
  openMemory(folder, rootKey).close();
  truncateSync(join(folder, "memory"), 4);
  const again = openMemory(folder, rootKey);
  again.rememberRelease(1, [pinAt(1, 1)], []);
  again.close();
  assert.equal(openMemory(folder, rootKey).pins.size, 1);
  const other = newFolder();
  appendFileSync(join(other, "memory"), "something else entirely, and long enough");
  assert.throws(() => openMemory(other, rootKey), /memory is damaged/);
});

test("a disk that fills up in the middle of a record leaves no half of it, and later records count", () => {
  const folder = newFolder();
  let left = Number.POSITIVE_INFINITY;
  const write = (file: number, content: Uint8Array, at: number): number => {
    if (left <= 0) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    const written = writeSync(file, content, at, Math.min(content.length - at, left));
    left -= written;
    return written;
  };
  const memory = openMemory(folder, rootKey, { write });
  memory.rememberRelease(1_000, [pinAt(1, 1)], []);
  left = 50;
  const many = Array.from({ length: 200 }, (_, index) => pinAt(index, 9));
  assert.throws(() => memory.rememberRelease(2_000, many, []), { code: "unavailable", message: /cannot be written/ });
  assert.equal(memory.pins.get(bytes(16, 1))?.version, 1, "what was not written is not believed");
  left = Number.POSITIVE_INFINITY;
  for (const version of [2, 3, 4]) memory.rememberRelease(3_000, [pinAt(1, version)], []);
  memory.close();
  assert.equal(openMemory(folder, rootKey).pins.get(bytes(16, 1))?.version, 4);
});

const noSpace = () => Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });

test("a full disk is said once, with the place and the reason, and so is its end", () => {
  const folder = newFolder();
  const said: string[] = [];
  let isFull = false;
  const write = (file: number, content: Uint8Array, at: number): number => {
    if (isFull) throw noSpace();
    return writeSync(file, content, at);
  };
  const memory = openMemory(folder, rootKey, { write, note: (message) => said.push(message) });
  isFull = true;
  for (let n = 0; n < 3; n++) {
    assert.throws(() => memory.rememberRelease(2_000, [pinAt(1, 1)], []), {
      code: "unavailable",
      message: "the signer's memory cannot be written (ENOSPC); nothing is released until it can",
    });
  }
  isFull = false;
  for (let n = 0; n < 3; n++) memory.rememberRelease(3_000, [pinAt(1, 2)], []);
  assert.deepEqual(said, [
    `its memory ${join(folder, "memory")} cannot be written (ENOSPC: no space left on device, write); nothing is released until it can`,
    "its memory can be written again",
  ]);
});

test("what has to be waited for is not known before it is on the disk, and is waited for when it comes again", () => {
  const folder = newFolder();
  const path = join(folder, "memory");
  const memory = openMemory(folder, rootKey);
  // The file can be appended to, and not be opened once more to be waited for.
  renameSync(path, `${path}.away`);
  mkdirSync(path);
  for (let n = 0; n < 2; n++) {
    assert.throws(() => memory.rememberDeployment(bytes(16, 9)), { code: "unavailable", message: /cannot be written/ });
    assert.throws(() => memory.rememberBirth(bytes(16, 8)), { code: "unavailable" });
    assert.throws(() => memory.resetClock(5_000), { code: "unavailable" });
    assert.equal(memory.deploymentId, undefined);
    assert.equal(memory.wasBornHere(bytes(16, 8)), false);
    assert.equal(memory.lastTimeMs, 0);
  }
  rmdirSync(path);
  renameSync(`${path}.away`, path);
  memory.rememberDeployment(bytes(16, 9));
  memory.rememberBirth(bytes(16, 8));
  assert.deepEqual(memory.deploymentId, bytes(16, 9));
  memory.close();
  const again = openMemory(folder, rootKey);
  assert.deepEqual(again.deploymentId, bytes(16, 9));
  assert.equal(again.wasBornHere(bytes(16, 8)), true);
});

/** Nothing can be waited for any more: the file can be appended to, and not be opened once more. */
function takeAway(folder: string): void {
  renameSync(join(folder, "memory"), join(folder, "memory.away"));
  mkdirSync(join(folder, "memory"));
}

test("never are more than 256 KiB remembered that nobody has waited for", () => {
  const most = 256 * 1024;
  for (const count of [1, 10, 1_000, 5_000]) {
    const folder = newFolder();
    const memory = openMemory(folder, rootKey);
    memory.rememberDeployment(bytes(16, 9));
    const waitedFor = statSync(join(folder, "memory")).size;
    takeAway(folder);
    const pins = Array.from({ length: count }, (_, index) => pinAt(index % 200, 1));
    const remember = () => memory.rememberRelease(1_000, pins, []);
    remember();
    const perRecord = statSync(join(folder, "memory.away")).size - waitedFor;
    for (let n = 1; n < Math.floor(most / perRecord); n++) remember();
    assert.throws(remember, { code: "unavailable", message: /cannot be written/ }, `${count} pins each`);
    const left = statSync(join(folder, "memory.away")).size - waitedFor;
    assert.ok(left <= most && left > most - perRecord, `${left} bytes on their way`);
  }
});

test("a record that is longer than all that may be on its way is waited for itself", () => {
  const folder = newFolder();
  const memory = openMemory(folder, rootKey);
  memory.rememberDeployment(bytes(16, 9));
  takeAway(folder);
  const many = Array.from({ length: 7_000 }, (_, index) => pinAt(index % 200, 1));
  assert.throws(() => memory.rememberRelease(1_000, many, []), { code: "unavailable", message: /cannot be written/ });
  assert.equal(memory.pins.size, 0, "what was not waited for is not believed");
  rmdirSync(join(folder, "memory"));
  renameSync(join(folder, "memory.away"), join(folder, "memory"));
  memory.rememberRelease(1_000, many, []);
  memory.close();
  assert.equal(openMemory(folder, rootKey).pins.size, 200);
});

test("whoever can sync the folder is told of each compaction, and the long file was waited for before it", () => {
  const folder = newFolder();
  const path = join(folder, "memory");
  let renamed = 0;
  const memory = openMemory(folder, rootKey, { compactBytes: 4_096, renamed: () => (renamed += 1) });
  for (let i = 1; i <= 200; i++) memory.rememberRelease(i, [pinAt(i % 20, i)], []);
  assert.ok(renamed > 1, `${renamed} compactions`);
  const before = renamed;
  takeAway(folder);
  for (let i = 201; i <= 400; i++) memory.rememberRelease(i, [pinAt(i % 20, i)], []);
  assert.equal(renamed, before, "renamed over what was not waited for");
  rmdirSync(path);
  renameSync(`${path}.away`, path);
  memory.close();
  assert.equal(openMemory(folder, rootKey).pins.get(bytes(16, 0))?.version, 400);
});

test("a disk too full to compact on keeps the long file, with nothing beside it that takes its room", () => {
  const folder = newFolder();
  let own: number | undefined;
  const write = (file: number, content: Uint8Array, at: number): number => {
    own ??= file;
    if (file !== own) throw noSpace();
    return writeSync(file, content, at);
  };
  const memory = openMemory(folder, rootKey, { write, compactBytes: 500 });
  for (let version = 1; version <= 50; version++) memory.rememberRelease(1_000, [pinAt(1, version)], []);
  assert.deepEqual(readdirSync(folder), ["memory"]);
  memory.close();
  assert.equal(openMemory(folder, rootKey).pins.get(bytes(16, 1))?.version, 50);
});

test("a memory that the root key before this one wrote is written anew, and only with both keys", () => {
  const folder = newFolder();
  const next = new Uint8Array(randomBytes(32));
  const memory = openMemory(folder, rootKey);
  memory.rememberDeployment(bytes(16, 9));
  memory.rememberRelease(1_000, [pinAt(1, 5)], [{ boot: bytes(16, 3), first: 1, last: 2 }]);
  memory.close();
  assert.throws(() => openMemory(folder, next), /memory is damaged/);
  assert.throws(() => openMemory(folder, next, { retiring: new Uint8Array(32) }), /memory is damaged/);
  for (const options of [{ retiring: rootKey }, { retiring: rootKey }, {}]) {
    const again = openMemory(folder, next, options);
    assert.deepEqual(again.deploymentId, bytes(16, 9));
    assert.equal(again.pins.get(bytes(16, 1))?.version, 5);
    assert.equal(again.wasReleased(bytes(16, 3), 2), true);
    assert.equal(again.lastTimeMs >= 1_000, true);
    again.rememberRelease(again.lastTimeMs + 1, [], []);
    again.close();
  }
  assert.throws(() => openMemory(folder, rootKey), /memory is damaged/);
});

test("a memory torn at its end is written anew without the torn part", () => {
  const folder = newFolder();
  const memory = openMemory(folder, rootKey);
  memory.rememberRelease(1_000, [pinAt(1, 1)], []);
  memory.close();
  appendFileSync(join(folder, "memory"), Uint8Array.of(0, 0, 0, 9, 255));
  const next = new Uint8Array(randomBytes(32));
  openMemory(folder, next, { retiring: rootKey }).close();
  assert.equal(openMemory(folder, next).pins.get(bytes(16, 1))?.version, 1);
});

test("only processes of this signer are known, whoever else's leaves it has released, also after a compaction", () => {
  const folder = newFolder();
  const [own, other] = [1, 2].map((byte) => new Uint8Array(16).fill(byte)) as [Uint8Array, Uint8Array];
  const memory = openMemory(folder, rootKey, { compactBytes: 200 });
  memory.rememberBoot(own);
  memory.rememberAcceptance(5_000);
  for (let number = 1; number <= 50; number++) {
    memory.rememberRelease(number, [], [{ boot: other, first: 2 * number, last: 2 * number }]);
  }
  assert.deepEqual([memory.knowsBoot(own), memory.knowsBoot(other)], [true, false]);
  memory.close();
  const again = openMemory(folder, rootKey);
  assert.deepEqual([again.knowsBoot(own), again.knowsBoot(other)], [true, false]);
  assert.deepEqual([again.wasReleased(other, 4), again.wasReleased(other, 5)], [true, false]);
  assert.equal(again.acceptedAtMs, 6_000, "the acceptance and its second");
  again.close();
});
