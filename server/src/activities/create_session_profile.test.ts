import assert from "node:assert/strict";
import { test } from "node:test";
import { type ContextChanges, nowMs, runActivity } from "../../test/activity_context.ts";
import { after, organization } from "../../test/members.ts";
import type { SessionProfileParams } from "../fields/session_profiles.ts";
import { put, type SessionProfile } from "../state/entities.ts";
import { createSessionProfile } from "./create_session_profile.ts";

const standing: SessionProfile = {
  sessionProfileId: "standing",
  sessionProfileName: "Standing",
  scope: "true",
  notes: "",
  createdAtMs: 1,
  updatedAtMs: 1,
};
const acme = after(organization(), { changes: [put("sessionProfile", standing)] });
const signing = { sessionProfileName: "Signing", scope: "activity.action == 'SIGN'" };

function create(params: SessionProfileParams, context: ContextChanges = {}) {
  return runActivity(createSessionProfile, acme, params, context);
}

test("a profile is kept as it is written, and what is left out is absent or empty", () => {
  const scope = `  activity.action  ==\n"SIGN"  `;
  const { changes, result } = create({ sessionProfileName: "A", scope, expirationSeconds: "60", notes: "a\nb" });
  assert.deepEqual(result, { sessionProfileId: "new 0" });
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const made = { sessionProfileId: "new 0", sessionProfileName: "A", scope, expirationSeconds: 60, notes: "a\nb" };
  assert.deepEqual(changes, [put("sessionProfile", { ...made, ...times })]);
  for (const params of [signing, { ...signing, expirationSeconds: null, notes: null }]) {
    const plain = { sessionProfileId: "new 0", ...signing, notes: "", ...times };
    assert.deepEqual(create(params).changes, [put("sessionProfile", plain)]);
  }
});

test("a scope is a condition, and what is wrong with it is said with its place", () => {
  for (const scope of ["activity.knd == ''", "activity.type", "(true", "approvers.count() > 0", "time.now"]) {
    assert.throws(() => create({ ...signing, scope }), {
      code: "invalid_argument",
      message: /^invalid session profile scope: .* at position \d+/,
    });
  }
});

test("no two profiles have names that look the same, and none has the default session's", () => {
  for (const [name, holder] of [
    ["standing", "Standing"],
    [" STANDING ", "Standing"],
    ["session_type_read_write", "SESSION_TYPE_READ_WRITE"],
  ]) {
    assert.throws(() => create({ ...signing, sessionProfileName: name ?? "" }), {
      code: "invalid_argument",
      message: `session profile name must be unique: \`${holder}\` exists`,
    });
  }
});

test("a lifetime is a whole number of seconds that the operator allows", () => {
  for (const expirationSeconds of ["", "0", "-1", "1.5", "0x10", "61"]) {
    assert.throws(() => create({ ...signing, expirationSeconds }, { limits: { maxSessionSeconds: 60 } }), {
      code: "invalid_argument",
      message: /^invalid session profile expiration: .* from 1 to 60 /,
    });
  }
});

test("only an organization without a parent makes profiles, up to its limit", () => {
  assert.throws(() => create(signing, { parentId: "parent" }), {
    code: "failed_precondition",
    message: "a sub-organization has the session profiles of its parent: create this one in organization parent",
  });
  const limits = { sessionProfilesPerOrganization: 1 };
  assert.throws(() => create(signing, { limits }), {
    code: "resource_exhausted",
    message:
      "organization has reached its limit of 1 session profiles; have the operator raise sessionProfilesPerOrganization in KEYSTEAD_LIMITS",
  });
});
