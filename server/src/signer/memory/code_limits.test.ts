import assert from "node:assert/strict";
import { test } from "node:test";
import { createCodeAttempts } from "./code_attempts.ts";
import { type CodeStart, createCodeStarts } from "./code_starts.ts";
import { createExpiringMap } from "./expiring_map.ts";

const nowMs = 1_800_000_000_000;
const notSpent = () => false;
const id = (number: number) => {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
};
const start = (number: number, owner: number, startedAtMs = nowMs): CodeStart => ({
  otpId: id(number),
  startedAtMs,
  endsAtMs: startedAtMs + 300_000,
  ownerId: id(owner),
  subOrganizationId: undefined,
  contact: id(number),
  identifier: undefined,
});

test("starts are bounded in all and for each owner, so that none takes the places of the others", () => {
  const starts = createCodeStarts({ all: 15, perOwner: 10, perSubOrganization: 5 });
  const add = (each: CodeStart) => {
    starts.check(each, each.startedAtMs, notSpent);
    starts.add(each);
  };
  for (let each = 0; each < 10; each++) add(start(each, 1));
  assert.throws(() => add(start(10, 1)), { code: "resource_exhausted", message: /this organization has started 10/ });
  for (let each = 20; each < 25; each++) add(start(each, 2));
  assert.throws(() => add(start(25, 2)), {
    code: "resource_exhausted",
    message: /^Max number of OTPs have been initiated; too many were started/,
  });
  const laterMs = nowMs + 75 * 60_000;
  starts.forget(laterMs);
  assert.equal(starts.size, 0);
  add(start(10, 1, laterMs));
});

test("the users of one sub-organization leave places to its siblings and its parent", () => {
  const starts = createCodeStarts({ all: 100, perOwner: 20, perSubOrganization: 5 });
  const add = (number: number, child: number | undefined, startedAtMs = nowMs) => {
    const each = { ...start(number, 1, startedAtMs), subOrganizationId: child === undefined ? undefined : id(child) };
    starts.check(each, startedAtMs, notSpent);
    starts.add(each);
  };
  for (let each = 0; each < 5; each++) add(each, 7);
  assert.throws(() => add(5, 7), { code: "resource_exhausted", message: /this organization has started 5 within/ });
  for (let each = 10; each < 15; each++) add(each, 8);
  for (let each = 20; each < 30; each++) add(each, undefined);
  const restored = createCodeStarts({ all: 100, perOwner: 21, perSubOrganization: 5 });
  for (const each of starts.values()) restored.add(each);
  const next = { ...start(40, 1), subOrganizationId: id(7) };
  assert.throws(() => restored.check(next, nowMs, notSpent), { message: /this organization has started 5 within/ });
  starts.forget(nowMs + 75 * 60_000);
  add(41, 7, nowMs + 75 * 60_000);
});

test("codes with attempts are bounded: beyond it no further code is compared, and those that are noted still are", () => {
  const attempts = createCodeAttempts(3);
  const code = (number: number) => ({ otpId: id(number), startedAtMs: nowMs, endsAtMs: nowMs + 300_000 });
  const add = (number: number) => attempts.add({ ...code(number), fingerprint: id(1), isSpent: false });
  for (let each = 0; each < 3; each++) add(each);
  assert.throws(() => attempts.isNoted(code(3), id(1)), { code: "resource_exhausted" });
  assert.throws(() => attempts.isSpentBy(code(3), id(1), nowMs), { code: "resource_exhausted" });
  assert.equal(attempts.isNoted(code(0), id(1)), true);
  assert.equal(attempts.isNoted(code(0), id(2)), false);
  assert.equal(attempts.isSpentBy(code(0), id(2), nowMs), false);
  attempts.forget(nowMs + 75 * 60_000);
  assert.equal(attempts.size, 3, "another host may have started them an hour later");
  attempts.forget(nowMs + 120 * 60_000);
  assert.equal(attempts.size, 0);
  assert.equal(attempts.isNoted(code(3), id(1)), false);
});

test("an entry that was deleted and added again goes with its own end", () => {
  const map = createExpiringMap<string>();
  map.set("a", "first", 60_000);
  map.delete("a");
  map.set("a", "second", 180_000);
  assert.deepEqual(map.forget(120_000), []);
  assert.equal(map.get("a"), "second");
  assert.deepEqual(map.forget(240_000), ["second"]);
  assert.equal(map.size, 0);
});
