import assert from "node:assert/strict";
import { test } from "node:test";
import { organization, person } from "../../test/members.ts";
import type { PendingActivity } from "../state/entities.ts";
import { approvalMs, isActive, mayApprove, mayReject, rightsOf, rootMembers } from "./votes.ts";

const nowMs = 1_750_000_000_000;
const users = ["ann", "bob", "cleo", "dave"].map((name) => person(name));
const { members } = organization({ users, rootQuorum: { threshold: 2, userIds: ["ann", "bob", "gone", "bob"] } });

function waiting(proposerId: string, ...approvals: [userId: string, agoMs: number][]): PendingActivity {
  return {
    fingerprint: "f",
    activityId: "a",
    proposerId,
    createdAtMs: nowMs,
    approvals: approvals.map(([userId, agoMs]) => ({ userId, credentialId: "key", atMs: nowMs - agoMs })),
  };
}

test("an approval is active from its own time on, for a day less a moment", () => {
  assert.equal(isActive({ atMs: nowMs }, nowMs), true);
  assert.equal(isActive({ atMs: nowMs - approvalMs + 1 }, nowMs), true);
  assert.equal(isActive({ atMs: nowMs - approvalMs }, nowMs), false);
});

test("the quorum's members are those of its list who exist, each once", () => {
  assert.deepEqual(rootMembers(members), ["ann", "bob"]);
  assert.equal(mayApprove(members, "bob"), true);
  for (const userId of ["cleo", "gone", ""]) assert.equal(mayApprove(members, userId), false);
});

test("members may reject, and a proposer its own as long as it exists", () => {
  for (const [userId, expected] of [
    ["ann", true],
    ["bob", true],
    ["cleo", true],
    ["dave", false],
    ["gone", false],
  ] as const) {
    assert.equal(mayReject(members, waiting("cleo"), userId), expected, userId);
  }
  assert.equal(mayReject(members, waiting("gone"), "gone"), false);
});

test("who has approved today cannot approve again, and can tomorrow; rejecting stays possible", () => {
  const today = waiting("ann", ["ann", 0]);
  const yesterday = waiting("ann", ["ann", approvalMs]);
  const rights = (pending: PendingActivity, userId: string) => rightsOf(members, pending, userId, nowMs);
  assert.deepEqual(rights(today, "ann"), { canApprove: false, canReject: true });
  assert.deepEqual(rights(yesterday, "ann"), { canApprove: true, canReject: true });
  assert.deepEqual(rights(today, "bob"), { canApprove: true, canReject: true });
  assert.deepEqual(rights(today, "dave"), { canApprove: false, canReject: false });
  assert.deepEqual(rights(waiting("dave", ["dave", 0]), "dave"), { canApprove: false, canReject: true });
});
