import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { apiKey, organization, person } from "../../test/members.ts";
import { authenticator } from "../../test/passkeys.ts";
import type { User } from "../state/entities.ts";
import { deleteAuthenticators } from "./delete_authenticators.ts";

const run = (user: User, ids: string[]) =>
  runActivity(deleteAuthenticators, organization({ users: [user] }), { userId: "ann", authenticatorIds: ids });

const two = person("ann", { authenticators: [authenticator(0), authenticator(1)] });

test("the named passkeys go and the others stay; without any the user has no list", () => {
  const { changes, result } = run(two, ["passkey 0", "passkey 0"]);
  assert.deepEqual(result, { authenticatorIds: ["passkey 0"] });
  const [change] = changes;
  assert.ok(change?.op === "put" && change.kind === "user");
  assert.deepEqual(change.value, { ...two, authenticators: [authenticator(1)], updatedAtMs: nowMs });
  const withKey = { ...two, apiKeys: [apiKey(0)] };
  const [last] = run(withKey, ["passkey 0", "passkey 1"]).changes;
  assert.ok(last?.op === "put" && last.kind === "user");
  assert.equal(Object.hasOwn(last.value, "authenticators"), false);
});

test("an unknown passkey fails the whole request", () => {
  assert.throws(() => run(two, ["passkey 0", "passkey 7"]), {
    code: "not_found",
    message: "unable to find authenticator passkey 7 of user ann",
  });
});

test("the last passkey that lasts is kept, and an expiring key does not make up for it", () => {
  const refusal = { code: "invalid_argument", message: /^user missing valid credential: ann/ };
  assert.throws(() => run(two, ["passkey 0", "passkey 1"]), refusal);
  const expiring = { ...two, apiKeys: [apiKey(0, { expiresAtMs: nowMs + 1_000 })] };
  assert.throws(() => run(expiring, ["passkey 0", "passkey 1"]), refusal);
});
