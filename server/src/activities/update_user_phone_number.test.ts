import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { apiKey, organization, person } from "../../test/members.ts";
import type { Static } from "../fields/schema.ts";
import { put } from "../state/entities.ts";
import { updateUserPhoneNumber } from "./update_user_phone_number.ts";

const ann = person("ann", { apiKeys: [apiKey(0)] });
const bob = person("bob", { userPhoneNumber: "+15551234567" });
const acme = organization({ users: [ann, bob], features: ["FEATURE_NAME_SMS_AUTH"] });

function run(params: Static<typeof updateUserPhoneNumber.params>) {
  return runActivity(updateUserPhoneNumber, acme, params);
}

test("the number is set as given, and two users may have one", () => {
  const { changes, result } = run({ userId: "ann", userPhoneNumber: "+15551234567", verificationToken: "" });
  assert.deepEqual(changes, [put("user", { ...ann, userPhoneNumber: "+15551234567", updatedAtMs: nowMs })]);
  assert.deepEqual(result, { userId: "ann" });
});

test("an empty text removes it, unless it is the user's only way in", () => {
  assert.deepEqual(run({ userId: "ann", userPhoneNumber: "" }).changes, [put("user", { ...ann, updatedAtMs: nowMs })]);
  assert.throws(() => run({ userId: "bob", userPhoneNumber: "" }), {
    code: "invalid_argument",
    message:
      "user missing valid credential: bob; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does",
  });
});

test("what is not in E.164 form, a token that is none, and an unknown user are refused", () => {
  assert.throws(() => run({ userId: "ann", userPhoneNumber: "555" }), {
    code: "invalid_argument",
    message: "invalid phone number: `555` is not in E.164 form, like +15551234567",
  });
  assert.throws(() => run({ userId: "ann", userPhoneNumber: "+15551234567", verificationToken: "a.b.c" }), {
    code: "invalid_argument",
    message: "invalid verification token: it is another kind of token",
  });
  assert.throws(() => run({ userId: "eve", userPhoneNumber: "" }), { code: "not_found" });
});
