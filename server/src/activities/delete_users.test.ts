import assert from "node:assert/strict";
import { test } from "node:test";
import { runActivity } from "../../test/activity_context.ts";
import { apiKey, organization, person } from "../../test/members.ts";
import { remove } from "../state/entities.ts";
import { deleteUsers } from "./delete_users.ts";

const users = ["ann", "bob", "cleo", "dan"].map((userId, n) => person(userId, { apiKeys: [apiKey(n)] }));
const acme = organization({ users, rootQuorum: { threshold: 1, userIds: ["ann", "bob"] } });

function run(...userIds: string[]) {
  return runActivity(deleteUsers, acme, { userIds });
}

test("users go with all they have; one named twice goes once", () => {
  const { changes, result } = run("dan", "cleo", "dan");
  assert.deepEqual(changes, [remove("user", "dan"), remove("user", "cleo")]);
  assert.deepEqual(result, { userIds: ["dan", "cleo"] });
});

test("a member of the root quorum stays, even when the others would be enough, and all named with it", () => {
  for (const userIds of [["ann"], ["bob"], ["cleo", "bob"]]) {
    assert.throws(() => run(...userIds), {
      code: "invalid_argument",
      message: /^quorum users missing: user `\w+` is in the root quorum; take it out with update_root_quorum first$/,
    });
  }
});

test("an unknown user is not found, and nobody goes", () => {
  assert.throws(() => run("cleo", "eve"), {
    code: "not_found",
    message: "unable to find user eve in organization acme",
  });
});
