import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { apiKey, organization, person } from "../../test/members.ts";
import { put } from "../state/entities.ts";
import { updateUserName } from "./update_user_name.ts";

const ann = person("ann", { apiKeys: [apiKey(0)], userEmail: "ann@example.com", userTags: ["a"] });
const acme = organization({ users: [ann, person("bob")], tags: ["a"] });

test("only the name changes, and another user's name will do", () => {
  const { changes, result } = runActivity(updateUserName, acme, { userId: "ann", userName: "bob" });
  assert.deepEqual(changes, [put("user", { ...ann, userName: "bob", updatedAtMs: nowMs })]);
  assert.deepEqual(result, { userId: "ann" });
});

test("an unknown user is not found", () => {
  assert.throws(() => runActivity(updateUserName, acme, { userId: "eve", userName: "x" }), {
    code: "not_found",
    message: "unable to find user eve in organization acme",
  });
});
