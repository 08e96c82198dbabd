import assert from "node:assert/strict";
import { test } from "node:test";
import { findVectors } from "../../../test/vectors.ts";
import { activityKinds, kindOf } from "./activity_kinds.ts";
import { activityParams, wireNames } from "./activity_params.ts";

test("the kind of an activity is its type without prefix and version", () => {
  assert.equal(kindOf("ACTIVITY_TYPE_SIGN_TRANSACTION_V2"), "SIGN_TRANSACTION");
  assert.equal(kindOf("ACTIVITY_TYPE_SIGN_TRANSACTION"), "SIGN_TRANSACTION");
  assert.equal(kindOf("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V10"), "CREATE_SUB_ORGANIZATION");
  assert.equal(kindOf("ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL"), "CREATE_OAUTH2_CREDENTIAL");
  assert.equal(kindOf("ACTIVITY_TYPE_OAUTH2_AUTHENTICATE"), "OAUTH2_AUTHENTICATE");
});

test("both spellings of undelegating are one kind", () => {
  assert.equal(kindOf("ACTIVITY_TYPE_ETH_UNDELEGATE_7702"), "ETH_UNDELEGATE_7702");
  assert.equal(kindOf("ACTIVITY_TYPE_ETH_UNDELEGATE7702"), "ETH_UNDELEGATE_7702");
});

test("all that signs is PRIVATE_KEY SIGN, whoever holds the key", () => {
  const signing = Object.keys(activityKinds).filter((kind) => activityKinds[kind]?.action === "SIGN");
  assert.equal(signing.length, 14);
  for (const kind of signing) assert.equal(activityKinds[kind]?.resource, "PRIVATE_KEY");
});

test("votes, acts of the root quorum and names nobody has heard of have no row", () => {
  for (const kind of [
    ...["APPROVE_ACTIVITY", "REJECT_ACTIVITY", "CREATE_ORGANIZATION", "ACCEPT_INVITATION"],
    ...["UPDATE_ROOT_QUORUM", "SET_ORGANIZATION_FEATURE", "REMOVE_ORGANIZATION_FEATURE", "UPDATE_ORGANIZATION_NAME"],
    ...["constructor", "toString", "__proto__", ""],
  ]) {
    assert.equal(activityKinds[kind], undefined, kind);
  }
});

test("each kind has one row, and parameters are shown of known kinds only", () => {
  assert.equal(Object.keys(activityKinds).length, 119);
  for (const kind of Object.keys(activityParams)) assert.ok(activityKinds[kind] !== undefined, kind);
  assert.equal(Object.keys(activityParams).length, 27);
});

type Swagger = {
  definitions: Record<string, { enum?: string[]; properties?: Record<string, { type?: string; $ref?: string }> }>;
};

test("every published type of activity has a row or is one that no policy decides on", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const { definitions } = vectors.json<Swagger>("../reference/public_api.swagger.json");
  const types = definitions.ActivityType?.enum ?? [];
  assert.equal(types.length, 162);
  const missing = new Set(types.map(kindOf).filter((kind) => activityKinds[kind] === undefined));
  assert.deepEqual([...missing].sort(), [
    "ACCEPT_INVITATION",
    "APPROVE_ACTIVITY",
    "CREATE_ORGANIZATION",
    "REJECT_ACTIVITY",
    "REMOVE_ORGANIZATION_FEATURE",
    "SET_ORGANIZATION_FEATURE",
    "UPDATE_ORGANIZATION_NAME",
    "UPDATE_ROOT_QUORUM",
  ]);
});

test("every parameter that policies see is one of the wire's, under its name in camel case", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const { definitions } = vectors.json<Swagger>("../reference/public_api.swagger.json");
  const camel = (name: string): string => name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  const unknown: string[] = [];
  let found = 0;
  for (const [kind, params] of Object.entries(activityParams)) {
    const intent = `${camel(`_${kind.toLowerCase()}`)}Intent`;
    const versions = Object.keys(definitions).filter((name) => new RegExp(`^${intent}(V\\d+)?$`).test(name));
    for (const name of Object.keys(params)) {
      const key = wireNames[name] ?? camel(name);
      if (versions.some((version) => definitions[version]?.properties?.[key] !== undefined)) found++;
      else unknown.push(`${kind} ${name}`);
    }
  }
  // Newer than the copy of the interface that lies here.
  assert.deepEqual(unknown, ["CREATE_SWAP_QUOTE destination_address", "EXECUTE_SWAP destination_address"]);
  assert.equal(found, 45);
});
