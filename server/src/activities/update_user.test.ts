import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { apiKey, organization, person } from "../../test/members.ts";
import type { Static } from "../fields/schema.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { put } from "../state/entities.ts";
import { updateUser } from "./update_user.ts";

const ann = person("ann", { apiKeys: [apiKey(0)], userTags: ["a"] });
const bob = person("bob", { userEmail: "bob@example.com", userPhoneNumber: "+15551234567" });
const acme = organization({ users: [ann, bob], tags: ["a", "b"], features: ["FEATURE_NAME_EMAIL_AUTH"] });

function run(params: Static<typeof updateUser.params>, pages = acme) {
  return runActivity(updateUser, pages, params);
}

test("what is given changes and the rest stays", () => {
  const params = { userId: "ann", userName: "Anna", userEmail: "anna@example.com", userPhoneNumber: "+4930123456" };
  const { userId, ...changed } = params;
  const { changes, result } = run(params);
  assert.deepEqual(changes, [put("user", { ...ann, ...changed, updatedAtMs: nowMs })]);
  assert.deepEqual(result, { userId });
});

test("null is the same as not given", () => {
  const { changes } = run({ userId: "bob", userName: null, userEmail: null, userTagIds: null, userPhoneNumber: null });
  assert.deepEqual(changes, [put("user", { ...bob, updatedAtMs: nowMs })]);
});

test("tags replace the whole set, each once, and an empty list takes all", () => {
  const tagsAfter = (userTagIds: string[]) => {
    const [change] = run({ userId: "ann", userTagIds }).changes;
    return change?.op === "put" && change.kind === "user" && change.value.userTags;
  };
  assert.deepEqual(tagsAfter(["b", "b"]), ["b"]);
  assert.deepEqual(tagsAfter([]), []);
});

test("an unknown tag and an unknown user are not found", () => {
  assert.throws(() => run({ userId: "ann", userTagIds: ["a", "z"] }), {
    code: "not_found",
    message: "unable to find user tag z in organization acme",
  });
  assert.throws(() => run({ userId: "eve" }), {
    code: "not_found",
    message: "unable to find user eve in organization acme",
  });
});

test("an empty contact is removed, unless it is the user's only way in", () => {
  const { userPhoneNumber: _, ...rest } = bob;
  assert.deepEqual(run({ userId: "bob", userPhoneNumber: "" }).changes, [put("user", { ...rest, updatedAtMs: nowMs })]);
  assert.throws(() => run({ userId: "bob", userEmail: "" }), {
    code: "invalid_argument",
    message:
      "user missing valid credential: bob; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does",
  });
});

test("bad contacts are refused", () => {
  assert.throws(() => run({ userId: "ann", userEmail: "x" }), { code: "invalid_argument", errorCode: "INVALID_EMAIL" });
  assert.throws(() => run({ userId: "ann", userPhoneNumber: "x" }), { code: "invalid_argument", message: /E\.164/ });
});

test("a user with an address that is refused today can still be changed, with the address sent along or not", () => {
  const old = person("old", { userEmail: ".old..@example.com" });
  const pages = organization({ users: [old], features: ["FEATURE_NAME_EMAIL_AUTH"] });
  const renamed = [put("user", { ...old, userName: "Olga", updatedAtMs: nowMs })];
  assert.deepEqual(run({ userId: "old", userName: "Olga" }, pages).changes, renamed);
  assert.deepEqual(run({ userId: "old", userName: "Olga", userEmail: ".old..@example.com" }, pages).changes, renamed);
  assert.throws(() => run({ userId: "old", userEmail: ".new@example.com" }, pages), { errorCode: "INVALID_EMAIL" });
});

test("keys, quorum and other things that are no part of an update are not taken from the parameters", () => {
  const params = { userId: "bob", apiKeys: [apiKey(9)], rootQuorum: ["bob"], createdAtMs: 0 };
  assert.equal(activityValidators[updateUser.type]?.(params), true);
  assert.deepEqual(run(params).changes, [put("user", { ...bob, updatedAtMs: nowMs })]);
});

test("nobody may do it to itself by default", () => {
  assert.equal(updateUser.ownCredentialOf, undefined);
});
