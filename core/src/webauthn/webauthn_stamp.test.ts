import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import {
  assertion,
  assertionParts,
  base64url,
  es256Passkey,
  registration,
  sha256,
} from "../../test/webauthn/authenticator.ts";
import { fromHex } from "../encoding/hex.ts";
import { verifyAssertion } from "./verify_assertion.ts";
import { verifyRegistration } from "./verify_registration.ts";
import { parseWebauthnStamp, stampChallenge, unverifiedAssertion } from "./webauthn_stamp.ts";

const passkey = es256Passkey(new Uint8Array(32).fill(3), "example.com", new Uint8Array(20).fill(0xfb));
const body = new TextEncoder().encode('{"organizationId":"…"}');
const made = assertion(passkey, assertionParts(passkey, stampChallenge(sha256(body))));
const texts = {
  authenticatorData: base64url(made.authenticatorData),
  clientDataJson: base64url(made.clientDataJson),
  credentialId: base64url(passkey.credentialId),
  signature: base64url(made.signature),
};

test("the challenge is the hex of the body's hash, as text", () => {
  assert.equal(
    stampChallenge(fromHex("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")),
    "MmNmMjRkYmE1ZmIwYTMwZTI2ZTgzYjJhYzViOWUyOWUxYjE2MWU1YzFmYTc0MjVlNzMwNDMzNjI5MzhiOTgyNA",
  );
});

test("a stamp is read and verifies for its body", () => {
  const { credentialId, ...read } = parseWebauthnStamp(JSON.stringify(texts));
  assert.deepEqual(read, made);
  assert.equal(credentialId, texts.credentialId);
  const rule = { allowedOrigins: undefined };
  const { publicKey, rpIdHash } = verifyRegistration(nodeCurves, registration(passkey), rule);
  const expected = { challenge: stampChallenge(sha256(body)), publicKey, rpIdHash, ...rule };
  assert.ok(verifyAssertion(nodeCurves, read, expected).verified);
});

test("plain base64 and padding are taken, and the id is always spelled alike", () => {
  const plain = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Buffer.from(text, "base64url").toString("base64")]),
  );
  assert.notDeepEqual(plain, texts);
  assert.deepEqual(parseWebauthnStamp(JSON.stringify(plain)), parseWebauthnStamp(JSON.stringify(texts)));
});

test("further keys, any order and any space are taken", () => {
  const more = JSON.stringify({ userHandle: null, ...texts, type: "public-key" }, undefined, 2);
  assert.deepEqual(parseWebauthnStamp(more), parseWebauthnStamp(JSON.stringify(texts)));
});

test("everything else is refused with the published text, and the log gets the reason", () => {
  const refused = (header: string, detail: RegExp) =>
    assert.throws(() => parseWebauthnStamp(header), {
      name: "Fault",
      code: "unauthenticated",
      errorCode: "SIGNATURE_INVALID",
      message: "could not extract webauthn stamp",
      detail,
    });
  const json = JSON.stringify(texts);
  refused("", /not JSON/);
  refused(base64url(json), /not JSON/);
  refused("null", /not an object/);
  refused(`[${json}]`, /not an object/);
  refused(`${json.slice(0, -1)},"signature":"AA"}`, /duplicate key/);
  refused(`{"signature":"AA",${json.slice(1)}`, /duplicate key/);
  refused(json.replace("clientDataJson", "clientDataJSON"), /clientDataJson is missing/);
  for (const name of Object.keys(texts)) {
    refused(JSON.stringify({ ...texts, [name]: undefined }), new RegExp(`${name} is missing`));
    refused(JSON.stringify({ ...texts, [name]: 5 }), new RegExp(`${name} is missing or not a string`));
    refused(JSON.stringify({ ...texts, [name]: "a" }), /malformed base64url/);
    refused(JSON.stringify({ ...texts, [name]: "+-==" }), /malformed base64url/);
  }
  refused(JSON.stringify({ ...texts, credentialId: "" }), /credential id is empty/);
  refused(JSON.stringify({ ...texts, credentialId: "é" }), /malformed base64url/);
  refused(JSON.stringify({ ...texts, more: "x".repeat(12 * 1024) }), /too long/);
});

test("an assertion that does not verify has the published refusal", () => {
  const { code, errorCode, message, detail } = unverifiedAssertion("why");
  assert.deepEqual(
    [code, errorCode, message, detail],
    ["unauthenticated", "SIGNATURE_INVALID", "could not verify WebAuthN signature", "why"],
  );
});
