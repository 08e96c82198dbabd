import assert from "node:assert/strict";
import { test } from "node:test";
import { type ContextChanges, nowMs, runActivity } from "../../test/activity_context.ts";
import { apiKey, keyParams, organization, person } from "../../test/members.ts";
import type { Static } from "../fields/schema.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { put } from "../state/entities.ts";
import { createApiOnlyUsers } from "./create_api_only_users.ts";

const acme = organization({ users: [person("ann", { apiKeys: [apiKey(0)] })], tags: ["a"] });

type Params = Static<typeof createApiOnlyUsers.params>;
type ApiOnlyUser = Params["apiOnlyUsers"][number];

function keyOf(n: number) {
  const { curveType: _, ...key } = keyParams(n);
  return key;
}

function user(changes: Partial<ApiOnlyUser> = {}): ApiOnlyUser {
  return { userName: "Bot", userTags: [], apiKeys: [keyOf(1)], ...changes };
}

function run(apiOnlyUsers: ApiOnlyUser[], context: ContextChanges = {}) {
  return runActivity(createApiOnlyUsers, acme, { apiOnlyUsers }, context);
}

test("users are made with P-256 keys, an address and tags, and nothing else is taken from the parameters", () => {
  const sent = user({ userEmail: "bot@example.com", userTags: ["a"] });
  const odd = { ...sent, userPhoneNumber: "+15551234567", authenticators: [{}], oauthProviders: [{}] };
  assert.equal(activityValidators[createApiOnlyUsers.type]?.({ apiOnlyUsers: [odd] }), true);
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const made = { userId: "new 0", userName: "Bot", userEmail: "bot@example.com", userTags: ["a"], ...times };
  const { changes, result } = run([odd]);
  assert.deepEqual(changes, [put("user", { ...made, apiKeys: [apiKey(1, { apiKeyId: "new 1", ...times })] })]);
  assert.deepEqual(result, { userIds: ["new 0"] });
});

test("the rules of create_users hold: a way in, keys nobody has, known tags, valid addresses, all or none", () => {
  assert.throws(() => run([user(), user({ apiKeys: [] })]), { message: /^user missing valid credential: / });
  assert.throws(() => run([user({ apiKeys: [keyOf(0)] })]), { code: "already_exists" });
  assert.throws(() => run([user(), user()]), { code: "already_exists" });
  assert.throws(() => run([user({ userTags: ["z"] })]), { code: "not_found" });
  assert.throws(() => run([user({ userEmail: ".bot@example.com" })]), { errorCode: "INVALID_EMAIL" });
  const limits = { usersPerOrganization: 1 };
  assert.throws(() => run([user()], { limits }), { code: "resource_exhausted" });
});
