/** Whatever others fill, the root quorum can act: neither users who flood, nor a hostile member, nor full pages keep it from that. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { createQuorum, pagesLengthOf, type Quorum } from "../../test/quorum_rig.ts";
import { approvalBytes, othersBytes, proposalBytes, quorumBytes } from "../rules/pending_limits.ts";
import { approvalMs } from "../rules/votes.ts";
import type { PendingActivity } from "../state/entities.ts";
import { checkJournalLimit, maxJournalEntries } from "../state/journal.ts";
import { encodePage, maxPagesLength } from "../state/pages.ts";

const waits = "ACTIVITY_STATUS_CONSENSUS_NEEDED";
const completed = "ACTIVITY_STATUS_COMPLETED";
const exhausted = "resource_exhausted";

const two = { members: ["ann", "bob"], others: ["dave", "erin"], threshold: 2 };

/** Anybody may propose a tag, and has it when three have approved it, Ann among them. */
function letThemPropose(quorum: Quorum): void {
  const parameters = {
    policyName: "Propose",
    effect: "EFFECT_ALLOW",
    consensus: `approvers.any(user, user.id == '${quorum.idsOf("ann")[0]}') && approvers.count() >= 3`,
    condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'",
    notes: "",
  };
  assert.equal(quorum.decree(["ann", "bob"], "ACTIVITY_TYPE_CREATE_POLICY_V3", parameters).activity?.status, completed);
}

/** Proposes until it is refused; returns the bodies that wait, and why there are no more. */
function flood(quorum: Quorum, name: string, most: number): { bodies: Uint8Array[]; refusal: string } {
  const bodies: Uint8Array[] = [];
  while (bodies.length < most) {
    const body = quorum.tagBody(`${name} ${bodies.length}`);
    try {
      assert.equal(quorum.send(name, body).activity?.status, waits);
    } catch (error) {
      assert.equal((error as { code: string }).code, exhausted);
      return { bodies, refusal: (error as Error).message };
    }
    bodies.push(body);
  }
  return { bodies, refusal: "" };
}

function isRefused(send: () => unknown, expected: { code: string; message: RegExp }): boolean {
  try {
    send();
    return false;
  } catch (error) {
    assert.throws(() => {
      throw error;
    }, expected);
    return true;
  }
}

/** Both acts that a quorum must always be capable of, each with its first try. */
function assertQuorumActs(quorum: Quorum, by: readonly string[], gone: string, members: readonly string[]): void {
  const deletion = quorum.decree(by, "ACTIVITY_TYPE_DELETE_USERS", { userIds: quorum.idsOf(gone) });
  assert.equal(deletion.activity?.status, completed, deletion.activity?.failure ?? "");
  assert.ok(!quorum.members().users.has(quorum.person(gone).userId));
  const parameters = { threshold: 2, userIds: quorum.idsOf(...members) };
  const update = quorum.decree(by, "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", parameters);
  assert.equal(update.activity?.status, completed, update.activity?.failure ?? "");
}

/** No credential has a longer one. */
const longestType = "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256";

/** An activity that waits, as a page keeps it. */
function waiting(proposerId: string, voterIds: readonly string[], atMs: number): PendingActivity {
  return {
    fingerprint: toHex(randomBytes(32)),
    activityId: randomUUID(),
    proposerId,
    createdAtMs: atMs,
    approvals: voterIds.map((userId) => ({ userId, credentialId: randomUUID(), credentialType: longestType, atMs })),
  };
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

test("a user who may only propose fills its places, and a quorum of two removes it at its first try", () => {
  const limits = { pendingActivitiesPerUser: 5, pendingActivitiesPerOrganization: 8 };
  const quorum = createQuorum({ ...two, limits });
  letThemPropose(quorum);
  const first = flood(quorum, "dave", 20);
  assert.equal(first.bodies.length, 5);
  assert.match(
    first.refusal,
    /^user has reached its limit of 5 activities that wait for consensus: reject one of its own/,
  );
  const second = flood(quorum, "erin", 20);
  assert.equal(second.bodies.length, 3);
  assert.match(
    second.refusal,
    /^organization has reached its limit of 8 activities that wait for consensus, those of its root/,
  );
  assertQuorumActs(quorum, ["ann", "bob"], "dave", ["bob", "ann"]);
  // The places of who was deleted are taken until somebody ends what waits there; whoever may approve it may.
  assert.match(flood(quorum, "erin", 1).refusal, /limit of 8/);
  quorum.reject("bob", first.bodies[0] as Uint8Array);
  assert.equal(flood(quorum, "erin", 20).bodies.length, 1);
});

test("who has no place left makes one by rejecting a proposal of its own", () => {
  const quorum = createQuorum({ ...two, limits: { pendingActivitiesPerUser: 2, pendingActivitiesPerRootUser: 2 } });
  letThemPropose(quorum);
  for (const name of ["dave", "ann"]) {
    const { bodies } = flood(quorum, name, 20);
    assert.equal(bodies.length, 2);
    quorum.reject(name, bodies[1] as Uint8Array);
    assert.equal(flood(quorum, name, 20).bodies.length, 1);
  }
});

test("a hostile member of the quorum takes its own places only: the others remove it", () => {
  const three = { members: ["ann", "bob", "mallory"], others: ["dave"], threshold: 2 };
  const quorum = createQuorum({ ...three, limits: { pendingActivitiesPerRootUser: 4, pendingActivitiesPerUser: 1 } });
  assert.equal(flood(quorum, "mallory", 20).bodies.length, 4);
  const update = { threshold: 2, userIds: quorum.idsOf("ann", "bob") };
  const row = quorum.decree(["ann", "bob"], "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", update);
  assert.equal(row.activity?.status, completed);
  assertQuorumActs(quorum, ["bob", "ann"], "mallory", ["ann", "bob"]);
});

test("a stale page from before there were such limits stops other users, and not the quorum", () => {
  const pending = (idsOf: Quorum["idsOf"], nowMs: number) =>
    times(1_000, () => waiting(idsOf("dave")[0] ?? "", idsOf("dave", "erin"), nowMs - 2 * approvalMs));
  const quorum = createQuorum({ ...two, pending });
  letThemPropose(quorum);
  assert.match(flood(quorum, "dave", 1).refusal, /limit of 200/);
  assert.match(flood(quorum, "erin", 1).refusal, /limit of 1000/);
  assert.equal(flood(quorum, "ann", 50).bodies.length, 50);
  assertQuorumActs(quorum, ["ann", "bob"], "dave", ["ann", "bob"]);
  assert.equal(quorum.pending().length, 1_050, "nothing that waits was ended by that");
});

test("votes of others fill what others may, and none of what the quorum may", () => {
  const pending = (_: Quorum["idsOf"], nowMs: number) => {
    const crowd = times(40, () => randomUUID());
    const cost = proposalBytes + 40 * approvalBytes;
    return times(Math.floor(othersBytes / cost), (index) => waiting(crowd[index % 40] ?? "", crowd, nowMs));
  };
  const quorum = createQuorum({ ...two, threshold: 2, pending });
  letThemPropose(quorum);
  const body = quorum.tagBody("wanted");
  assert.equal(quorum.send("ann", body).activity?.status, waits);
  const full = {
    code: exhausted,
    message: /^organization has reached its limit of 524288 bytes of waiting activities and/,
  };
  // The little that is left goes first to proposals, then to votes on them.
  const { bodies, refusal } = flood(quorum, "dave", 100);
  assert.match(refusal, full.message);
  const left = bodies.findIndex((each) => isRefused(() => quorum.approve("erin", each), full));
  assert.ok(left >= 0 && left < 3, `${left} votes were left`);
  assert.throws(() => quorum.approve("erin", body), full);
  assertQuorumActs(quorum, ["ann", "bob"], "dave", ["ann", "bob"]);
});

test("a vote that completes is never refused for want of room; one that does not may be", () => {
  const share = Math.floor(quorumBytes / 3);
  const pending = (idsOf: Quorum["idsOf"], nowMs: number) =>
    times(Math.floor(share / approvalBytes), () => waiting(idsOf("dave")[0] ?? "", idsOf("bob"), nowMs));
  const quorum = createQuorum({ threshold: 3, pending });
  const body = quorum.tagBody("wanted");
  assert.equal(quorum.send("ann", body).activity?.status, waits);
  const full = { code: exhausted, message: new RegExp(`^user has reached its limit of ${share} bytes of waiting`) };
  assert.throws(() => quorum.approve("bob", body), full);
  assert.throws(() => quorum.send("bob", quorum.tagBody("own")), full);
  assert.equal(quorum.approve("cleo", body).activity?.status, waits);
  assert.equal(quorum.approve("bob", body).activity?.status, completed);
});

for (const isProven of [true, false]) {
  const whose = isProven ? "proven keys" : "keys that their first act would mark";
  test(`pages without any room left stop neither a proposal of the quorum, nor its approvals, nor what it does, by ${whose}`, () => {
    const quorum = createQuorum({ ...two, others: ["dave", "erin", "finn"], pagesLength: maxPagesLength, isProven });
    assert.equal(pagesLengthOf(quorum.state), maxPagesLength);
    // A new member makes the quorum longer: it may.
    const update = { threshold: 2, userIds: quorum.idsOf("ann", "bob", "erin", "finn") };
    const row = quorum.decree(["ann", "bob"], "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", update);
    assert.equal(row.activity?.status, completed, row.activity?.failure ?? "");
    assert.ok(pagesLengthOf(quorum.state) > maxPagesLength);
    const tag = quorum.decree(["ann", "bob"], "ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: "more", userIds: [] });
    assert.match(
      tag.activity?.failure ?? "",
      /reached its limit of 4194304 bytes of users, credentials, tags and policies/,
    );
    assertQuorumActs(quorum, ["erin", "finn"], "dave", ["erin", "finn"]);
  });
}

test("an operator who leaves the quorum no place leaves each member one", () => {
  const limits = { pendingActivitiesPerRootUser: 0, pendingActivitiesPerUser: 0, pendingActivitiesPerOrganization: 0 };
  const quorum = createQuorum({ ...two, limits });
  letThemPropose(quorum);
  assert.match(flood(quorum, "dave", 1).refusal, /limit of 0/);
  assertQuorumActs(quorum, ["ann", "bob"], "dave", ["ann", "bob"]);
});

test("what was charged for is never less than what the page has", () => {
  const nowMs = 9_999_999_999_999;
  const all = times(50, (index) =>
    waiting(
      randomUUID(),
      times(index, () => randomUUID()),
      nowMs,
    ),
  );
  const charged = all.reduce((sum, { approvals }) => sum + proposalBytes + approvals.length * approvalBytes, 0);
  const page = encodePage("pending", new Map(all.map((each) => [each.fingerprint, each])));
  assert.ok(page.length < charged, `${page.length} bytes, ${charged} charged`);
});

test("a minute that other users have filled has entries left for members of the quorum", () => {
  const check = (count: number, isMember: boolean) =>
    checkJournalLimit({ slot: 1, count, digest: new Uint8Array(32) }, () => isMember);
  const full = { code: exhausted, message: /have a timestampMs in this minute/ };
  check(maxJournalEntries - 10_001, false);
  assert.throws(() => check(maxJournalEntries - 10_000, false), full);
  check(maxJournalEntries - 1, true);
  assert.throws(() => check(maxJournalEntries, true), full);
});
