import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { apiKey, organization, person } from "../../test/members.ts";
import { put } from "../state/entities.ts";
import { updateRootQuorum } from "./update_root_quorum.ts";

const ann = person("ann", { apiKeys: [apiKey(0)] });
const bob = person("bob", { apiKeys: [apiKey(1)] });
const session = person("session", { apiKeys: [apiKey(2, { expiresAtMs: nowMs + 1_000 })] });
const acme = organization({ users: [ann, bob, session] });

function run(threshold: number, ...userIds: string[]) {
  return runActivity(updateRootQuorum, acme, { threshold, userIds });
}

test("the quorum is replaced whole, and the result is empty", () => {
  const { changes, result } = run(2, "ann", "bob");
  assert.deepEqual(changes, [put("rootQuorum", { threshold: 2, userIds: ["ann", "bob"] })]);
  assert.deepEqual(result, {});
});

test("a root user may leave the quorum to another, as delegated access asks", () => {
  assert.deepEqual(run(1, "bob").changes, [put("rootQuorum", { threshold: 1, userIds: ["bob"] })]);
});

test("a member named twice is one member", () => {
  assert.deepEqual(run(1, "ann", "ann").changes, [put("rootQuorum", { threshold: 1, userIds: ["ann"] })]);
  assert.throws(() => run(2, "ann", "ann"), { code: "invalid_argument" });
});

const refused: [what: string, threshold: number, userIds: string[], message: string][] = [
  [
    "a threshold of zero",
    0,
    ["ann"],
    "quorum threshold must be non-zero integer: how many of its users must approve, at least 1",
  ],
  [
    "a negative threshold",
    -1,
    ["ann"],
    "quorum threshold must be non-zero integer: how many of its users must approve, at least 1",
  ],
  [
    "a threshold above the members",
    3,
    ["ann", "bob"],
    "quorum threshold 3 is larger than its 2 user(s); name more users, or ask for fewer approvals",
  ],
  ["no members", 1, [], "quorum users missing: name at least one user"],
  [
    "an unknown member",
    1,
    ["ann", "eve"],
    "quorum users missing: this organization has no user `eve`; create the user first, or name another",
  ],
  [
    "a member whose keys all expire",
    1,
    ["ann", "session"],
    "user missing valid credential: session (`session`); a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does",
  ],
];
for (const [what, threshold, userIds, message] of refused) {
  test(`${what} is refused, so that the quorum can always act`, () => {
    assert.throws(() => run(threshold, ...userIds), { code: "invalid_argument", message });
  });
}

test("no policy can grant it", () => {
  assert.equal(updateRootQuorum.rootQuorumOnly, true);
});
