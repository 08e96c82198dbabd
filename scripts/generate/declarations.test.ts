import assert from "node:assert/strict";
import { test } from "node:test";
import { type Activity, checkDeclarations, commentAbove, type Query, readDeclarations } from "./declarations.ts";

const root = new URL("../..", import.meta.url).pathname;
const { activities, queries } = await readDeclarations(root);
const [activity] = activities;
const [query] = queries;
assert.ok(activity && query);

const other: Activity = {
  ...activity,
  path: "otp_login",
  type: "ACTIVITY_TYPE_OTP_LOGIN_V2",
  intentKey: "otpLoginIntentV2",
  resultKey: "otpLoginResult",
};

test("a versioned type with an unversioned result key is fine, as published clients read it", () => {
  checkDeclarations({ activities: [activity, other], queries });
});

test("names that clash or do not belong together are refused with the reason", () => {
  const refusals: [Activity[], Query[], RegExp][] = [
    [[activity, { ...other, path: activity.path }], [], /the path `.*` is declared twice/],
    [[activity, { ...other, type: activity.type }], [], /the type `.*` is declared twice/],
    [[activity, { ...other, resultKey: activity.resultKey }], [], /the result key `.*` is declared twice/],
    [[other], [{ ...query, path: other.path }], /the path `otp_login` is declared twice/],
    [[{ ...other, type: "OTP_LOGIN" }], [], /`OTP_LOGIN` is not an activity type/],
    [[{ ...other, intentKey: "otpLoginIntent" }], [], /intent key `otpLoginIntent` does not belong/],
    [[{ ...other, resultKey: "otpLoginOutcome" }], [], /result key `otpLoginOutcome` does not belong/],
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
