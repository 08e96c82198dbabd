import assert from "node:assert/strict";
import { test } from "node:test";
import { p256 } from "@noble/curves/nist.js";
import { type ContextChanges, nowMs, runActivity } from "../../test/activity_context.ts";
import { apiKey, keyParams, organization, person, publicKey } from "../../test/members.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { put } from "../state/entities.ts";
import { createApiKeys } from "./create_api_keys.ts";

const ann = person("ann", { apiKeys: [apiKey(0)] });
const bob = person("bob", { apiKeys: [apiKey(1)] });
const acme = organization({ users: [ann, bob] });

function run(userId: string, apiKeys: ReturnType<typeof keyParams>[], context: ContextChanges = {}, pages = acme) {
  return runActivity(createApiKeys, pages, { userId, apiKeys }, context);
}

test("keys are added after those the user has, and answered in the order asked", () => {
  const { changes, result } = run("bob", [keyParams(2), keyParams(3, { expirationSeconds: "900" })]);
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const added = [
    apiKey(2, { apiKeyId: "new 0", ...times }),
    apiKey(3, { apiKeyId: "new 1", expiresAtMs: nowMs + 900_000, ...times }),
  ];
  assert.deepEqual(changes, [put("user", { ...bob, apiKeys: [apiKey(1), ...added], updatedAtMs: nowMs })]);
  assert.deepEqual(result, { apiKeyIds: ["new 0", "new 1"] });
});

test("a key of this user, of another of the organization, or given twice, is refused", () => {
  for (const keys of [[keyParams(1)], [keyParams(0)], [keyParams(2), keyParams(2)]]) {
    assert.throws(() => run("bob", keys), {
      code: "already_exists",
      message: `public key \`${keys.at(-1)?.publicKey}\` already belongs to a user of this organization; make another key pair`,
    });
  }
});

test("a key that somebody has, or one too many, is refused before any curve work", () => {
  const curves = { ...nodeCurves, compressPoint: () => assert.fail("curve work") };
  assert.throws(() => run("bob", [keyParams(2), keyParams(0)], { curves }), { code: "already_exists" });
  const ten = Array.from({ length: 10 }, (_, n) => keyParams(10 + n));
  assert.throws(() => run("bob", ten, { curves }), { code: "resource_exhausted" });
});

test("the same key, in upper case or uncompressed, is the same key", () => {
  const uncompressed = p256.Point.fromHex(publicKey(0)).toHex(false);
  for (const spelling of [publicKey(0).toUpperCase(), uncompressed]) {
    assert.throws(() => run("bob", [keyParams(0, { publicKey: spelling })]), { code: "already_exists" });
  }
});

test("an eleventh expiring key makes room for itself, and the one that goes may be the caller's own", () => {
  const sessions = Array.from({ length: 10 }, (_, n) =>
    apiKey(10 + n, { expiresAtMs: nowMs + 1_000, createdAtMs: nowMs - 100 + n }),
  );
  const pages = organization({ users: [person("ann", { apiKeys: [apiKey(0), ...sessions] })] });
  const { changes } = run("ann", [keyParams(30, { expirationSeconds: "900" })], { userId: "ann" }, pages);
  const [change] = changes;
  assert.ok(change?.op === "put" && change.kind === "user");
  const left = change.value.apiKeys.map((key) => key.apiKeyId);
  assert.deepEqual(left, ["key 0", ...sessions.slice(1).map((key) => key.apiKeyId), "new 0"]);
});

test("an eleventh long-lived key is refused", () => {
  const keys = Array.from({ length: 10 }, (_, n) => apiKey(10 + n));
  const pages = organization({ users: [person("ann", { apiKeys: keys })] });
  assert.throws(() => run("ann", [keyParams(30)], {}, pages), {
    code: "resource_exhausted",
    message:
      "user has exceeded maximum long-lived api keys: delete one with delete_api_keys, or set expirationSeconds for the new one",
  });
});

test("an unknown user is not found", () => {
  assert.throws(() => run("eve", [keyParams(2)]), {
    code: "not_found",
    message: "unable to find user eve in organization acme",
  });
});

test("the keys are the credentials of the user they are added to, and of nobody else", () => {
  assert.equal(createApiKeys.ownCredentialOf?.({ userId: "bob", apiKeys: [] }, "ann"), "bob");
});

test("the first version's keys had no curve and are P-256", () => {
  const [version] = createApiKeys.versions ?? [];
  const keyV1 = { apiKeyName: "laptop", publicKey: publicKey(2), expirationSeconds: "60" };
  const params = { userId: "bob", apiKeys: [keyV1, { apiKeyName: "desk", publicKey: publicKey(3) }] };
  assert.equal(version?.type, "ACTIVITY_TYPE_CREATE_API_KEYS");
  assert.equal(activityValidators.ACTIVITY_TYPE_CREATE_API_KEYS?.(params), true);
  assert.deepEqual(version?.translate(params as never), {
    userId: "bob",
    apiKeys: [
      { ...keyV1, curveType: "API_KEY_CURVE_P256" },
      { apiKeyName: "desk", publicKey: publicKey(3), curveType: "API_KEY_CURVE_P256" },
    ],
  });
});
