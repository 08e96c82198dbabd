import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, statSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { samples } from "../../../../core/test/samples.ts";
import { seededRandom } from "../../../../core/test/seeded_random.ts";
import type { WantedCode } from "./code_memory.ts";
import { type Memory, type MemoryOptions, openMemory } from "./memory.ts";

const nowMs = 1_800_000_000_000;
const minuteMs = 60_000;
const rootKey = new Uint8Array(randomBytes(32));
const id = (fill: number, length = 16) => new Uint8Array(length).fill(fill);
const wanted = (otpId: number, contact = otpId, more: Partial<WantedCode> = {}): WantedCode => ({
  otpId: id(otpId),
  ownerId: id(200),
  subOrganizationId: undefined,
  contact: id(contact),
  identifier: undefined,
  lifeMs: 300_000,
  ...more,
});
const fingerprint = (number: number) => {
  const bytes = new Uint8Array(32);
  new DataView(bytes.buffer).setUint32(12, number);
  return bytes;
};

function openRig(options: MemoryOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), "keystead-memory-"));
  const open = () => openMemory(folder, rootKey, options);
  const rig = {
    folder,
    path: join(folder, "memory"),
    memory: open(),
    restart(): Memory {
      rig.memory.close();
      rig.memory = open();
      return rig.memory;
    },
  };
  rig.memory.codes.begin(nowMs);
  return rig;
}

const tooMany = { code: "resource_exhausted", message: /^Max number of OTPs have been initiated/ };
const usedUp = { code: "invalid_argument", message: /^Invalid OTP code: too many attempts/ };
const spentElsewhere = { code: "invalid_argument", message: /^Invalid OTP code: code was used already/ };
const expired = { code: "invalid_argument", message: /^Invalid OTP code: code expired/ };

test("a body that comes again renews no code: its life begins at the first sight, over restarts and compactions", () => {
  const rig = openRig({ compactBytes: 1_000 });
  const first = rig.memory.codes.start(wanted(1), nowMs);
  assert.deepEqual(first, { otpId: id(1), startedAtMs: nowMs, endsAtMs: nowMs + 300_000 });
  for (let each = 2; each < 100; each++) rig.memory.codes.start(wanted(each), nowMs + each);
  for (const laterMs of [1, 250_000, 301_000, 65 * minuteMs]) {
    assert.deepEqual(rig.memory.codes.start(wanted(1), nowMs + laterMs), first);
    assert.deepEqual(rig.restart().codes.start(wanted(1), nowMs + laterMs), first);
  }
  assert.equal(rig.memory.codes.start(wanted(101, 101, { lifeMs: 10_000_000 }), nowMs).endsAtMs, nowMs + 600_000);
});

test("three different bodies are compared with a code, each as often as it comes, over restarts and compactions", () => {
  const rig = openRig({ compactBytes: 1_000 });
  const code = rig.memory.codes.start(wanted(1), nowMs);
  for (let round = 0; round < 4; round++) {
    for (let number = 1; number <= 3; number++) rig.memory.codes.attempt(code, fingerprint(number), nowMs);
    for (let number = 4; number <= 60; number++) {
      assert.throws(() => rig.memory.codes.attempt(code, fingerprint(number), nowMs), usedUp);
    }
    for (let each = 2; each < 40; each++) rig.memory.codes.start(wanted(each + 40 * round), nowMs);
    rig.restart();
  }
});

test("a token is released to one body, and then no other is even compared", () => {
  const rig = openRig();
  const code = rig.memory.codes.start(wanted(1), nowMs);
  rig.memory.codes.attempt(code, fingerprint(1), nowMs);
  rig.memory.codes.attempt(code, fingerprint(2), nowMs);
  rig.memory.codes.spend(code, fingerprint(2), nowMs);
  for (const { codes } of [rig.memory, rig.restart()]) {
    assert.throws(() => codes.spend(code, fingerprint(1), nowMs), spentElsewhere);
    assert.throws(() => codes.attempt(code, fingerprint(1), nowMs), spentElsewhere);
    assert.throws(() => codes.attempt(code, fingerprint(3), nowMs), spentElsewhere);
    codes.attempt(code, fingerprint(2), nowMs);
    codes.spend(code, fingerprint(2), nowMs);
  }
});

test("a code that is over is not compared, and its token not released when its notes may be gone", () => {
  const rig = openRig();
  const code = rig.memory.codes.start(wanted(1), nowMs);
  rig.memory.codes.attempt(code, fingerprint(1), nowMs + 299_999);
  rig.memory.codes.attempt(code, fingerprint(2), nowMs + 299_999);
  assert.throws(() => rig.memory.codes.attempt(code, fingerprint(3), nowMs + 300_000), expired);
  assert.throws(() => rig.memory.codes.attempt(code, fingerprint(1), nowMs + 300_000), expired);
  assert.throws(() => rig.memory.codes.spend(code, fingerprint(1), nowMs + 700_000), expired);
  rig.memory.codes.spend(code, fingerprint(1), nowMs + 500_000);
  assert.throws(() => rig.memory.codes.spend(code, fingerprint(2), nowMs + 500_000), spentElsewhere);
  // Whenever the notes go, it is too late by then.
  for (let laterMs = 500_000; laterMs < 3_000_000; laterMs += minuteMs) {
    rig.memory.codes.start(wanted(2 + laterMs / minuteMs), nowMs + laterMs);
    assert.throws(() => rig.memory.codes.spend(code, fingerprint(2), nowMs + laterMs));
  }
});

test("codes from before the memory, from before an acceptance and from before the clock was set are dead to it", () => {
  const rig = openRig();
  const code = rig.memory.codes.start(wanted(1), nowMs);
  const fresh = openRig();
  assert.throws(() => fresh.memory.codes.attempt({ ...code, startedAtMs: nowMs - 1 }, fingerprint(1), nowMs), expired);
  fresh.memory.codes.attempt(code, fingerprint(1), nowMs + 1);
  rig.memory.rememberAcceptance(nowMs);
  assert.throws(() => rig.memory.codes.attempt(code, fingerprint(1), nowMs + 2_000), expired);
  assert.throws(() => rig.restart().codes.attempt(code, fingerprint(1), nowMs + 2_000), expired);
  const after = rig.memory.codes.start(wanted(2), nowMs + 2_000);
  rig.memory.codes.attempt(after, fingerprint(1), nowMs + 2_000);
  rig.memory.resetClock(nowMs + 3_000);
  assert.throws(() => rig.memory.codes.attempt(after, fingerprint(1), nowMs + 3_000), expired);
  assert.throws(() => rig.restart().codes.attempt(after, fingerprint(1), nowMs + 3_000), expired);
});

test("a memory that was never told of codes takes none that are older than the first question", () => {
  const memory = openMemory(mkdtempSync(join(tmpdir(), "keystead-memory-")), rootKey);
  const code = { otpId: id(1), startedAtMs: nowMs - 1, endsAtMs: nowMs + 1_000 };
  assert.throws(() => memory.codes.attempt(code, fingerprint(1), nowMs), expired);
  memory.codes.attempt({ ...code, startedAtMs: nowMs }, fingerprint(1), nowMs + 1);
});

test("a code that claims to come from the future, or to last longer than any, is not compared", () => {
  const { memory } = openRig();
  const code = { otpId: id(1), startedAtMs: nowMs + 400_000, endsAtMs: nowMs + 700_000 };
  assert.throws(() => memory.codes.attempt(code, fingerprint(1), nowMs), expired);
  const long = { otpId: id(1), startedAtMs: nowMs, endsAtMs: nowMs + 600_001 };
  assert.throws(() => memory.codes.attempt(long, fingerprint(1), nowMs), expired);
});

test("a contact has three live codes; one that was used or is over makes room", () => {
  const rig = openRig();
  const { codes } = rig.memory;
  const [first] = [1, 2, 3].map((each) => codes.start(wanted(each, 99), nowMs));
  assert.throws(() => codes.start(wanted(4, 99), nowMs), tooMany);
  codes.start(wanted(5, 98), nowMs);
  assert.ok(first);
  codes.spend(first, fingerprint(1), nowMs);
  codes.start(wanted(4, 99), nowMs);
  assert.throws(() => codes.start(wanted(6, 99), nowMs), tooMany);
  assert.throws(() => rig.restart().codes.start(wanted(6, 99), nowMs + 299_999), tooMany);
  rig.memory.codes.start(wanted(6, 99), nowMs + 300_000);
});

test("a contact has ten codes an hour, and a refused one does not count", () => {
  const rig = openRig();
  for (let each = 1; each <= 10; each++) rig.memory.codes.start(wanted(each, 99), nowMs + each * 5 * minuteMs);
  const { codes } = rig.restart();
  const hourLaterMs = nowMs + 65 * minuteMs;
  assert.throws(() => codes.start(wanted(11, 99), hourLaterMs - 1), tooMany);
  assert.throws(() => codes.start(wanted(12, 99), hourLaterMs - 1), tooMany);
  codes.start(wanted(11, 99), hourLaterMs);
  assert.throws(() => codes.start(wanted(12, 99), hourLaterMs), tooMany);
});

test("a user identifier has three codes in three minutes, whatever their contacts", () => {
  const rig = openRig();
  const start = (each: number, atMs: number) =>
    rig.memory.codes.start(wanted(each, each, { identifier: id(77) }), atMs);
  for (let each = 1; each <= 3; each++) start(each, nowMs + each);
  rig.restart();
  assert.throws(() => start(4, nowMs + 3 * minuteMs), tooMany);
  rig.memory.codes.start(wanted(5, 5, { identifier: id(78) }), nowMs);
  start(4, nowMs + 3 * minuteMs + 1);
});

test("a clock that ran a year ahead and was set right keeps nobody from getting codes", () => {
  const rig = openRig();
  const yearAheadMs = nowMs + 365 * 86_400_000;
  for (let each = 1; each <= 3; each++) rig.memory.codes.start(wanted(each, 99), yearAheadMs);
  rig.memory.resetClock(nowMs + minuteMs);
  const code = rig.restart().codes.start(wanted(4, 99), nowMs + minuteMs);
  rig.memory.codes.attempt(code, fingerprint(1), nowMs + minuteMs);
});

test("a clock that is set keeps the attempts and starts from before, which bodies could still use", () => {
  const rig = openRig();
  const first = rig.memory.codes.start(wanted(1), nowMs);
  for (let number = 1; number <= 3; number++) rig.memory.codes.attempt(first, fingerprint(number), nowMs);
  rig.memory.resetClock(nowMs + 1_000);
  assert.deepEqual(rig.restart().codes.start(wanted(1), nowMs + 2_000), first, "the same body, the same end");
});

test("notes that nobody can ask for any more are dropped, and the file grows no longer", () => {
  const rig = openRig({ compactBytes: 20_000 });
  const sizes: number[] = [];
  for (let hour = 0; hour < 30; hour++) {
    for (let each = 0; each < 200; each++) {
      const atMs = nowMs + hour * 3_600_000 + each * 15_000;
      const otpId = fingerprint(hour * 1_000 + each).subarray(0, 16);
      const code = rig.memory.codes.start(wanted(0, 0, { otpId, contact: otpId }), atMs);
      rig.memory.codes.attempt(code, fingerprint(each), atMs);
    }
    sizes.push(statSync(rig.path).size);
  }
  const early = Math.max(...sizes.slice(3, 12));
  assert.ok(Math.max(...sizes.slice(12)) <= early * 1.5, sizes.join(" "));
});

test("an attempt that a power cut tore off its memory is the only one that is lost, and nothing before it", () => {
  const rig = openRig();
  const code = rig.memory.codes.start(wanted(1), nowMs);
  rig.memory.codes.attempt(code, fingerprint(1), nowMs);
  rig.memory.codes.attempt(code, fingerprint(2), nowMs);
  const whole = statSync(rig.path).size;
  rig.memory.codes.attempt(code, fingerprint(3), nowMs);
  const full = readFileSync(rig.path);
  for (let length = whole; length < full.length; length += 7) {
    writeFileSync(rig.path, full.subarray(0, length));
    const { codes } = rig.restart();
    codes.attempt(code, fingerprint(4), nowMs);
    assert.throws(() => codes.attempt(code, fingerprint(3), nowMs), usedUp);
  }
});

test("an attempt that cannot be written is not allowed", () => {
  let isFull = false;
  const write = (file: number, content: Uint8Array, at: number): number => {
    if (isFull) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    return writeSync(file, content, at);
  };
  const folder = mkdtempSync(join(tmpdir(), "keystead-memory-"));
  const memory = openMemory(folder, rootKey, { write });
  const code = memory.codes.start(wanted(1), nowMs);
  isFull = true;
  assert.throws(() => memory.codes.attempt(code, fingerprint(1), nowMs), { code: "unavailable" });
  assert.throws(() => memory.codes.spend(code, fingerprint(1), nowMs), { code: "unavailable" });
  assert.throws(() => memory.codes.start(wanted(2), nowMs), { code: "unavailable" });
  isFull = false;
  for (let number = 1; number <= 3; number++) memory.codes.attempt(code, fingerprint(number), nowMs);
  assert.throws(() => memory.codes.attempt(code, fingerprint(4), nowMs), usedUp);
});

test("a memory from before codes is read as it is and written on", () => {
  const folder = mkdtempSync(join(tmpdir(), "keystead-memory-"));
  const memory = openMemory(folder, rootKey);
  memory.rememberDeployment(id(9));
  memory.rememberRelease(nowMs, [], [{ boot: id(3), first: 1, last: 2 }]);
  memory.close();
  const again = openMemory(folder, rootKey);
  assert.equal(again.codes.sinceMs, 0);
  again.codes.begin(nowMs);
  again.codes.begin(nowMs + 1);
  again.close();
  const third = openMemory(folder, rootKey);
  assert.equal(third.codes.sinceMs, nowMs);
  assert.equal(third.wasReleased(id(3), 2), true);
  truncateSync(join(folder, "memory"), statSync(join(folder, "memory")).size - 3);
  assert.equal(openMemory(folder, rootKey).codes.sinceMs, 0);
});

test("guesses at one code, with restarts between them: three are evaluated", (t) => {
  const random = seededRandom(22);
  const rig = openRig({ compactBytes: 4_000 });
  const code = rig.memory.codes.start(wanted(1), nowMs);
  const evaluated = new Set<number>();
  const guesses = samples.otpGuesses;
  let restarts = 0;
  let repeated = 0;
  for (let frame = 0; frame < guesses; frame++) {
    // A hostile gateway sends old bodies again, prepares the code anew, lets time pass and ends the process.
    const number = random.next() < 0.3 ? random.below(frame + 1) : frame;
    const atMs = nowMs + Math.floor((frame / guesses) * 299_000);
    if (random.next() < 0.1) assert.deepEqual(rig.memory.codes.start(wanted(1), atMs), code);
    if (random.next() < 20 / guesses) {
      rig.restart();
      restarts++;
    }
    try {
      rig.memory.codes.attempt(code, fingerprint(number), atMs);
      if (evaluated.has(number)) repeated++;
      evaluated.add(number);
    } catch (error) {
      assert.match(String(error), /Invalid OTP code: too many attempts/);
    }
  }
  assert.equal(evaluated.size, 3);
  t.diagnostic(`${guesses} guesses at one code with ${restarts} restarts: 3 evaluated, ${repeated} of them again`);
});
