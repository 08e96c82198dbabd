import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { organization, person } from "../../test/members.ts";
import { put, remove } from "../state/entities.ts";
import { deleteUserTags } from "./delete_user_tags.ts";

const ann = person("ann", { userTags: ["a", "b", "c"] });
const bob = person("bob", { userTags: ["b"] });
const cleo = person("cleo", { userTags: ["c"] });
const acme = organization({ users: [ann, bob, cleo], tags: ["a", "b", "c", "idle"] });

function run(...userTagIds: string[]) {
  return runActivity(deleteUserTags, acme, { userTagIds });
}

test("tags are removed and taken off every user that carries one; who carries none is not touched", () => {
  const { changes, result } = run("b", "a");
  assert.deepEqual(changes, [
    remove("userTag", "b"),
    remove("userTag", "a"),
    put("user", { ...ann, userTags: ["c"], updatedAtMs: nowMs }),
    put("user", { ...bob, userTags: [], updatedAtMs: nowMs }),
  ]);
  assert.deepEqual(result, { userTagIds: ["b", "a"], userIds: ["ann", "bob"] });
});

test("a tag nobody carries goes alone", () => {
  const { changes, result } = run("idle");
  assert.deepEqual(changes, [remove("userTag", "idle")]);
  assert.deepEqual(result, { userTagIds: ["idle"], userIds: [] });
});

test("a tag named twice is removed once", () => {
  const { changes, result } = run("c", "c");
  assert.equal(changes.length, 3);
  assert.deepEqual(result, { userTagIds: ["c"], userIds: ["ann", "cleo"] });
});

test("an unknown tag is named, and none is removed", () => {
  assert.throws(() => run("a", "z"), {
    code: "not_found",
    message: "unable to find user tag z in organization acme",
  });
});

test("the state it was given is left as it was", () => {
  const before = structuredClone(acme);
  run("a", "b");
  assert.deepEqual(acme, before);
});
