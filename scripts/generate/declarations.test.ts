import assert from "node:assert/strict";
import { test } from "node:test";
import { type Activity, checkDeclarations, commentAbove, type Query, readDeclarations } from "./declarations.ts";

const root = new URL("../..", import.meta.url).pathname;
const { activities, queries } = await readDeclarations(root);
const activity = activities.find(({ path }) => path === "create_users");
const vote = activities.find(({ path }) => path === "approve_activity");
const [query] = queries;
assert.ok(activity && vote && query);

const names = { type: "ACTIVITY_TYPE_OTP_LOGIN_V2", intentKey: "otpLoginIntentV2" };
const other: Activity = {
  ...activity,
  ...names,
  path: "otp_login",
  resultKey: "otpLoginResult",
  forms: [{ ...names, resultKey: "otpLoginResult", validated: activity.forms[0]?.validated ?? assert.fail() }],
};
/** The same with other names for its only form. */
const called = (changed: Partial<typeof names>): Activity => ({
  ...other,
  ...changed,
  forms: other.forms.map((form) => ({ ...form, ...changed })),
});

test("a versioned type with an unversioned result key is fine, as published clients read it", () => {
  checkDeclarations({ activities: [activity, other], queries });
});

test("names that clash or do not belong together are refused with the reason", () => {
  const refusals: [Activity[], Query[], RegExp][] = [
    [[activity, { ...other, path: activity.path }], [], /the path `.*` is declared twice/],
    [[activity, called({ type: activity.type })], [], /the type `ACTIVITY_TYPE_CREATE_USERS_V4` is declared twice/],
    [[activity, called({ type: "ACTIVITY_TYPE_CREATE_USERS" })], [], /the type `ACTIVITY_TYPE_CREATE_USERS` is/],
    [
      [activity, called({ intentKey: "createUsersIntent" })],
      [],
      /the intent key `createUsersIntent` is declared twice/,
    ],
    [[activity, { ...other, resultKey: activity.resultKey }], [], /the result key `.*` is declared twice/],
    [[other], [{ ...query, path: other.path }], /the path `otp_login` is declared twice/],
    [[called({ type: "OTP_LOGIN" })], [], /`OTP_LOGIN` is not an activity type/],
    [[called({ intentKey: "otpLoginIntent" })], [], /intent key `otpLoginIntent` does not belong/],
    [[{ ...other, resultKey: "otpLoginOutcome" }], [], /result key `otpLoginOutcome` does not belong/],
    [[{ ...vote, resultKey: "approveActivityResult" }], [], /result key `approveActivityResult` does not belong/],
    [[{ ...activity, resultKey: "" }], [], /result key `` does not belong/],
    [[{ ...other, result: { type: "object", properties: { activity: {} } } }], [], /cannot be called `activity`/],
    [[], [{ ...query, request: { type: "object", properties: {} } }], /names its organizationId/],
  ];
  for (const [someActivities, someQueries, message] of refusals) {
    assert.throws(() => checkDeclarations({ activities: someActivities, queries: someQueries }), message);
  }
});

test("the description is the comment right above the declaration, on one line", () => {
  const source = `/** Of the file. */
const x = 1;
/**
 * Says who
 * it is.
 */
export const whoami = defineQuery({});
export const bare = 1;`;
  assert.equal(commentAbove(source, "whoami"), "Says who it is.");
  assert.equal(commentAbove(source, "bare"), "");
});
