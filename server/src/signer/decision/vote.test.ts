/** Consensus as one organization lives it: an honest gateway, several people, and the signer's own clock. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { p256 } from "@noble/curves/nist.js";
import { createQuorum, pageOf, type Quorum } from "../../../test/quorum_rig.ts";
import { leafOf, offer, only } from "../../../test/signer_rig.ts";
import type { Prepared } from "../../frames/messages.ts";
import { approvalMs } from "../../rules/votes.ts";
import { sha256 } from "../../state/digest.ts";
import { slotOf } from "../../state/journal.ts";

const waits = "ACTIVITY_STATUS_CONSENSUS_NEEDED";
const completed = "ACTIVITY_STATUS_COMPLETED";
const rejected = "ACTIVITY_STATUS_REJECTED";
const failed = "ACTIVITY_STATUS_FAILED";

const hourMs = 3_600_000;
const hasApproved = { code: "already_exists", message: "this user has approved this activity already" };
const noVote = { code: "permission_denied", errorCode: "REQUEST_NOT_AUTHORIZED" };
const isOver = { code: "not_found", message: /^No activity found with fingerprint/ };
const isKnown = { code: "already_exists", message: "an activity with the same fingerprint already exists" };
const tooOld = { code: "invalid_argument", message: /outside the allowed window/ };

/** An activity of Ann's that waits, and its body. */
function proposed(quorum: Quorum, tagName = "wanted"): Uint8Array {
  const target = quorum.tagBody(tagName);
  assert.equal(quorum.send("ann", target).activity?.status, waits);
  return target;
}

function setQuorum(quorum: Quorum, by: readonly string[], threshold: number, members: readonly string[]): void {
  const parameters = { threshold, userIds: quorum.idsOf(...members) };
  const row = quorum.decree(by, "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", parameters);
  assert.equal(row.activity?.status, completed);
}

function deleteUser(quorum: Quorum, by: readonly string[], name: string): void {
  const row = quorum.decree(by, "ACTIVITY_TYPE_DELETE_USERS", { userIds: quorum.idsOf(name) });
  assert.equal(row.activity?.status, completed);
}

function apiKeys(): { apiKeys: object[]; privateKey: Uint8Array } {
  const privateKey = p256.utils.randomSecretKey();
  const publicKey = toHex(p256.getPublicKey(privateKey));
  return { apiKeys: [{ apiKeyName: "new", publicKey, curveType: "API_KEY_CURVE_P256" }], privateKey };
}

test("what one of two submits waits: its approval is state, its leaf says SUBMITTED, and nothing else changes", () => {
  const quorum = createQuorum();
  const { nowMs } = quorum.rig.clock;
  const target = quorum.tagBody("wanted");
  const row = quorum.send("ann", target);
  const { activity, next } = row;
  assert.equal(activity?.status, waits);
  assert.equal(activity?.isNew, true);
  assert.equal(activity?.slot, undefined, "no journal lists what is not over");
  assert.deepEqual(
    next?.pages.map(({ name }) => name),
    ["pending"],
  );
  const { userId, user } = quorum.person("ann");
  const credentialId = user.apiKeys[0]?.apiKeyId;
  assert.deepEqual(quorum.pending(), [
    {
      fingerprint: toHex(sha256(target)),
      activityId: activity?.activityId,
      proposerId: userId,
      createdAtMs: nowMs,
      approvals: [{ userId, credentialId, atMs: nowMs }],
    },
  ]);
  const { event, grounds, evidence, outcome } = leafOf(row);
  assert.deepEqual({ event, grounds }, { event: "SUBMITTED", grounds: "NONE" });
  assert.deepEqual(evidence[0]?.body, sha256(target));
  assert.deepEqual(outcome, sha256(""));
});

test("an approval that completes the quorum runs the activity; its leaf carries the approver's stamp", () => {
  const quorum = createQuorum();
  const target = proposed(quorum);
  const submittedAtMs = quorum.rig.clock.nowMs;
  quorum.rig.clock.nowMs += 60_000;
  const vote = quorum.voteBody("approve", target);
  const row = quorum.send("bob", vote, { target });
  const [submission] = quorum.committed;
  const { activity } = row;
  assert.equal(activity?.status, completed);
  assert.equal(activity?.isNew, false);
  assert.equal(activity?.activityId, submission?.activity?.activityId);
  assert.equal(activity?.createdAtMs, submittedAtMs);
  assert.equal(activity?.updatedAtMs, quorum.rig.clock.nowMs);
  assert.deepEqual(activity?.fingerprint, sha256(target));
  assert.equal(JSON.parse(activity?.user ?? "").userId, quorum.person("bob").userId);
  assert.equal(quorum.tags().length, 1);
  assert.deepEqual(quorum.pending(), []);
  const { event, grounds, fingerprint, evidence } = leafOf(row);
  assert.deepEqual({ event, grounds }, { event: "COMPLETED", grounds: "ROOT_QUORUM" });
  assert.deepEqual(fingerprint, sha256(target));
  assert.deepEqual(evidence[0]?.body, sha256(vote));
});

test("the waiting body stamped by another is an approval", () => {
  const quorum = createQuorum({ threshold: 3 });
  const target = proposed(quorum);
  const first = quorum.send("bob", target);
  assert.equal(first.activity?.status, waits);
  assert.equal(leafOf(first).event, "VOTED");
  assert.deepEqual(leafOf(first).evidence[0]?.body, sha256(target));
  assert.equal(quorum.send("cleo", target).activity?.status, completed);
});

test("a fingerprint in upper case names the same activity", () => {
  const quorum = createQuorum();
  const target = proposed(quorum);
  const fingerprint = `sha256:${toHex(sha256(target)).toUpperCase()}`;
  const vote = quorum.body("ACTIVITY_TYPE_APPROVE_ACTIVITY", { fingerprint });
  assert.equal(quorum.send("bob", vote, { target }).activity?.status, completed);
});

for (const [who, why] of [
  ["bob", "a member of the quorum"],
  ["ann", "its proposer"],
] as const) {
  test(`a rejection by ${why} is final: no vote and no repetition brings the activity back`, () => {
    const quorum = createQuorum();
    const target = proposed(quorum);
    const row = quorum.reject(who, target);
    assert.equal(row.activity?.status, rejected);
    assert.equal(row.activity?.failure, undefined);
    assert.deepEqual(
      { event: leafOf(row).event, grounds: leafOf(row).grounds },
      { event: "REJECTED", grounds: "NONE" },
    );
    assert.deepEqual(quorum.pending(), []);
    for (const name of ["ann", "bob", "cleo"]) {
      assert.throws(() => quorum.approve(name, target), isOver);
      assert.throws(() => quorum.reject(name, target), isOver);
      assert.throws(() => quorum.send(name, target), isKnown);
    }
    assert.equal(quorum.tags().length, 0);
  });
}

test("a proposer may take its own back after it has left the quorum, and not after it was deleted", () => {
  const quorum = createQuorum();
  const [first, second] = [proposed(quorum, "first"), proposed(quorum, "second")];
  setQuorum(quorum, ["bob", "cleo"], 2, ["bob", "cleo"]);
  assert.throws(() => quorum.approve("ann", first), noVote);
  assert.equal(quorum.reject("ann", first).activity?.status, rejected);
  deleteUser(quorum, ["bob", "cleo"], "ann");
  assert.throws(() => quorum.reject("ann", second), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
});

test("a user has one vote, however it is given and with whichever of its keys", () => {
  const quorum = createQuorum({ threshold: 3 });
  const target = proposed(quorum);
  quorum.approve("bob", target);
  const { apiKeys: added, privateKey } = apiKeys();
  quorum.submit("bob", "ACTIVITY_TYPE_CREATE_API_KEYS_V2", { userId: quorum.person("bob").userId, apiKeys: added });
  const version = quorum.state.version;
  for (const name of ["ann", "bob"]) {
    assert.throws(() => quorum.approve(name, target), hasApproved);
    assert.throws(() => quorum.send(name, target), hasApproved);
  }
  quorum.person("bob").privateKey = privateKey;
  assert.throws(() => quorum.approve("bob", target), hasApproved);
  assert.throws(() => quorum.send("bob", target), hasApproved);
  assert.equal(quorum.state.version, version);
  assert.equal(quorum.approve("cleo", target).activity?.status, completed);
});

test("who is not in the quorum has no vote, neither way", () => {
  const quorum = createQuorum();
  const target = proposed(quorum);
  assert.throws(() => quorum.approve("dave", target), noVote);
  assert.throws(() => quorum.send("dave", target), noVote);
  assert.throws(() => quorum.reject("dave", target), noVote);
  assert.equal(quorum.pending()[0]?.approvals.length, 1);
});

test("a deleted user neither votes nor counts: an approval it left behind helps nobody", () => {
  const quorum = createQuorum({ members: ["ann", "bob", "cleo", "dave"], others: [], threshold: 3 });
  const target = proposed(quorum);
  quorum.approve("bob", target);
  setQuorum(quorum, ["ann", "cleo", "dave"], 3, ["ann", "cleo", "dave"]);
  deleteUser(quorum, ["ann", "cleo", "dave"], "bob");
  assert.equal(quorum.pending()[0]?.approvals.length, 2);
  assert.throws(() => quorum.approve("bob", target), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
  assert.throws(() => quorum.send("bob", target), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
  assert.equal(quorum.approve("cleo", target).activity?.status, waits, "ann and cleo are two of three");
  assert.equal(quorum.approve("dave", target).activity?.status, completed);
});

test("an approval counts for 24 hours from its own time, to the millisecond", () => {
  for (const [agoMs, status] of [
    [approvalMs - 1, completed],
    [approvalMs, waits],
  ] as const) {
    const quorum = createQuorum();
    const target = proposed(quorum);
    quorum.rig.clock.nowMs += agoMs;
    assert.equal(quorum.approve("bob", target).activity?.status, status);
  }
});

test("stamping the body again never renews an approval that is over; approve_activity with its own fresh time does", () => {
  const quorum = createQuorum();
  const target = proposed(quorum);
  quorum.rig.clock.nowMs += approvalMs;
  assert.equal(quorum.approve("bob", target).activity?.status, waits);
  assert.throws(() => quorum.send("ann", target), hasApproved);
  assert.equal(quorum.approve("ann", target).activity?.status, completed);
});

test("a stamp over the body counts only on the day of the submission, however long it was kept back", () => {
  for (const [agoMs, expected] of [
    [approvalMs - 1, undefined],
    [approvalMs, { code: "failed_precondition", message: /approve it with approve_activity/ }],
  ] as const) {
    const quorum = createQuorum({ threshold: 3 });
    const target = proposed(quorum);
    quorum.rig.clock.nowMs += agoMs;
    if (expected === undefined) assert.equal(quorum.send("bob", target).activity?.status, waits);
    else assert.throws(() => quorum.send("bob", target), expected);
  }
});

test("a renewed approval takes the place of the old one: nobody is listed twice", () => {
  const quorum = createQuorum({ threshold: 3 });
  const target = proposed(quorum);
  for (let day = 0; day < 3; day++) {
    quorum.rig.clock.nowMs += approvalMs;
    assert.equal(quorum.approve("ann", target).activity?.status, waits);
    assert.equal(quorum.approve("bob", target).activity?.status, waits);
  }
  const approvals = quorum.pending()[0]?.approvals.map(({ userId, atMs }) => ({ userId, atMs }));
  const [ann, bob] = quorum.idsOf("ann", "bob");
  const atMs = quorum.rig.clock.nowMs;
  assert.deepEqual(approvals, [
    { userId: ann, atMs },
    { userId: bob, atMs },
  ]);
});

test("a vote's own body must be of this hour", () => {
  const quorum = createQuorum();
  const target = proposed(quorum);
  const votes = (["approve", "reject"] as const).map((vote) => quorum.voteBody(vote, target));
  quorum.rig.clock.nowMs += hourMs + 1_000;
  for (const vote of votes) assert.throws(() => quorum.send("bob", vote, { target }), tooOld);
});

test("a lowered threshold executes nothing by itself, nor does an approval that is repeated; the next one does", () => {
  const quorum = createQuorum({ threshold: 3 });
  const target = proposed(quorum);
  quorum.approve("bob", target);
  setQuorum(quorum, ["ann", "bob", "cleo"], 1, ["ann", "bob", "cleo"]);
  assert.throws(() => quorum.approve("bob", target), hasApproved);
  assert.throws(() => quorum.send("ann", target), hasApproved);
  assert.equal(quorum.tags().length, 0);
  assert.equal(quorum.approve("cleo", target).activity?.status, completed);
});

test("a raised threshold is what the next approval meets", () => {
  const quorum = createQuorum();
  const target = proposed(quorum);
  setQuorum(quorum, ["bob", "cleo"], 3, ["ann", "bob", "cleo"]);
  assert.equal(quorum.approve("bob", target).activity?.status, waits);
  assert.equal(quorum.approve("cleo", target).activity?.status, completed);
});

test("who joins the quorum may approve what waits; who left it does not count, and counts again when it is back", () => {
  const quorum = createQuorum({ threshold: 3 });
  const [first, second] = [proposed(quorum, "first"), proposed(quorum, "second")];
  for (const target of [first, second]) quorum.approve("bob", target);
  setQuorum(quorum, ["ann", "bob", "cleo"], 3, ["ann", "cleo", "dave"]);
  assert.equal(quorum.approve("cleo", first).activity?.status, waits, "bob's approval does not count now");
  assert.equal(quorum.approve("dave", first).activity?.status, completed);
  setQuorum(quorum, ["ann", "cleo", "dave"], 3, ["ann", "bob", "dave"]);
  assert.equal(quorum.approve("dave", second).activity?.status, completed, "bob gave his within the day");
});

for (const [what, isDeleted] of [
  ["removed from the quorum", false],
  ["deleted", true],
] as const) {
  test(`the proposer was ${what}: an approval that completes the quorum runs it, one that does not leaves it waiting`, () => {
    const quorum = createQuorum({ members: ["ann", "bob", "cleo", "eve"] });
    const [first, second] = [proposed(quorum, "first"), proposed(quorum, "second")];
    setQuorum(quorum, ["ann", "bob"], 3, ["ann", "bob", "cleo", "eve"]);
    assert.equal(quorum.approve("bob", first).activity?.status, waits);
    setQuorum(quorum, ["bob", "cleo", "eve"], 2, ["bob", "cleo", "eve"]);
    if (isDeleted) deleteUser(quorum, ["bob", "cleo"], "ann");
    assert.equal(quorum.approve("cleo", first).activity?.status, completed);
    const row = quorum.approve("bob", second);
    assert.equal(row.activity?.status, waits);
    assert.equal(leafOf(row).event, "VOTED");
    assert.equal(quorum.approve("cleo", second).activity?.status, completed);
    assert.deepEqual(quorum.pending(), []);
  });
}

test("an approval outlives the key it was given with: a vote is verified once, against the state of its moment", () => {
  const quorum = createQuorum({ threshold: 3 });
  const target = proposed(quorum);
  quorum.approve("bob", target);
  const { userId, user } = quorum.person("bob");
  quorum.submit("bob", "ACTIVITY_TYPE_CREATE_API_KEYS_V2", { userId, apiKeys: apiKeys().apiKeys });
  const apiKeyIds = user.apiKeys.map(({ apiKeyId }) => apiKeyId);
  const deleted = quorum.submit("bob", "ACTIVITY_TYPE_DELETE_API_KEYS", { userId, apiKeyIds });
  assert.equal(deleted.activity?.status, completed);
  assert.throws(() => quorum.approve("bob", target), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
  assert.equal(quorum.approve("cleo", target).activity?.status, completed);
});

test("what fails when an approval runs it is stored as FAILED, stops waiting and does not come again", () => {
  const quorum = createQuorum();
  const target = proposed(quorum, "wanted");
  quorum.decree(["ann", "bob"], "ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: "WANTED", userIds: [] });
  const row = quorum.approve("bob", target);
  assert.equal(row.activity?.status, failed);
  assert.match(row.activity?.failure ?? "", /user tag label must be unique/);
  assert.deepEqual(
    row.next?.pages.map(({ name }) => name),
    ["pending"],
    "nothing but the end of its waiting is left behind",
  );
  assert.equal(leafOf(row).event, "FAILED");
  assert.deepEqual(leafOf(row).outcome, sha256(row.activity?.failure ?? ""));
  assert.deepEqual(quorum.pending(), []);
  assert.throws(() => quorum.send("ann", target), isKnown);
  assert.throws(() => quorum.approve("cleo", target), isOver);
});

test("a body far older than the liveness window is completed by votes, once", () => {
  for (const laterMs of [2 * hourMs, 3 * 24 * hourMs]) {
    const quorum = createQuorum();
    const target = proposed(quorum);
    quorum.rig.clock.nowMs += laterMs;
    let status = quorum.approve("bob", target).activity?.status;
    if (status === waits) status = quorum.approve("cleo", target).activity?.status;
    assert.equal(status, completed);
    assert.equal(quorum.committed.at(-1)?.activity?.slot, undefined, "its journal is gone");
    for (const name of ["ann", "bob", "cleo"]) assert.throws(() => quorum.send(name, target), tooOld);
    assert.equal(quorum.tags().length, 1);
  }
});

test("a clock that ran ahead while votes completed an activity, and was set right, does not make its body new", () => {
  const endings: ((quorum: Quorum, target: Uint8Array) => Prepared)[] = [
    (quorum, target) => quorum.prepare("bob", quorum.voteBody("approve", target), { target })[0] as Prepared,
    (quorum, target) => quorum.prepare("bob", quorum.voteBody("reject", target), { target })[0] as Prepared,
  ];
  for (const ending of endings) {
    const quorum = createQuorum();
    const target = proposed(quorum);
    quorum.rig.clock.nowMs += 70 * 60_000;
    quorum.commit([ending(quorum, target)]);
    quorum.rig.clock.nowMs -= 70 * 60_000;
    // Not released under the clock that ran ahead, so nothing but the state itself remembers that time.
    const sendAgain = () => {
      for (const name of ["ann", "bob", "cleo"]) assert.throws(() => quorum.prepare(name, target), tooOld);
    };
    sendAgain();
    // Nor does what ends under the right clock bring that time back.
    quorum.rig.clock.nowMs += 6 * 60_000;
    quorum.decree(["ann", "bob"], "ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: "later", userIds: [] });
    sendAgain();
  }
});

test("votes complete an activity of a minute whose journal the signer has not at hand; the journal stays whole", () => {
  const quorum = createQuorum();
  const target = proposed(quorum);
  const other = proposed(quorum, "other");
  quorum.approve("bob", other);
  quorum.restart();
  assert.equal(quorum.approve("bob", target).activity?.status, completed);
  const slot = slotOf(quorum.rig.clock.nowMs);
  const next = quorum.tagBody("next");
  const stamped = offer(quorum.rig, quorum.state, next, { stamp: quorum.stamp("ann", next) });
  assert.deepEqual(stamped, {
    kind: "again",
    value: [{ kind: "journal", value: { slot } }],
  });
  assert.equal(quorum.send("ann", next).activity?.status, waits);
  assert.throws(() => quorum.send("ann", target), isKnown);
});

test("one's own credentials need no quorum; somebody else's do", () => {
  const quorum = createQuorum();
  const type = "ACTIVITY_TYPE_CREATE_API_KEYS_V2";
  for (const name of ["ann", "dave"]) {
    const row = quorum.submit(name, type, { userId: quorum.person(name).userId, ...apiKeysOnly() });
    assert.equal(row.activity?.status, completed);
    assert.equal(leafOf(row).grounds, "OWN_CREDENTIAL");
  }
  const forBob = quorum.submit("ann", type, { userId: quorum.person("bob").userId, ...apiKeysOnly() });
  assert.equal(forBob.activity?.status, waits);
  const byDave = quorum.submit("dave", type, { userId: quorum.person("ann").userId, ...apiKeysOnly() });
  assert.equal(byDave.activity?.status, rejected);
  assert.equal(byDave.next, undefined);
  // Another spelling of one's own id is not one's own.
  const shouted = quorum.submit("dave", type, { userId: quorum.person("dave").userId.toUpperCase(), ...apiKeysOnly() });
  assert.equal(shouted.activity?.status, rejected);
});

function apiKeysOnly(): { apiKeys: object[] } {
  return { apiKeys: apiKeys().apiKeys };
}

test("what only the root quorum may do waits for it, and nobody else may ask", () => {
  const quorum = createQuorum();
  const acts: [type: string, parameters: unknown][] = [
    ["ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", { threshold: 1, userIds: quorum.idsOf("ann") }],
    ["ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", { name: "FEATURE_NAME_EMAIL_AUTH" }],
    ["ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE", { name: "FEATURE_NAME_EMAIL_AUTH" }],
    ["ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME", { organizationName: "Renamed" }],
  ];
  for (const [type, parameters] of acts) {
    assert.equal(quorum.submit("dave", type, parameters).activity?.status, rejected);
    const target = quorum.body(type, parameters);
    assert.equal(quorum.send("ann", target).activity?.status, waits);
    const row = quorum.approve("bob", target);
    assert.equal(row.activity?.status, completed);
    assert.equal(leafOf(row).grounds, "ROOT_QUORUM");
    setQuorum(quorum, ["ann", "bob"], 2, ["ann", "bob", "cleo"]);
  }
});

test("what may wait is limited; at the limit votes go on, and what is over makes room", () => {
  const quorum = createQuorum({ limits: { pendingActivitiesPerRootUser: 2 } });
  const [first] = [proposed(quorum, "first"), proposed(quorum, "second")];
  const third = quorum.tagBody("third");
  const limit = { code: "resource_exhausted", message: /limit of 2 activities that wait for consensus/ };
  assert.throws(() => quorum.send("ann", third), limit);
  assert.equal(quorum.reject("cleo", first).activity?.status, rejected);
  assert.equal(quorum.send("ann", third).activity?.status, waits);
});

test("a waiting submission, every vote and every end has a leaf of its own, in one unbroken line of states", () => {
  const quorum = createQuorum({ threshold: 3 });
  const [first, second] = [proposed(quorum, "first"), proposed(quorum, "second")];
  quorum.approve("bob", first);
  quorum.send("cleo", first);
  quorum.approve("bob", second);
  quorum.reject("ann", second);
  quorum.submit("dave", "ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: "no", userIds: [] });
  const leaves = quorum.committed.map(leafOf);
  assert.deepEqual(
    leaves.map(({ event, states }) => [event, states[0]?.version]),
    [
      ["SUBMITTED", 1],
      ["SUBMITTED", 2],
      ["VOTED", 3],
      ["COMPLETED", 4],
      ["VOTED", 5],
      ["REJECTED", 6],
      ["REJECTED", 7],
    ],
  );
  assert.equal(new Set(leaves.map(({ number }) => number)).size, leaves.length);
  assert.ok(leaves.slice(0, -1).every(({ header }) => header !== undefined));
  assert.equal(leaves.at(-1)?.header, undefined, "a refusal at submission changes no state");
});

test("nothing runs in a deleted organization: neither what is new, nor what waited, nor a vote", () => {
  const quorum = createQuorum({ parentId: randomUUID() });
  const target = proposed(quorum);
  const deletion = quorum.body("ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION", {});
  assert.equal(quorum.send("ann", deletion).activity?.status, waits);
  assert.equal(quorum.approve("bob", deletion).activity?.status, completed);
  assert.equal(pageOf(quorum.state, "settings").deleted, true);
  const gone = { code: "not_found", errorCode: "ORGANIZATION_NOT_FOUND" };
  for (const name of ["ann", "bob", "cleo", "dave"]) {
    assert.throws(() => quorum.send(name, quorum.tagBody("new")), gone);
    assert.throws(() => quorum.send(name, target), gone);
    assert.throws(() => quorum.approve(name, target), gone);
    assert.throws(() => quorum.reject(name, target), gone);
    assert.throws(() => quorum.send(name, deletion), gone);
  }
  // A request that follows on what the signer has at hand fares no better.
  const follower = quorum.tagBody("follower");
  assert.throws(() => offer(quorum.rig, undefined, follower, { stamp: quorum.stamp("ann", follower) }), gone);
});

test("a vote needs the body it votes on, and a vote on a vote there is not", () => {
  const quorum = createQuorum();
  const target = proposed(quorum);
  const vote = quorum.voteBody("approve", target);
  const unproven = { code: "aborted", message: /body of the activity that is voted on is missing/ };
  assert.throws(() => quorum.send("bob", vote), unproven);
  assert.throws(() => quorum.send("bob", vote, { target: quorum.tagBody("another") }), unproven);
  assert.throws(() => quorum.approve("cleo", vote), isOver);
  assert.equal(only(quorum.prepare("bob", vote, { target })).activity?.status, completed);
});
