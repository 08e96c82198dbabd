import assert from "node:assert/strict";
import { test } from "node:test";
import { newActivity } from "../../test/store_items.ts";
import { activityForms } from "../generated/activities.ts";
import { activityView, noRights } from "./activity_view.ts";
import { dialectOf } from "./dialect.ts";

function statusOf(type: string, result: string | null) {
  const row = newActivity({
    type,
    result,
    status: "ACTIVITY_STATUS_COMPLETED",
    body: Buffer.from('{"parameters":{}}'),
  });
  return activityView({ organizationId: "org", row, votes: [], rights: noRights }, dialectOf(undefined)).status;
}

function intentOf(type: string, parameters: object) {
  const body = Buffer.from(JSON.stringify({ parameters }));
  const record = { organizationId: "org", row: newActivity({ type, body }), votes: [], rights: noRights };
  return activityView(record, dialectOf(undefined)).intent;
}

test("the intent has the fields of the form's schema alone, at every depth, and none that are null", () => {
  const apiKey = { apiKeyName: "laptop", publicKey: "02ab", curveType: "API_KEY_CURVE_P256" };
  const user = { userName: "Ann", apiKeys: [apiKey], authenticators: [], oauthProviders: [], userTags: ["tag"] };
  const sent = {
    users: [
      {
        ...user,
        userEmail: null,
        userPhoneNumber: null,
        isAdmin: true,
        apiKeys: [{ ...apiKey, expirationSeconds: null, x: 1 }],
      },
      { ...user, userEmail: "ann@example.com" },
    ],
    more: "x".repeat(100),
  };
  assert.deepEqual(intentOf("ACTIVITY_TYPE_CREATE_USERS_V4", sent), {
    createUsersIntentV4: { users: [user, { ...user, userEmail: "ann@example.com" }] },
  });
});

test("a field of a later version is no part of an earlier one's intent", () => {
  const apiKey = { apiKeyName: "laptop", publicKey: "02ab", curveType: "API_KEY_CURVE_ED25519" };
  const { curveType: _, ...known } = apiKey;
  assert.deepEqual(intentOf("ACTIVITY_TYPE_CREATE_API_KEYS", { userId: "u", apiKeys: [apiKey] }), {
    createApiKeysIntent: { userId: "u", apiKeys: [known] },
  });
});

test("false, zero and empty texts are values, and a field named like an inherited one is none", () => {
  const sent = { subOrganizationName: "", rootUsers: [], rootQuorumThreshold: 0, disableSmsAuth: false, toString: "x" };
  const { toString: _, ...known } = sent;
  const intent = intentOf("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8", sent);
  assert.deepEqual(intent, { createSubOrganizationIntentV8: known });
});

test("every union in parameters is of something and null", () => {
  type Schema = { type?: string; properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[] };
  const check = ({ properties = {}, items, anyOf }: Schema) => {
    if (anyOf !== undefined) assert.deepEqual([anyOf.length, anyOf[1]?.type], [2, "null"]);
    for (const schema of [...Object.values(properties), ...(items ? [items] : []), ...(anyOf ?? [])]) check(schema);
  };
  for (const { params } of activityForms.values()) check(params as Schema);
});

test("a signature that is released and not yet in its row is pending, so that clients ask again", () => {
  const signature = JSON.stringify({ r: "00", s: "00", v: "00" });
  assert.equal(statusOf("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", null), "ACTIVITY_STATUS_PENDING");
  assert.equal(statusOf("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", signature), "ACTIVITY_STATUS_COMPLETED");
  assert.equal(statusOf("ACTIVITY_TYPE_DELETE_USER_TAGS", null), "ACTIVITY_STATUS_COMPLETED");
});
