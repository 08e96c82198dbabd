import assert from "node:assert/strict";
import { test } from "node:test";
import { newUser } from "../../test/store_items.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import { withLimits } from "../endpoints/limits.ts";
import { put, type User } from "../state/entities.ts";
import type { MembersPage } from "../state/pages.ts";
import { createUserTag } from "./create_user_tag.ts";

const nowMs = 1_800_000_000_000;
const ann = newUser({ userId: "ann", userTags: ["old"] });
const bob = newUser({ userId: "bob" });

function members(users: readonly User[], tagNames: readonly string[]): MembersPage {
  const times = { createdAtMs: 1, updatedAtMs: 1 };
  return {
    users: new Map(users.map((user) => [user.userId, user])),
    userTags: new Map(tagNames.map((tagName, index) => [`tag ${index}`, { tagId: `tag ${index}`, tagName, ...times }])),
    rootQuorum: { threshold: 1, userIds: [] },
  };
}

function run(page: MembersPage, userTagName: string, userIds: string[], limits: Record<string, number> = {}) {
  let ids = 0;
  const context: ActivityContext = {
    organizationId: "acme",
    nowMs,
    userId: "ann",
    limits: withLimits(limits),
    newId: () => `new ${ids++}`,
  };
  return createUserTag.run(page, { userTagName, userIds }, context);
}

test("the tag and each of its users change, in the order asked, and nothing else", () => {
  const { changes, result } = run(members([ann, bob, newUser()], []), "signers", ["bob", "ann"]);
  assert.deepEqual(changes, [
    put("userTag", { tagId: "new 0", tagName: "signers", createdAtMs: nowMs, updatedAtMs: nowMs }),
    put("user", { ...bob, userTags: ["new 0"], updatedAtMs: nowMs }),
    put("user", { ...ann, userTags: ["old", "new 0"], updatedAtMs: nowMs }),
  ]);
  assert.deepEqual(result, { userTagId: "new 0", userIds: ["bob", "ann"] });
});

test("a user named twice gets the tag once", () => {
  const { changes, result } = run(members([ann, bob], []), "signers", ["ann", "bob", "ann"]);
  assert.equal(changes.length, 3);
  assert.deepEqual(result.userIds, ["ann", "bob"]);
});

test("an unknown user is named, and the tag is not made", () => {
  assert.throws(() => run(members([ann], []), "signers", ["ann", "eve"]), {
    code: "not_found",
    message: "unable to find user eve in organization acme",
  });
});

test("a name that looks like an existing one is refused, and the existing one named", () => {
  const page = members([], ["Treasury"]);
  for (const name of ["Treasury", "TREASURY", "ｔreasury"]) {
    assert.throws(() => run(page, name, []), {
      code: "invalid_argument",
      message: "user tag label must be unique: `Treasury` exists",
    });
  }
  assert.equal(run(page, "Treasury 2", []).result.userTagId, "new 0");
});

test("the limit is the one configured: the last that fits is made, the next is refused with the number", () => {
  const limits = { userTagsPerOrganization: 2 };
  assert.equal(run(members([], ["a"]), "b", [], limits).changes.length, 1);
  const full = {
    code: "resource_exhausted",
    message: "organization has reached its limit of 2 user tags",
  };
  assert.throws(() => run(members([], ["a", "b"]), "c", [], limits), full);
  assert.throws(() => run(members([], ["a", "b", "c"]), "d", [], limits), full);
  assert.throws(() => run(members([], []), "a", [], { userTagsPerOrganization: 0 }), { code: "resource_exhausted" });
});

test("the state it was given is left as it was", () => {
  const page = members([ann], ["a"]);
  const before = structuredClone(page);
  run(page, "b", ["ann"]);
  assert.deepEqual(page, before);
});

test("policies see the name and the users as asked for", () => {
  assert.deepEqual(createUserTag.facts({ userTagName: "a", userIds: ["x", "x"] }), {
    user_tag_name: "a",
    user_ids: ["x", "x"],
  });
});
