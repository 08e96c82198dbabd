import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { apiKey, organization, person } from "../../test/members.ts";
import { put } from "../state/entities.ts";
import { deleteApiKeys } from "./delete_api_keys.ts";

const soon = { expiresAtMs: nowMs + 1 };
const past = { expiresAtMs: nowMs };
const ann = person("ann", { apiKeys: [apiKey(0), apiKey(1), apiKey(2, soon)] });
const bob = person("bob", { apiKeys: [apiKey(3), apiKey(4, soon)] });
const acme = organization({ users: [ann, bob] });

function run(userId: string, apiKeyIds: string[], pages = acme) {
  return runActivity(deleteApiKeys, pages, { userId, apiKeyIds });
}

const missing = (userId: string) => ({
  code: "invalid_argument",
  message: `user missing valid credential: ${userId}; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does`,
});

test("the keys go and the others stay; one named twice goes once", () => {
  const { changes, result } = run("ann", ["key 1", "key 2", "key 1"]);
  assert.deepEqual(changes, [put("user", { ...ann, apiKeys: [apiKey(0)], updatedAtMs: nowMs })]);
  assert.deepEqual(result, { apiKeyIds: ["key 1", "key 2"] });
});

test("a key of another user is not found, and nothing is deleted", () => {
  assert.throws(() => run("bob", ["key 4", "key 0"]), {
    code: "not_found",
    message: "unable to find api key key 0 of user bob",
  });
});

test("a root user cannot lose its last lasting key, also while it has one that expires", () => {
  assert.throws(() => run("ann", ["key 0", "key 1"]), missing("ann"));
  assert.throws(() => run("ann", ["key 0", "key 1", "key 2"]), missing("ann"));
});

test("another user may be left with a key that expires, and not with none", () => {
  assert.equal(run("bob", ["key 3"]).changes.length, 1);
  assert.throws(() => run("bob", ["key 3", "key 4"]), missing("bob"));
});

test("a key that has expired is no way in: the last live one stays", () => {
  const pages = organization({ users: [ann, person("bob", { apiKeys: [apiKey(3), apiKey(4, past)] })] });
  assert.throws(() => run("bob", ["key 3"], pages), missing("bob"));
  assert.equal(run("bob", ["key 4"], pages).changes.length, 1);
});

test("who has only expired keys may lose them", () => {
  const pages = organization({ users: [ann, person("bob", { apiKeys: [apiKey(4, past)] })] });
  assert.equal(run("bob", ["key 4"], pages).changes.length, 1);
});

test("the last key may go when a contact whose login is on remains, unless it is a root user's", () => {
  const carl = person("carl", { userEmail: "carl@example.com", apiKeys: [apiKey(5)] });
  const features = ["FEATURE_NAME_OTP_EMAIL_AUTH"] as const;
  assert.equal(run("carl", ["key 5"], organization({ users: [ann, carl], features })).changes.length, 1);
  assert.throws(() => run("carl", ["key 5"], organization({ users: [ann, carl] })), missing("carl"));
  assert.throws(() => run("carl", ["key 5"], organization({ users: [carl], features })), missing("carl"));
});

test("an unknown user is not found", () => {
  assert.throws(() => run("eve", ["key 0"]), { code: "not_found", message: /unable to find user eve/ });
});

test("the keys are the credentials of the user who has them", () => {
  assert.equal(deleteApiKeys.ownCredentialOf?.({ userId: "bob", apiKeyIds: [] }, "ann"), "bob");
});
