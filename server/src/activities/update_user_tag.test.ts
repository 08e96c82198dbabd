import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { organization, person } from "../../test/members.ts";
import type { Static } from "../fields/schema.ts";
import { put } from "../state/entities.ts";
import { updateUserTag } from "./update_user_tag.ts";

const ann = person("ann", { userTags: ["ops", "treasury"] });
const bob = person("bob");
const cleo = person("cleo", { userTags: ["ops"] });
const acme = organization({ users: [ann, bob, cleo], tags: ["ops", "treasury"] });
const ops = acme.members.userTags.get("ops");
assert.ok(ops);

function run(params: Partial<Static<typeof updateUserTag.params>>) {
  return runActivity(updateUserTag, acme, { userTagId: "ops", addUserIds: [], removeUserIds: [], ...params });
}

test("the tag is renamed and nobody else changes", () => {
  const { changes, result } = run({ newUserTagName: "operations" });
  assert.deepEqual(changes, [put("userTag", { ...ops, tagName: "operations", updatedAtMs: nowMs })]);
  assert.deepEqual(result, { userTagId: "ops" });
});

test("users get the tag and lose it; who has it already, or never had it, is not touched", () => {
  const { changes } = run({ addUserIds: ["bob", "cleo", "bob"], removeUserIds: ["ann"], newUserTagName: null });
  assert.deepEqual(changes, [
    put("userTag", { ...ops, updatedAtMs: nowMs }),
    put("user", { ...bob, userTags: ["ops"], updatedAtMs: nowMs }),
    put("user", { ...ann, userTags: ["treasury"], updatedAtMs: nowMs }),
  ]);
  assert.equal(run({ removeUserIds: ["bob"] }).changes.length, 1);
});

test("who is both added and removed ends up without it", () => {
  const both = ["bob", "cleo"];
  assert.deepEqual(run({ addUserIds: both, removeUserIds: both }).changes.slice(1), [
    put("user", { ...cleo, userTags: [], updatedAtMs: nowMs }),
  ]);
});

test("a name that another tag has is refused; its own in other letters is not", () => {
  assert.throws(() => run({ newUserTagName: "Treasury" }), {
    code: "invalid_argument",
    message: "user tag label must be unique: `treasury` exists",
  });
  assert.equal(run({ newUserTagName: "OPS" }).changes.length, 1);
});

test("an unknown tag and an unknown user are not found", () => {
  assert.throws(() => run({ userTagId: "z" }), {
    code: "not_found",
    message: "unable to find user tag z in organization acme",
  });
  for (const list of ["addUserIds", "removeUserIds"]) {
    assert.throws(() => run({ [list]: ["eve"] }), {
      code: "not_found",
      message: "unable to find user eve in organization acme",
    });
  }
});
