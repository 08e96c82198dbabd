/**
 * A database is restored and accepted. Whoever kept stamped bodies and approvals of what was lost must not have them executed once
 * more: the memory takes nothing that is older than the acceptance.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createQuorum, pageOf, type Quorum } from "../../../test/quorum_rig.ts";
import { listLog, type StoredState, signerUnder } from "../../../test/signer_rig.ts";

/** The operator accepts this state; the signer starts anew a moment later. */
function accept({ rig }: Quorum, { header }: StoredState, afterMs = 2_000): void {
  signerUnder(rig, { acceptDatabase: true }).accept({ headers: [rig.born.header, header], last: true });
  rig.clock.nowMs += afterMs;
}

const outOfTime = { code: "invalid_argument", errorCode: "REQUEST_INVALID", message: /the database was restored/ };
const waits = "ACTIVITY_STATUS_CONSENSUS_NEEDED";

test("a body that was executed in what was lost is refused, and one that is stamped anew is taken", () => {
  const quorum = createQuorum({ threshold: 1 });
  quorum.send("ann", quorum.tagBody("before the backup"));
  const backup = quorum.state;
  const lost = quorum.tagBody("paid");
  quorum.send("ann", lost);
  accept(quorum, backup, 61_000);
  quorum.restart();
  assert.throws(() => quorum.prepare("ann", lost, { state: backup }), outOfTime);
  const [anew] = quorum.prepare("ann", quorum.tagBody("paid"), { state: backup });
  assert.equal(anew?.activity?.status, "ACTIVITY_STATUS_COMPLETED");
});

test("a body from before that was never executed is refused too: nobody can tell", () => {
  const quorum = createQuorum({ threshold: 1 });
  quorum.send("ann", quorum.tagBody("first"));
  const late = quorum.tagBody("on its way");
  accept(quorum, quorum.state);
  quorum.restart();
  assert.throws(() => quorum.prepare("ann", late), outOfTime);
});

test("a body dated ahead of the clock, up to its five minutes, is no newer for that", () => {
  const quorum = createQuorum({ threshold: 1 });
  quorum.send("ann", quorum.tagBody("first"));
  const backup = quorum.state;
  const timestampMs = String(quorum.rig.clock.nowMs + 290_000);
  const ahead = quorum.body("ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: "ahead", userIds: [] }, { timestampMs });
  quorum.send("ann", ahead);
  accept(quorum, backup);
  quorum.restart();
  assert.throws(() => quorum.prepare("ann", ahead, { state: backup }), {
    code: "unavailable",
    message: /restored a moment ago: nothing is accepted before .*; try again then/,
  });
  quorum.rig.clock.nowMs += 300_000;
  assert.throws(() => quorum.prepare("ann", ahead, { state: backup }), outOfTime);
});

test("a body dated ahead that changes nothing does not move the line", () => {
  const quorum = createQuorum({ threshold: 1 });
  quorum.send("ann", quorum.tagBody("first"));
  const timestampMs = String(quorum.rig.clock.nowMs + 290_000);
  const tag = { userTagName: "ahead", userIds: [] };
  const refused = quorum.prepare("dave", quorum.body("ACTIVITY_TYPE_CREATE_USER_TAG", tag, { timestampMs }));
  assert.equal(refused[0]?.activity?.status, "ACTIVITY_STATUS_REJECTED");
  accept(quorum, quorum.state, 61_000);
  quorum.restart();
  const [anew] = quorum.prepare("ann", quorum.tagBody("second"));
  assert.equal(anew?.activity?.status, "ACTIVITY_STATUS_COMPLETED");
});

test("approvals that were given in what was lost do not execute again, in whatever form they were kept", () => {
  const quorum = createQuorum({ threshold: 2 });
  const target = quorum.tagBody("payment");
  quorum.send("ann", target);
  const backup = quorum.state;
  const kept = quorum.voteBody("approve", target);
  assert.equal(quorum.send("bob", kept, { target }).activity?.status, "ACTIVITY_STATUS_COMPLETED");
  accept(quorum, backup);
  quorum.restart();
  assert.throws(() => quorum.prepare("bob", kept, { target, state: backup }), outOfTime);
  // A stamp over the waiting body has no time of its own.
  assert.throws(() => quorum.prepare("bob", target, { state: backup }), {
    code: "failed_precondition",
    message: "this activity was submitted before a database was restored: approve it with approve_activity",
  });
});

test("approvals that the restored page still lists do not count, and can be given anew", () => {
  const quorum = createQuorum({ threshold: 2 });
  const target = quorum.tagBody("payment");
  quorum.send("ann", target);
  accept(quorum, quorum.state);
  quorum.restart();
  listLog(quorum.rig, quorum.rig.born);
  const bobs = quorum.send("bob", quorum.voteBody("approve", target), { target });
  assert.equal(bobs.activity?.status, waits, "bob alone is not enough");
  assert.equal(pageOf(quorum.state, "pending").size, 1);
  const anns = quorum.send("ann", quorum.voteBody("approve", target), { target });
  assert.equal(anns.activity?.status, "ACTIVITY_STATUS_COMPLETED");
});

test("the memory keeps the line over a restart, and it never falls", () => {
  const quorum = createQuorum({ threshold: 1 });
  accept(quorum, quorum.state);
  quorum.restart();
  const { memory } = quorum.rig;
  const line = memory.acceptedAtMs;
  assert.ok(line > 0);
  memory.rememberAcceptance(line - 60_000);
  assert.equal(memory.acceptedAtMs, line);
  quorum.restart();
  assert.equal(quorum.rig.memory.acceptedAtMs, line);
});
