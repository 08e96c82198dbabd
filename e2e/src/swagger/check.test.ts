/** The checker finds what it is there to find: otherwise a clean run would say nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Complaints, createChecker, type Direction } from "./check.ts";
import { loosened, renamedProperties, renamedValues, type Spelling } from "./differences.ts";
import { findSwagger } from "./document.ts";

const id = "0b8a9a3e-8f0e-4b7b-9c55-0f6a1d9d2b11";
const time = { seconds: "1700000000", nanos: "0" };
const user = {
  userId: id,
  userName: "User",
  authenticators: [],
  apiKeys: [
    {
      credential: { publicKey: "02", type: "CREDENTIAL_TYPE_API_KEY_P256" },
      apiKeyId: id,
      apiKeyName: "Key",
      createdAt: time,
      updatedAt: time,
      expirationSeconds: "3600",
    },
  ],
  userTags: [id],
  oauthProviders: [],
  mfaPolicies: [],
  createdAt: time,
  updatedAt: time,
};
const activity = {
  id,
  organizationId: id,
  status: "ACTIVITY_STATUS_COMPLETED",
  type: "ACTIVITY_TYPE_CREATE_USER_TAG",
  intent: { createUserTagIntent: { userTagName: "Tag", userIds: ["whoever was asked for"] } },
  result: { createUserTagResult: { userTagId: id, userIds: [id] } },
  votes: [],
  fingerprint: `sha256:${"0".repeat(64)}`,
  canApprove: false,
  canReject: false,
  createdAt: time,
  updatedAt: time,
};

test("what is as published passes, and each way of not being so is found", (t) => {
  const document = findSwagger(t);
  if (document === undefined) return;
  const checker = createChecker(document);
  const check = (name: string, value: unknown, spelling: Spelling = "published", direction: Direction = "response") =>
    checker.definition(name, value, direction, spelling);

  assert.deepEqual(check("User", user), []);
  assert.deepEqual(check("User", { ...user, userEmail: null }), []);
  assert.deepEqual(check("Activity", activity), []);
  const rfc3339 = "2026-01-01T00:00:00.000Z";
  assert.deepEqual(check("Activity", { ...activity, createdAt: rfc3339, updatedAt: rfc3339 }, "own"), []);

  const { userName: _, ...nameless } = user;
  const [key] = user.apiKeys;
  const found: [name: string, complaints: Complaints, expected: RegExp][] = [
    ["a missing field", check("User", nameless), /^userName: missing$/],
    ["a null that may not be", check("User", { ...user, userName: null }), /^userName: must be a string/],
    [
      "a field of ours",
      check("User", { ...user, shoeSize: "43" }),
      /^shoeSize: the document has no such field in User$/,
    ],
    ["a number for a text", check("User", { ...user, userName: 7 }), /^userName: must be a string/],
    ["a text for a list", check("User", { ...user, userTags: "x" }), /^userTags: must be an array/],
    ["an item of a list", check("User", { ...user, userTags: [7] }), /^userTags\.0: must be a string/],
    ["an id that is none", check("User", { ...user, userId: "7" }), /^userId: must match/],
    [
      "an id that is none, in a list",
      check("User", { ...user, userTags: [], apiKeys: [{ ...key, apiKeyId: "x" }] }),
      /^apiKeys\.0\.apiKeyId: must match/,
    ],
    [
      "a number for an int64",
      check("User", { ...user, apiKeys: [{ ...key, expirationSeconds: 3600 }] }),
      /^apiKeys\.0\.expirationSeconds: must be a string/,
    ],
    [
      "an int64 that is none",
      check("User", { ...user, apiKeys: [{ ...key, expirationSeconds: "1.5" }] }),
      /must be a uint64 in text/,
    ],
    ["a value outside its enumeration", check("Activity", { ...activity, status: "DONE" }), /^status: must be one of/],
    ["a failure that is null", check("Activity", { ...activity, failure: null }), /^failure: must be an object/],
    [
      "an intent under another key",
      check("Activity", { ...activity, intent: { intent: {} } }),
      /^intent\.intent: the document has no such field/,
    ],
    [
      "a result under another key",
      check("Activity", { ...activity, result: { result: {} } }),
      /^result\.result: the document has no such field/,
    ],
    [
      "an id in a result",
      check("Activity", { ...activity, result: { createUserTagResult: { userTagId: "x", userIds: [] } } }),
      /userTagId: must match/,
    ],
    [
      "a time in the other spelling",
      check("Activity", { ...activity, createdAt: rfc3339 }),
      /^createdAt: must be an object/,
    ],
    ["a time in the other spelling", check("Activity", activity, "own"), /^createdAt: must be otherwise/],
    [
      "a fraction for an integer",
      check("external.data.v1.Quorum", { threshold: 1.5, userIds: [] }),
      /^threshold: must be an int32/,
    ],
    [
      "more than 32 bits",
      check("external.data.v1.Quorum", { threshold: 2 ** 31, userIds: [] }),
      /^threshold: must be an int32/,
    ],
    ["a path that is not there", checker.request("/public/v1/query/nothing", {}, "own"), /^the document has no path/],
  ];
  for (const [name, complaints, expected] of found) assert.match(complaints.join("\n"), expected, name);
});

test("the spec's names stand for the published ones, in the spelling that was asked for", (t) => {
  const document = findSwagger(t);
  if (document === undefined) return;
  const checker = createChecker(document);
  for (const { definition, published, own } of renamedValues) {
    const accepts = (value: string, direction: Direction, spelling: Spelling) =>
      checker.definition(definition, value, direction, spelling).length === 0;
    assert.deepEqual([accepts(own, "response", "own"), accepts(own, "response", "published")], [true, false]);
    assert.deepEqual(
      [accepts(published, "response", "own"), accepts(published, "response", "published")],
      [false, true],
    );
    for (const name of [own, published])
      assert.ok(accepts(name, "request", "own") && accepts(name, "request", "published"));
  }
  for (const { definition, published, own } of renamedProperties) {
    const complains = (name: string, spelling: Spelling) =>
      checker
        .definition(definition, { [name]: "x" }, "response", spelling)
        .some((complaint) => complaint === `${name}: the document has no such field in ${definition}`);
    assert.deepEqual([complains(own, "own"), complains(own, "published")], [false, true]);
    assert.deepEqual([complains(published, "own"), complains(published, "published")], [true, false]);
  }
});

test("the table of differences speaks of things the document has", (t) => {
  const document = findSwagger(t);
  if (document === undefined) return;
  for (const { definition } of [...loosened, ...renamedProperties, ...renamedValues]) {
    assert.ok(document.definitions[definition], definition);
  }
});
