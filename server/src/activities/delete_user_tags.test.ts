import assert from "node:assert/strict";
import { test } from "node:test";
import { newUser } from "../../test/store_items.ts";
import { withLimits } from "../endpoints/limits.ts";
import { put, remove, type User } from "../state/entities.ts";
import type { MembersPage } from "../state/pages.ts";
import { deleteUserTags } from "./delete_user_tags.ts";

const nowMs = 1_800_000_000_000;
const ann = newUser({ userId: "ann", userTags: ["a", "b", "c"] });
const bob = newUser({ userId: "bob", userTags: ["b"] });
const cleo = newUser({ userId: "cleo", userTags: ["c"] });

function members(users: readonly User[], tagIds: readonly string[]): MembersPage {
  const times = { createdAtMs: 1, updatedAtMs: 1 };
  return {
    users: new Map(users.map((user) => [user.userId, user])),
    userTags: new Map(tagIds.map((tagId) => [tagId, { tagId, tagName: tagId, ...times }])),
    rootQuorum: { threshold: 1, userIds: [] },
  };
}

function run(page: MembersPage, userTagIds: string[]) {
  const context = { organizationId: "acme", nowMs, userId: "ann", limits: withLimits({}), newId: () => "never" };
  return deleteUserTags.run(page, { userTagIds }, context);
}

test("tags are removed and taken off every user that carries one; who carries none is not touched", () => {
  const { changes, result } = run(members([ann, bob, cleo], ["a", "b", "c"]), ["b", "a"]);
  assert.deepEqual(changes, [
    remove("userTag", "b"),
    remove("userTag", "a"),
    put("user", { ...ann, userTags: ["c"], updatedAtMs: nowMs }),
    put("user", { ...bob, userTags: [], updatedAtMs: nowMs }),
  ]);
  assert.deepEqual(result, { userTagIds: ["b", "a"], userIds: ["ann", "bob"] });
});

test("a tag nobody carries goes alone", () => {
  const { changes, result } = run(members([cleo], ["a", "c"]), ["a"]);
  assert.deepEqual(changes, [remove("userTag", "a")]);
  assert.deepEqual(result, { userTagIds: ["a"], userIds: [] });
});

test("a tag named twice is removed once", () => {
  const { changes, result } = run(members([bob], ["b"]), ["b", "b"]);
  assert.equal(changes.length, 2);
  assert.deepEqual(result, { userTagIds: ["b"], userIds: ["bob"] });
});

test("an unknown tag is named, and none is removed", () => {
  assert.throws(() => run(members([ann], ["a", "b", "c"]), ["a", "z"]), {
    code: "not_found",
    message: "unable to find user tag z in organization acme",
  });
});

test("the state it was given is left as it was", () => {
  const page = members([ann, bob], ["a", "b", "c"]);
  const before = structuredClone(page);
  run(page, ["a", "b"]);
  assert.deepEqual(page, before);
});

test("policies see the tags as asked for", () => {
  assert.deepEqual(deleteUserTags.facts({ userTagIds: ["x", "y"] }), { user_tag_ids: ["x", "y"] });
});
