/**
 * A decision that is dropped at any of its pauses, as whoever asked for it may make happen at will, leaves nothing behind: the next one is
 * decided on the state before it, and released.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createQuorum, type Quorum } from "../../test/quorum_rig.ts";

/** Long enough that its pages are written and hashed in steps of their own. */
const pagesLength = 600_000;

/** Drops each decision of this signer at its first pause, then anew at its second, and so on until it comes to its end. */
function dropping({ rig: { operations } }: Quorum): { drops: number } {
  const counted = { drops: 0 };
  operations.prepare = (request) => {
    for (let steps = 1; ; steps++) {
      const work = operations.preparing(request);
      let step = work.next();
      for (let taken = 1; taken < steps && step.done !== true; taken++) step = work.next();
      if (step.done === true) return step.value;
      work.return(undefined as never);
      counted.drops += 1;
    }
  };
  return counted;
}

const proven = { generateAppProofs: true };
const newTag = "ACTIVITY_TYPE_CREATE_USER_TAG";

const acts: Record<string, (quorum: Quorum) => string | undefined> = {
  "is executed": (quorum) => {
    const body = quorum.body(newTag, { userTagName: "a", userIds: [] }, proven);
    quorum.send("ann", body);
    return quorum.approve("bob", body).activity?.status;
  },
  fails: (quorum) => {
    const body = quorum.body(newTag, { userTagName: "a", userIds: ["nobody"] }, proven);
    quorum.send("ann", body);
    return quorum.approve("bob", body).activity?.status;
  },
  "is refused": (quorum) =>
    quorum.send("dave", quorum.body(newTag, { userTagName: "a", userIds: [] }, proven)).activity?.status,
  waits: (quorum) => quorum.send("ann", quorum.tagBody("a")).activity?.status,
  "is voted down": (quorum) => {
    const body = quorum.tagBody("a");
    quorum.send("ann", body);
    return quorum.reject("bob", body).activity?.status;
  },
};

const statuses: Record<keyof typeof acts, string> = {
  "is executed": "COMPLETED",
  fails: "FAILED",
  "is refused": "REJECTED",
  waits: "CONSENSUS_NEEDED",
  "is voted down": "REJECTED",
};

for (const [what, act] of Object.entries(acts)) {
  test(`an act that ${what} may be dropped at any pause before, and is none the worse for it`, (t) => {
    // Nobody's key is marked as proven yet, so that every change writes the members.
    const quorum = createQuorum({ pagesLength, isProven: false });
    const counted = dropping(quorum);
    assert.equal(act(quorum), `ACTIVITY_STATUS_${statuses[what]}`);
    t.diagnostic(`dropped ${counted.drops} times`);
    assert.ok(counted.drops >= 3);
    const { tags } = quorum;
    const before = tags().length;
    quorum.decree(["ann", "bob"], newTag, { userTagName: "after", userIds: [] });
    assert.equal(tags().length, before + 1);
  });
}
