import assert from "node:assert/strict";
import { test } from "node:test";
import { apiKey, madeAtMs, person, publicKey } from "../../test/members.ts";
import { credentialFactsOf, credentialsOf, isExpired, isLasting, withProven } from "./credentials.ts";

const ann = person("ann", { apiKeys: [apiKey(0), apiKey(1, { expiresAtMs: madeAtMs + 1, proven: true })] });

test("a user's credentials are described alike, the lasting and the expiring ones", () => {
  const [lasting, expiring] = credentialsOf(ann);
  assert.deepEqual(lasting, {
    kind: "apiKey",
    credentialId: "key 0",
    name: "key 0",
    type: "CREDENTIAL_TYPE_API_KEY_P256",
    curve: "API_KEY_CURVE_P256",
    publicKey: publicKey(0),
    expiresAtMs: undefined,
    proven: false,
    createdAtMs: madeAtMs,
    updatedAtMs: madeAtMs,
  });
  assert.ok(lasting && expiring);
  assert.deepEqual([isLasting(lasting), isLasting(expiring)], [true, false]);
  assert.deepEqual([isExpired(expiring, madeAtMs), isExpired(expiring, madeAtMs + 1)], [false, true]);
  assert.equal(isExpired(lasting, Number.MAX_SAFE_INTEGER), false);
});

test("policies see id, type and public key of a credential, and nothing else", () => {
  assert.deepEqual(credentialFactsOf(ann), [
    { id: "key 0", type: "CREDENTIAL_TYPE_API_KEY_P256", publicKey: publicKey(0) },
    { id: "key 1", type: "CREDENTIAL_TYPE_API_KEY_P256", publicKey: publicKey(1) },
  ]);
});

test("marking as proven touches only what is meant and not yet marked", () => {
  const marked = withProven(ann, ({ credentialId }) => credentialId === "key 0");
  assert.deepEqual(marked, { ...ann, apiKeys: [{ ...apiKey(0), proven: true }, ann.apiKeys[1]] });
  assert.equal(
    withProven(ann, ({ credentialId }) => credentialId === "key 1"),
    ann,
  );
});
