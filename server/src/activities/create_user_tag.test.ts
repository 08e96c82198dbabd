import assert from "node:assert/strict";
import { test } from "node:test";
import { type ContextChanges, nowMs, runActivity } from "../../test/activity_context.ts";
import { organization, person } from "../../test/members.ts";
import { put } from "../state/entities.ts";
import { createUserTag } from "./create_user_tag.ts";

const ann = person("ann", { userTags: ["old"] });
const bob = person("bob");
const users = [ann, bob, person("cleo")];

function run(tags: readonly string[], userTagName: string, userIds: string[], context: ContextChanges = {}) {
  return runActivity(createUserTag, organization({ users, tags }), { userTagName, userIds }, context);
}

test("the tag and each of its users change, in the order asked, and nothing else", () => {
  const { changes, result } = run([], "signers", ["bob", "ann"]);
  assert.deepEqual(changes, [
    put("userTag", { tagId: "new 0", tagName: "signers", createdAtMs: nowMs, updatedAtMs: nowMs }),
    put("user", { ...bob, userTags: ["new 0"], updatedAtMs: nowMs }),
    put("user", { ...ann, userTags: ["old", "new 0"], updatedAtMs: nowMs }),
  ]);
  assert.deepEqual(result, { userTagId: "new 0", userIds: ["bob", "ann"] });
});

test("a user named twice gets the tag once", () => {
  const { changes, result } = run([], "signers", ["ann", "bob", "ann"]);
  assert.equal(changes.length, 3);
  assert.deepEqual(result.userIds, ["ann", "bob"]);
});

test("an unknown user is named, and the tag is not made", () => {
  assert.throws(() => run([], "signers", ["ann", "eve"]), {
    code: "not_found",
    message: "unable to find user eve in organization acme",
  });
});

test("a name that looks like an existing one is refused, and the existing one named", () => {
  for (const name of ["Treasury", "TREASURY", "ｔreasury"]) {
    assert.throws(() => run(["Treasury"], name, []), {
      code: "invalid_argument",
      message: "user tag label must be unique: `Treasury` exists",
    });
  }
  assert.equal(run(["Treasury"], "Treasury 2", []).result.userTagId, "new 0");
});

test("the limit is the one configured: the last that fits is made, the next is refused with the number", () => {
  const limits = { userTagsPerOrganization: 2 };
  assert.equal(run(["a"], "b", [], { limits }).changes.length, 1);
  const full = { code: "resource_exhausted", message: /^organization has reached its limit of 2 user tags; / };
  assert.throws(() => run(["a", "b"], "c", [], { limits }), full);
  assert.throws(() => run(["a", "b", "c"], "d", [], { limits }), full);
  assert.throws(() => run([], "a", [], { limits: { userTagsPerOrganization: 0 } }), { code: "resource_exhausted" });
});

test("a sub-organization has a limit of its own", () => {
  const limits = { userTagsPerSubOrganization: 2 };
  assert.equal(run(["a"], "b", [], { parentId: "parent", limits }).changes.length, 1);
  assert.throws(() => run(["a", "b"], "c", [], { parentId: "parent", limits }), {
    code: "resource_exhausted",
    message: /^organization has reached its limit of 2 user tags; /,
  });
  assert.equal(run(["a", "b"], "c", [], { limits }).changes.length, 1);
});

test("the state it was given is left as it was", () => {
  const pages = organization({ users, tags: ["a"] });
  const before = structuredClone(pages);
  runActivity(createUserTag, pages, { userTagName: "b", userIds: ["ann"] });
  assert.deepEqual(pages, before);
});
