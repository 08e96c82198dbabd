import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { apiKey, organization, person } from "../../test/members.ts";
import type { Static } from "../fields/schema.ts";
import { put } from "../state/entities.ts";
import { updateUserEmail } from "./update_user_email.ts";

const ann = person("ann", { apiKeys: [apiKey(0)] });
const bob = person("bob", { userEmail: "bob@example.com" });
const acme = organization({ users: [ann, bob], features: ["FEATURE_NAME_EMAIL_AUTH"] });

function run(params: Static<typeof updateUserEmail.params>) {
  return runActivity(updateUserEmail, acme, params);
}

test("the address is set as given, and two users may have one", () => {
  const { changes, result } = run({ userId: "ann", userEmail: "bob@example.com", verificationToken: null });
  assert.deepEqual(changes, [put("user", { ...ann, userEmail: "bob@example.com", updatedAtMs: nowMs })]);
  assert.deepEqual(result, { userId: "ann" });
});

test("an empty text removes it, unless it is the user's only way in", () => {
  assert.deepEqual(run({ userId: "ann", userEmail: "" }).changes, [put("user", { ...ann, updatedAtMs: nowMs })]);
  assert.throws(() => run({ userId: "bob", userEmail: "" }), {
    code: "invalid_argument",
    message:
      "user missing valid credential: bob; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does",
  });
});

test("what is no address, a token that is none, and an unknown user are refused", () => {
  assert.throws(() => run({ userId: "ann", userEmail: "ann" }), {
    code: "invalid_argument",
    errorCode: "INVALID_EMAIL",
    message: "invalid email address: `ann`: write it like name@example.com",
  });
  assert.throws(() => run({ userId: "ann", userEmail: "a@example.com", verificationToken: "a.b.c" }), {
    code: "invalid_argument",
    message: "invalid verification token: it is another kind of token",
  });
  assert.throws(() => run({ userId: "eve", userEmail: "" }), { code: "not_found" });
});
