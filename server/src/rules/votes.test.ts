import assert from "node:assert/strict";
import { test } from "node:test";
import { organization, person } from "../../test/members.ts";
import { approvalMs, isActive, rootMembers } from "./votes.ts";

const nowMs = 1_750_000_000_000;
const users = ["ann", "bob", "cleo", "dave"].map((name) => person(name));
const { members } = organization({ users, rootQuorum: { threshold: 2, userIds: ["ann", "bob", "gone", "bob"] } });

test("an approval is active from its own time on, for a day less a moment", () => {
  assert.equal(isActive({ atMs: nowMs }, nowMs), true);
  assert.equal(isActive({ atMs: nowMs - approvalMs + 1 }, nowMs), true);
  assert.equal(isActive({ atMs: nowMs - approvalMs }, nowMs), false);
});

test("the quorum's members are those of its list who exist, each once", () => {
  assert.deepEqual(rootMembers(members), ["ann", "bob"]);
});
