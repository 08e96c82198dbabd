/** The checker itself: it takes good histories as they are, and names what is wrong with bad ones. All are written by hand. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  assertNamed,
  check,
  commit,
  created,
  createTag,
  keyOf,
  listTags,
  operation,
  refusal,
  tagging,
  view,
  withKeyOf,
} from "./hand_written.ts";
import type { Answer } from "./record.ts";

describe("good histories are taken as they are", () => {
  test("one thing after the other", () => {
    const operations = [createTag("x", [0, 1]), listTags("read", [2, 3], ["x"]), createTag("y", [4, 5])];
    assert.deepEqual(check(operations, [commit("x", 2), commit("y", 3)]), []);
  });

  test("what is under way at the same time may come in either order", () => {
    const operations = [createTag("x", [0, 9]), createTag("y", [1, 8]), listTags("read", [2, 7], ["y"])];
    assert.deepEqual(check(operations, [commit("y", 2), commit("x", 3)]), []);
  });

  test("a read sees a write that is not answered yet, and from then on everybody does", () => {
    const operations = [
      createTag("x", [0, 9]),
      listTags("before", [1, 2], []),
      listTags("first", [3, 4], ["x"]),
      listTags("then", [5, 6], ["x"]),
    ];
    assert.deepEqual(check(operations, [commit("x", 2)]), []);
  });

  test("an answer was lost, and the same bytes were answered later: it took place at any time between", () => {
    const lost = operation(
      "x",
      "ann",
      [
        [0, 1],
        [10, 11],
      ],
      tagging("x"),
      created("x"),
    );
    assert.deepEqual(check([lost, listTags("read", [4, 5], ["x"])], [commit("x", 2)]), []);
    assert.deepEqual(check([lost, listTags("read", [4, 5], [])], [commit("x", 2)]), []);
  });

  test("a lost request takes place after another try of it was refused", () => {
    // Cal was nobody when the second try came, and has been added by the time the first one arrives.
    const added = {
      users: [{ userName: "cal", apiKeys: [{ publicKey: keyOf("cal") }], authenticators: [], userTags: [] }],
    };
    const result = { userIds: ["cal"] };
    const adding: Answer = {
      kind: "activity",
      activity: { activityId: "act cal", status: "COMPLETED", votes: ["ann APPROVED"], result },
    };
    const operations = [
      operation(
        "x",
        "cal",
        [
          [0, 1],
          [2, 3],
        ],
        tagging("x"),
        refusal(401, 16, "could not find public key …"),
      ),
      operation("cal", "ann", [[4, 5]], { path: "create_users", parameters: added }, adding),
    ];
    const failure = { code: 7, message: "You don't have sufficient permissions" };
    const late = commit("x", 2, {
      before: 2,
      event: "REJECTED",
      failure,
      credential: withKeyOf("cal"),
      result: undefined,
    });
    assert.deepEqual(check(operations, [commit("cal", 2, { result }), late]), []);
  });

  test("two approve what waits, and whoever asks sees it as it stands", () => {
    const votes = ["ann APPROVED", "bob APPROVED"];
    const waiting: Answer = {
      kind: "activity",
      activity: { activityId: "act x", status: "CONSENSUS_NEEDED", votes: ["ann APPROVED"], result: undefined },
    };
    const done: Answer = {
      kind: "activity",
      activity: { activityId: "act x", status: "COMPLETED", votes, result: { userTagId: "x" } },
    };
    const operations = [
      operation("x", "ann", [[0, 1]], tagging("x"), waiting),
      operation("vote", "bob", [[2, 3]], { path: "approve_activity", parameters: { fingerprint: "sha256:x" } }, done),
      operation("x", "ann", [[4, 5]], tagging("x"), done),
      operation(
        "late",
        "ann",
        [[4, 5]],
        { path: "reject_activity", parameters: { fingerprint: "sha256:x" } },
        refusal(403, 7, "the activity is completed and takes no votes"),
      ),
    ];
    const submitted = commit("x", 2, { event: "SUBMITTED", result: undefined });
    assert.deepEqual(
      check(operations, [submitted, commit("x", 3, { stamped: "vote", credential: withKeyOf("bob") })], 2),
      [],
    );
  });

  test("a failure is kept, and repeated to whoever sends the same bytes", () => {
    const failure = { code: 3, message: "user tag label must be unique: `x` exists" };
    const failed = refusal(400, failure.code, failure.message);
    const operations = [
      createTag("x", [0, 1]),
      operation("again", "ann", [[2, 3]], tagging("x"), failed),
      operation("again", "bob", [[4, 5]], tagging("x"), failed),
    ];
    const kept = commit("again", 2, { before: 2, event: "FAILED", failure, result: undefined });
    assert.deepEqual(check(operations, [commit("x", 2), kept]), []);
  });
});

describe("bad histories are named by what is wrong", () => {
  test("a stale read", () => {
    const operations = [createTag("x", [0, 1]), listTags("read", [2, 3], [])];
    assertNamed(
      check(operations, [commit("x", 2)]),
      /^stale: read .* fits version 1, but versions 2 to 2 were current/,
    );
  });

  test("a read that goes back behind what another read has seen", () => {
    const operations = [createTag("x", [0, 9]), listTags("first", [1, 2], ["x"]), listTags("then", [3, 4], [])];
    assertNamed(check(operations, [commit("x", 2)]), /^stale: then .* was answered to first/);
  });

  test("a lost update: two changes of one user were answered, and one of them is not there", () => {
    const name = (userName: string, span: [number, number]) => {
      const renamed = { path: "update_user", parameters: { userId: "ann", userName } };
      const answer: Answer = {
        kind: "activity",
        activity: { activityId: `act ${userName}`, status: "COMPLETED", votes: ["ann APPROVED"], result: {} },
      };
      return operation(userName, "ann", [span], renamed, answer);
    };
    const tagged = operation("t", "bob", [[2, 3]], tagging("t", ["ann"]), created("t", "bob"));
    const read = operation(
      "read",
      "bob",
      [[4, 5]],
      { kind: "query", path: "get_user", parameters: { userId: "ann" } },
      view(["ann", "Anna", "", "", [], [keyOf("ann")], ["passkey of ann"], []]),
    );
    const commits = [commit("Anna", 2, { result: {} }), commit("t", 3, { credential: withKeyOf("bob") })];
    // The name is there and the tag is gone: as it was before the tag.
    assertNamed(check([name("Anna", [0, 1]), tagged, read], commits), /^stale: read/);
    // The tag is there and the name is gone: as it never was.
    const torn = operation(
      "read",
      "bob",
      [[4, 5]],
      { kind: "query", path: "get_user", parameters: { userId: "ann" } },
      view(["ann", "ann", "", "", ["t"], [keyOf("ann")], ["passkey of ann"], []]),
    );
    assertNamed(check([name("Anna", [0, 1]), tagged, torn], commits), /^fits no state: read/);
  });

  test("what was acknowledged and is nowhere", () => {
    assertNamed(check([createTag("x", [0, 1])], []), /^fits no state: x answered/);
  });

  test("the same stamped bytes executed twice", () => {
    const commits = [commit("x", 2), commit("x", 3)];
    assertNamed(check([createTag("x", [0, 1])], commits), /^executed twice: COMPLETED of act x at 2 and 3/);
  });

  test("a vote that counted twice", () => {
    const waiting: Answer = {
      kind: "activity",
      activity: { activityId: "act x", status: "CONSENSUS_NEEDED", votes: ["ann APPROVED"], result: undefined },
    };
    const again = { path: "approve_activity", parameters: { fingerprint: "sha256:x" } };
    const operations = [
      operation("x", "ann", [[0, 1]], tagging("x"), waiting),
      operation("vote", "ann", [[2, 3]], again, created("x")),
    ];
    const commits = [commit("x", 2, { event: "SUBMITTED", result: undefined }), commit("x", 3, { stamped: "vote" })];
    assertNamed(
      check(operations, commits, 2),
      /^not allowed: COMPLETED of act x at version 3 \(vote\); the model says it changes nothing/,
    );
  });

  test("two that got the same name", () => {
    const operations = [createTag("x", [0, 9]), operation("y", "bob", [[0, 9]], tagging("x"), created("y", "bob"))];
    assertNamed(
      check(operations, [commit("x", 2), commit("y", 3, { credential: withKeyOf("bob") })]),
      /^another outcome: COMPLETED of act y at version 3 .* the model says FAILED with 3 "user tag label must be unique"/,
    );
  });

  test("reordered: what was answered first was committed last", () => {
    const operations = [createTag("x", [0, 1]), createTag("y", [2, 3])];
    const violations = check(operations, [commit("y", 2), commit("x", 3)]);
    // The one is too early, and so the other too late.
    assert.match(violations.join("\n"), /^reordered: y led from version 1, but was sent after version 3/m);
    assert.match(violations.join("\n"), /^ahead of its time: x answered/m);
  });

  test("a read that is ahead of its time", () => {
    const operations = [listTags("read", [0, 1], ["x"]), createTag("x", [2, 3])];
    assertNamed(
      check(operations, [commit("x", 2)]),
      /^ahead of its time: read .* fits version 2, but versions 1 to 1 were current/,
    );
  });

  test("an act that nobody asked for", () => {
    assertNamed(check([], [commit("x", 2)]), /^nobody asked for it: COMPLETED of act x/);
  });

  test("an act of who was deleted before", () => {
    const removal = { path: "update_root_quorum", parameters: { threshold: 1, userIds: ["ann"] } };
    const done = (name: string): Answer => ({
      kind: "activity",
      activity: { activityId: `act ${name}`, status: "COMPLETED", votes: ["ann APPROVED"], result: {} },
    });
    const operations = [
      operation("alone", "ann", [[0, 1]], removal, done("alone")),
      operation("gone", "ann", [[2, 3]], { path: "delete_users", parameters: { userIds: ["bob"] } }, done("gone")),
      createTag("x", [4, 5], "bob"),
    ];
    const commits = [
      commit("alone", 2, { result: {} }),
      commit("gone", 3, { result: {} }),
      commit("x", 4, { credential: withKeyOf("bob") }),
    ];
    assertNamed(check(operations, commits), /^not allowed: COMPLETED of act x at version 4 .* denied with 16/);
  });

  test("another answer to the same bytes", () => {
    const other: Answer = {
      kind: "activity",
      activity: { activityId: "act x", status: "COMPLETED", votes: ["ann APPROVED"], result: { userTagId: "other" } },
    };
    const operations = [createTag("x", [0, 1]), operation("x", "ann", [[2, 3]], tagging("x"), other)];
    assertNamed(check(operations, [commit("x", 2)]), /^fits no state: x answered/);
  });

  test("a stale refusal: who was added is still a stranger", () => {
    const added = {
      users: [{ userName: "cal", apiKeys: [{ publicKey: keyOf("cal") }], authenticators: [], userTags: [] }],
    };
    const result = { userIds: ["cal"] };
    const adding: Answer = {
      kind: "activity",
      activity: { activityId: "act cal", status: "COMPLETED", votes: ["ann APPROVED"], result },
    };
    const operations = [
      operation("cal", "ann", [[0, 1]], { path: "create_users", parameters: added }, adding),
      operation("x", "cal", [[2, 3]], tagging("x"), refusal(401, 16, "could not find public key …")),
    ];
    assertNamed(check(operations, [commit("cal", 2, { result })]), /^stale: x answered .* was answered to cal/);
  });

  test("a version that is not there", () => {
    assertNamed(
      check([createTag("x", [0, 1])], [commit("x", 3)]),
      /^a version is missing before COMPLETED of act x at version 3/,
    );
  });
});
