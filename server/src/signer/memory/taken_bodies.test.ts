import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openMemory } from "./memory.ts";
import { createTakenBodies, isTakenBy } from "./taken_bodies.ts";

const nowMs = 1_800_000_000_000;
const id = (fill: number, length = 16) => new Uint8Array(length).fill(fill);
const body = (fingerprint: number, organization: number, bodyMs = nowMs) => ({
  bodyMs,
  fingerprint: id(fingerprint, 32),
  organizationId: id(organization),
});
const elsewhere = { code: "failed_precondition" };
const tooOld = { code: "invalid_argument", message: /^request timestamp is outside the allowed window/ };

test("whoever takes a body first keeps it, over restarts and compactions", () => {
  const rootKey = new Uint8Array(randomBytes(32));
  const folder = mkdtempSync(join(tmpdir(), "keystead-memory-"));
  const open = () => openMemory(folder, rootKey, { compactBytes: 2_000 });
  let memory = open();
  memory.takeBody(body(1, 1), nowMs);
  memory.takeBody(body(1, 1), nowMs);
  assert.throws(() => memory.takeBody(body(1, 2), nowMs), elsewhere);
  for (let each = 2; each < 200; each++) memory.takeBody(body(each, 3, nowMs + each * 1_000), nowMs);
  for (let restart = 0; restart < 2; restart++) {
    memory.close();
    memory = open();
    assert.throws(() => memory.takeBody(body(1, 2), nowMs), elsewhere);
    assert.throws(() => memory.takeBody(body(150, 2, nowMs + 150_000), nowMs), elsewhere);
    memory.takeBody(body(150, 3, nowMs + 150_000), nowMs);
  }
  memory.close();
});

test("what can never be sent again is forgotten, and nothing of its time is taken any more", () => {
  const taken = createTakenBodies();
  taken.add(body(1, 1));
  taken.add(body(2, 1, nowMs + 3_600_000));
  taken.forgetOld(nowMs + 3_600_000);
  assert.equal([...taken.values()].length, 2, "it could still be sent");
  taken.forgetOld(nowMs + 2 * 3_600_000);
  assert.equal([...taken.values()].length, 1);
  assert.throws(() => isTakenBy(taken, body(1, 2)), tooOld);
  assert.equal(isTakenBy(taken, body(3, 2, nowMs + 3_600_000)), false);
});

test("a clock that ran ahead keeps no right one from being taken later", () => {
  const taken = createTakenBodies();
  taken.add(body(1, 1));
  taken.forgetOld(nowMs + 365 * 86_400_000);
  assert.throws(() => isTakenBy(taken, body(1, 2)), tooOld);
  assert.equal(isTakenBy(taken, body(2, 2, nowMs + 60_000)), false);
});

test("too many of them cost the oldest minutes, and those alone", () => {
  const taken = createTakenBodies(10);
  for (let each = 0; each < 12; each++) taken.add(body(each, 1, nowMs + each * 60_000));
  taken.forgetOld(nowMs);
  assert.equal([...taken.values()].length, 10);
  assert.throws(() => isTakenBy(taken, body(1, 2, nowMs + 60_000)), tooOld);
  assert.throws(() => isTakenBy(taken, body(5, 2, nowMs + 300_000)), elsewhere);
  const again = createTakenBodies(10);
  again.raiseFloor(taken.floor);
  for (const each of taken.values()) again.add(each);
  assert.equal(again.floor, taken.floor);
  assert.equal([...again.values()].length, 10);
});
