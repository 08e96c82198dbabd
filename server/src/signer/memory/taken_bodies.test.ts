import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { slotOf } from "../../state/journal.ts";
import { openMemory } from "./memory.ts";
import { createTakenBodies, isTakenBy, type TakenBodies, type TakenBody } from "./taken_bodies.ts";

const nowMs = 1_800_000_000_000;
const minuteMs = 60_000;
const id = (fill: number, length = 16) => new Uint8Array(length).fill(fill);
const body = (fingerprint: number, organization: number, bodyMs = nowMs): TakenBody => ({
  namedId: id(100),
  bodyMs,
  fingerprint: id(fingerprint, 32),
  organizationId: id(organization),
});
const isMember = () => false;
const isRoot = () => true;
const elsewhere = { code: "failed_precondition" };
const tooMany = { code: "resource_exhausted" };
const tooOld = { code: "invalid_argument", message: /^request timestamp is outside the allowed window/ };

test("whoever takes a body first keeps it, over restarts and compactions", () => {
  const rootKey = new Uint8Array(randomBytes(32));
  const folder = mkdtempSync(join(tmpdir(), "keystead-memory-"));
  const open = () => openMemory(folder, rootKey, { compactBytes: 2_000 });
  let memory = open();
  memory.takeBody(body(1, 1), isMember, nowMs);
  memory.takeBody(body(1, 1), isMember, nowMs);
  assert.throws(() => memory.takeBody(body(1, 2), isMember, nowMs), elsewhere);
  for (let each = 2; each < 200; each++) memory.takeBody(body(each, 3, nowMs + each * 1_000), isMember, nowMs);
  for (let restart = 0; restart < 2; restart++) {
    memory.close();
    memory = open();
    assert.throws(() => memory.takeBody(body(1, 2), isMember, nowMs), elsewhere);
    assert.throws(() => memory.takeBody(body(150, 2, nowMs + 150_000), isMember, nowMs), elsewhere);
    memory.takeBody(body(150, 3, nowMs + 150_000), isMember, nowMs);
  }
  memory.close();
});

/** As the memory does it. */
function take(taken: TakenBodies, each: TakenBody, isRootMember = isMember, atMs = nowMs): void {
  taken.forgetOld(atMs);
  if (isTakenBy(taken, each)) return;
  taken.makeSpace(each, isRootMember, atMs);
  if (isTakenBy(taken, each)) return;
  const { namedId, fingerprint, organizationId, bodyMs } = each;
  taken.add({ namedId, floor: 0, notes: [{ slot: slotOf(bodyMs), fingerprint, organizationId }] });
}

/** Takes new bodies until one is refused; how many were taken. */
function flood(taken: TakenBodies, by: Partial<TakenBody>, isRootMember = isMember, atMs = nowMs): number {
  for (let count = 0; ; count++) {
    try {
      take(taken, { ...body(0, 1), fingerprint: new Uint8Array(randomBytes(32)), ...by }, isRootMember, atMs);
    } catch (error) {
      assert.equal((error as { code?: string }).code, "resource_exhausted");
      return count;
    }
  }
}

function countOf(taken: TakenBodies): number {
  return [...taken.all()].reduce((sum, { notes }) => sum + notes.length, 0);
}

const ahead = nowMs + 299_000;

test("what can never be sent again is forgotten, and nothing of its time is taken any more", () => {
  const taken = createTakenBodies();
  take(taken, body(1, 1));
  take(taken, body(2, 1, nowMs + 3_600_000));
  taken.forgetOld(nowMs + 3_600_000);
  assert.equal(countOf(taken), 2, "it could still be sent");
  taken.forgetOld(nowMs + 2 * 3_600_000);
  assert.equal(countOf(taken), 1);
  assert.throws(() => isTakenBy(taken, body(1, 2)), tooOld);
  assert.equal(isTakenBy(taken, body(3, 2, nowMs + 3_600_000)), false);
});

test("a clock that ran ahead keeps no right one from being taken later", () => {
  const taken = createTakenBodies();
  take(taken, body(1, 1));
  taken.forgetOld(nowMs + 365 * 86_400_000);
  assert.throws(() => isTakenBy(taken, body(1, 2)), tooOld);
  assert.equal(isTakenBy(taken, body(2, 2, nowMs + minuteMs)), false);
});

test("an organization that floods is refused itself; its siblings, its parent and other parents sign in", () => {
  for (const bodyMs of [ahead, nowMs, nowMs - 3_000_000]) {
    const taken = createTakenBodies(20_000);
    const first = body(1, 1, bodyMs);
    take(taken, first);
    assert.ok(flood(taken, { bodyMs: Math.max(bodyMs, nowMs) }) >= 90);
    assert.throws(() => take(taken, body(2, 1)), tooMany);
    for (const organization of [2, 3, 100]) {
      take(taken, body(10 + organization, organization));
      take(taken, body(20 + organization, organization, nowMs - 290_000));
    }
    const other = { ...body(3, 4), namedId: id(101), organizationId: id(101) };
    take(taken, other);
    take(taken, { ...other, bodyMs: nowMs - 3_000_000 });
    // What it has taken is given to nobody else, whether it is still known or not.
    assert.throws(() => take(taken, { ...first, organizationId: id(2) }), bodyMs < nowMs ? tooOld : elsewhere);
  }
});

test("however many flood, one that holds nothing has its share, and the bound holds", () => {
  const taken = createTakenBodies(50_000);
  for (let named = 100; named < 105; named++) {
    for (let each = 1; each < 50; each++) {
      const taker = { namedId: id(named), organizationId: id(each), bodyMs: ahead };
      assert.ok(flood(taken, taker, isRoot) > 0, `organization ${each} below ${named}`);
    }
    assert.ok(flood(taken, { namedId: id(named), organizationId: id(named), bodyMs: ahead }) > 20, `${named} itself`);
  }
  assert.ok(countOf(taken) < 50_000);
});

test("a parent whose users all belong to it holds as many as ever, and leaves the other parents theirs", () => {
  const taken = createTakenBodies(40_000);
  assert.ok(flood(taken, { organizationId: id(100), bodyMs: ahead }, isRoot) > 3_500);
  for (let named = 101; named < 111; named++) {
    assert.ok(flood(taken, { namedId: id(named), organizationId: id(named), bodyMs: ahead }) > 500, `${named}`);
  }
});

test("a member who floods the parent leaves space for its root members", () => {
  const taken = createTakenBodies(1_000);
  flood(taken, { organizationId: id(100), bodyMs: ahead });
  assert.throws(() => take(taken, body(1, 100)), tooMany);
  take(taken, body(1, 100), isRoot);
});

test("who signs in steadily is never refused: minutes long past are given up, those of the last five never", () => {
  const taken = createTakenBodies(5_000);
  for (let minute = 0; minute < 60; minute++) {
    const atMs = nowMs + minute * minuteMs;
    for (let each = 0; each < 30; each++) {
      take(taken, { ...body(0, 100, atMs), fingerprint: new Uint8Array(randomBytes(32)) }, isMember, atMs);
    }
  }
  const endMs = nowMs + 59 * minuteMs;
  assert.ok(taken.floorOf(id(100)) > slotOf(nowMs));
  assert.ok(taken.floorOf(id(100)) <= slotOf(endMs - 300_000));
  assert.throws(() => take(taken, body(1, 2, nowMs), isMember, endMs), tooOld);
  take(taken, body(1, 2, endMs - 300_000), isMember, endMs);
});

test("a body whose own minute is given up to make space for it is refused", () => {
  const taken = createTakenBodies(60);
  const oldMs = nowMs - 3_000_000;
  for (let each = 0; each < 4; each++) take(taken, body(each, 100, oldMs));
  assert.throws(() => take(taken, body(9, 100, oldMs)), tooOld);
});

test("floors and notes are the same after a compaction, each below the organization that is named", () => {
  const taken = createTakenBodies(60);
  for (let each = 0; each < 8; each++) take(taken, body(each, 100, nowMs - (60 - each) * minuteMs));
  take(taken, { ...body(1, 101), namedId: id(101) });
  const again = createTakenBodies(60);
  for (const notes of taken.all()) again.add(notes);
  assert.ok(taken.floorOf(id(100)) > 0);
  assert.equal(again.floorOf(id(100)), taken.floorOf(id(100)));
  assert.equal(again.floorOf(id(101)), 0);
  assert.deepEqual([...again.all()], [...taken.all()]);
});
