/** The decision point alone, on states that no activity lets come about as well: it must not lean on those who wrote them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { organization, person } from "../../test/members.ts";
import { createApiKeys } from "../activities/create_api_keys.ts";
import { createUserTag } from "../activities/create_user_tag.ts";
import { importWallet } from "../activities/import_wallet.ts";
import { initImportPrivateKey } from "../activities/init_import_private_key.ts";
import { updateRootQuorum } from "../activities/update_root_quorum.ts";
import { type AnyActivity, formsOf } from "../endpoints/define_activity.ts";
import type { RootQuorum } from "../state/entities.ts";
import { authorise, mayApprove, mayReject, type Question, rightsOf } from "./authorise.ts";
import { approvalMs } from "./votes.ts";

const nowMs = 1_750_000_000_000;
const users = ["ann", "bob", "cleo", "dave"].map((name) => person(name));

const everybody = users.map(({ userId }): [string, number] => [userId, 0]);

type Asked = {
  by?: string;
  /** With how long ago each approved; the proposer, just now, unless said otherwise. */
  approvals?: readonly [userId: string, agoMs: number][];
  activity?: AnyActivity;
  params?: unknown;
  isWaiting?: boolean;
};

function question(
  rootQuorum: RootQuorum,
  { by = "ann", approvals = [], activity, params, isWaiting }: Asked,
): Question {
  const [form] = formsOf((activity ?? createUserTag) as AnyActivity);
  if (form === undefined) throw new Error("an activity without a form");
  const pages = organization({ users, rootQuorum });
  return {
    pages,
    keys: () => ({ records: [], factsOf: () => undefined }),
    openInterface: () => assert.fail("nobody asked for an interface"),
    form,
    params: params ?? {},
    proposerId: by,
    approvals: approvals.map(([userId, agoMs]) => ({ userId, credentialId: "key", atMs: nowMs - agoMs })),
    isWaiting: isWaiting === true,
    nowMs,
  };
}

/** What is decided in a word: the grounds, or that it waits, or that it is refused. */
function decide(
  rootQuorum: RootQuorum,
  {
    by = "ann",
    approvals = [[by, 0]],
    activity = createUserTag as AnyActivity,
    params = {},
    isWaiting = false,
  }: Asked = {},
): string {
  const decision = authorise(question(rootQuorum, { by, approvals, activity, params, isWaiting }));
  return decision.kind === "allow" ? decision.grounds : decision.kind;
}

test("as many members as the threshold says, and not one fewer", () => {
  const rootQuorum = { threshold: 2, userIds: ["ann", "bob", "cleo"] };
  assert.equal(decide(rootQuorum), "consensus");
  assert.equal(
    decide(rootQuorum, {
      approvals: [
        ["ann", 0],
        ["bob", 0],
      ],
    }),
    "ROOT_QUORUM",
  );
  assert.equal(
    decide(rootQuorum, {
      approvals: [
        ["ann", 0],
        ["dave", 0],
      ],
    }),
    "consensus",
    "dave is no member",
  );
  assert.equal(
    decide(rootQuorum, {
      approvals: [
        ["bob", 0],
        ["cleo", 0],
      ],
      by: "dave",
    }),
    "ROOT_QUORUM",
  );
  assert.equal(decide(rootQuorum, { by: "dave" }), "refuse");
});

test("a threshold below one, or none at all, lets nobody through", () => {
  for (const threshold of [0, -1, 0.5, Number.NaN, Number.NEGATIVE_INFINITY]) {
    const decided = decide({ threshold, userIds: ["ann", "bob"] }, { approvals: everybody });
    assert.notEqual(decided, "ROOT_QUORUM", `${threshold}`);
    assert.notEqual(decide({ threshold, userIds: [] }, { approvals: everybody }), "ROOT_QUORUM");
  }
});

test("nobody counts twice: neither a member listed twice nor an approval given twice", () => {
  const listedTwice = { threshold: 2, userIds: ["ann", "ann", "bob"] };
  assert.equal(
    decide(listedTwice, {
      approvals: [
        ["ann", 0],
        ["ann", 5],
      ],
    }),
    "consensus",
  );
  assert.equal(decide({ threshold: 2, userIds: ["ann", "ann"] }), "refuse", "a threshold that cannot be reached");
});

test("a member who no longer exists neither counts nor fills the quorum", () => {
  const rootQuorum = { threshold: 2, userIds: ["ann", "gone"] };
  assert.equal(
    decide(rootQuorum, {
      approvals: [
        ["ann", 0],
        ["gone", 0],
      ],
    }),
    "refuse",
  );
});

test("an approval whose day is over does not count", () => {
  const rootQuorum = { threshold: 2, userIds: ["ann", "bob", "cleo"] };
  assert.equal(
    decide(rootQuorum, {
      approvals: [
        ["ann", approvalMs],
        ["bob", 0],
      ],
    }),
    "consensus",
  );
  assert.equal(
    decide(rootQuorum, {
      approvals: [
        ["ann", approvalMs - 1],
        ["bob", 0],
      ],
    }),
    "ROOT_QUORUM",
  );
  assert.equal(decide({ threshold: 1, userIds: ["ann"] }, { approvals: [["ann", approvalMs]] }), "consensus");
});

test("one's own credentials are one's own, with an approval of one's own that is active", () => {
  const rootQuorum = { threshold: 2, userIds: ["ann", "bob"] };
  const own = { activity: createApiKeys as AnyActivity, params: { userId: "dave", apiKeys: [] } };
  assert.equal(decide(rootQuorum, { ...own, by: "dave" }), "OWN_CREDENTIAL");
  assert.equal(decide(rootQuorum, { ...own, by: "cleo" }), "refuse");
  assert.equal(decide(rootQuorum, { ...own, by: "dave", approvals: [["dave", approvalMs]] }), "refuse");
  assert.equal(decide(rootQuorum, { ...own, by: "dave", approvals: [["cleo", 0]] }), "refuse");
  const gone = { ...own, params: { userId: "gone", apiKeys: [] } };
  assert.equal(decide(rootQuorum, { ...gone, by: "gone" }), "refuse", "who is deleted has no credentials");
  const reserved = { ...own, activity: { ...own.activity, rootQuorumOnly: true } as AnyActivity };
  assert.equal(decide(rootQuorum, { ...reserved, by: "dave" }), "refuse");
});

test("what must be one's own act is refused to everyone else, to the root quorum before all", () => {
  const rootQuorum = { threshold: 1, userIds: ["ann", "bob"] };
  for (const activity of [initImportPrivateKey, importWallet] as readonly unknown[] as AnyActivity[]) {
    for (const userId of ["bob", "dave"]) {
      assert.equal(decide(rootQuorum, { activity, params: { userId } }), "refuse", `root for ${userId}`);
      assert.equal(decide(rootQuorum, { activity, params: { userId }, approvals: everybody }), "refuse");
    }
    assert.equal(decide(rootQuorum, { activity, params: { userId: "ann" } }), "ROOT_QUORUM");
    // Nobody's act: running it finds no such user.
    for (const userId of ["nobody", ""]) {
      assert.equal(decide(rootQuorum, { activity, params: { userId } }), "ROOT_QUORUM");
      assert.equal(decide(rootQuorum, { activity, params: { userId }, by: "dave" }), "refuse");
    }
  }
});

test("one's own act is allowed to nobody for being that", () => {
  const rootQuorum = { threshold: 2, userIds: ["ann", "bob"] };
  const own = { activity: importWallet as AnyActivity, params: { userId: "dave" }, by: "dave" };
  assert.equal(decide(rootQuorum, own), "refuse");
  assert.equal(decide(rootQuorum, { ...own, approvals: everybody }), "ROOT_QUORUM");
  assert.equal(decide(rootQuorum, { ...own, params: { userId: "ann" }, by: "ann" }), "consensus");
});

test("what is the root quorum's alone waits for it when a member asks, and is refused to others", () => {
  const rootQuorum = { threshold: 2, userIds: ["ann", "bob"] };
  const activity = updateRootQuorum as AnyActivity;
  assert.equal(decide(rootQuorum, { activity }), "consensus");
  assert.equal(decide(rootQuorum, { activity, by: "dave" }), "refuse");
  assert.equal(decide({ threshold: 1, userIds: ["ann"] }, { activity }), "ROOT_QUORUM");
});

test("what waits goes on waiting when its proposer has left the quorum; what is new from outside it is refused", () => {
  const rootQuorum = { threshold: 2, userIds: ["bob", "cleo"] };
  assert.equal(decide(rootQuorum, { approvals: [["bob", 0]], isWaiting: true }), "consensus");
  assert.equal(decide(rootQuorum), "refuse");
  assert.equal(decide({ threshold: 3, userIds: ["bob", "cleo"] }, { isWaiting: true }), "refuse");
});

test("the quorum's members may vote; others only take back what is their own", () => {
  const rootQuorum = { threshold: 2, userIds: ["ann", "bob", "gone", "bob"] };
  const asked = question(rootQuorum, { by: "cleo", isWaiting: true });
  for (const [userId, approve, reject] of [
    ["ann", true, true],
    ["bob", true, true],
    ["cleo", false, true],
    ["dave", false, false],
    ["gone", false, false],
    ["", false, false],
  ] as const) {
    assert.equal(mayApprove(asked, userId), approve, userId);
    assert.equal(mayReject(asked, userId), reject, userId);
  }
  assert.equal(mayReject(question(rootQuorum, { by: "gone", isWaiting: true }), "gone"), false);
});

test("who has approved today cannot approve again, and can tomorrow; rejecting stays possible", () => {
  const rootQuorum = { threshold: 2, userIds: ["ann", "bob"] };
  const rights = (by: string, agoMs: number, reader: string) =>
    rightsOf(question(rootQuorum, { by, approvals: [[by, agoMs]], isWaiting: true }), reader);
  assert.deepEqual(rights("ann", 0, "ann"), { canApprove: false, canReject: true });
  assert.deepEqual(rights("ann", approvalMs, "ann"), { canApprove: true, canReject: true });
  assert.deepEqual(rights("ann", 0, "bob"), { canApprove: true, canReject: true });
  assert.deepEqual(rights("ann", 0, "dave"), { canApprove: false, canReject: false });
  assert.deepEqual(rights("dave", 0, "dave"), { canApprove: false, canReject: true });
});
