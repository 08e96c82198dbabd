import assert from "node:assert/strict";
import { test } from "node:test";
import { runActivity } from "../../test/activity_context.ts";
import { organization } from "../../test/members.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { rejectActivity } from "./reject_activity.ts";

test("it is a vote: it has no result of its own and runs nothing", () => {
  assert.equal(rejectActivity.vote, "REJECTED");
  assert.equal(rejectActivity.resultKey, "");
  assert.throws(() => runActivity(rejectActivity, organization(), { fingerprint: "sha256:00" }), { code: "internal" });
});

test("any bounded text may name the activity: whether there is one is asked later", () => {
  const fits = (fingerprint: unknown) => activityValidators[rejectActivity.type]?.({ fingerprint });
  for (const text of [`sha256:${"0".repeat(64)}`, "sha256:00", "x"]) assert.equal(fits(text), true);
  for (const value of ["x".repeat(201), 5, null, undefined]) assert.equal(fits(value), false);
});
