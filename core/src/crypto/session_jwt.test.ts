import assert from "node:assert/strict";
import { test } from "node:test";
import { p256 } from "@noble/curves/nist.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { escapeForAtob, makeSessionJwt, type SessionClaims } from "./session_jwt.ts";

const privateKey = new Uint8Array(32).fill(7);
const notarizer = { sign: (message: Uint8Array) => p256.sign(message, privateKey, { lowS: false }) };
const claims: SessionClaims = {
  expiresAtSeconds: 1_748_876_837,
  publicKey: "0399fe2ace6208af0adf848f44bc48210b594b7e69ecd91ec968fd75b3bb448336",
  sessionType: "SESSION_TYPE_READ_WRITE",
  userId: "6912b819-f4df-40f4-a192-20ee43090974",
  organizationId: "c75ecb07-c84a-4dd5-932c-539dfafc6864",
};

/** The signed part of a token that the hosted service of this wire has made of the same claims. */
const recorded =
  "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjE3NDg4NzY4MzcsInB1YmxpY19rZXkiOiIwMzk5ZmUyYWNlNjIwOGFmMGFkZjg0OGY0NGJjNDgyMTBiNTk0YjdlNjllY2Q5MWVjOTY4ZmQ3NWIzYmI0NDgzMzYiLCJzZXNzaW9uX3R5cGUiOiJTRVNTSU9OX1RZUEVfUkVBRF9XUklURSIsInVzZXJfaWQiOiI2OTEyYjgxOS1mNGRmLTQwZjQtYTE5Mi0yMGVlNDMwOTA5NzQiLCJvcmdhbml6YXRpb25faWQiOiJjNzVlY2IwNy1jODRhLTRkZDUtOTMyYy01MzlkZmFmYzY4NjQifQ";

test("header, claims and their order are those of a recorded token", () => {
  const token = makeSessionJwt(notarizer, claims);
  assert.equal(token.slice(0, token.lastIndexOf(".")), recorded);
});

test("the signature is over the hash of the hash, so that it is no ES256", () => {
  const token = makeSessionJwt(notarizer, claims);
  const signature = Buffer.from(token.slice(token.lastIndexOf(".") + 1), "base64url");
  const publicKey = p256.getPublicKey(privateKey);
  const signed = new TextEncoder().encode(recorded);
  assert.equal(p256.verify(signature, sha256(signed), publicKey, { lowS: false }), true);
  assert.equal(p256.verify(signature, signed, publicKey, { lowS: false }), false);
});

test("base64 and base64url of an escaped text are the same, and it means what it meant", () => {
  const all = Array.from({ length: 0x500 }, (_, index) => String.fromCharCode(index)).join("");
  for (let shift = 0; shift < 3; shift++) {
    const value = { scope: `${"x".repeat(shift)}${all}\u{1f511}` };
    const escaped = escapeForAtob(JSON.stringify(value));
    assert.deepEqual(JSON.parse(escaped), value);
    assert.doesNotMatch(Buffer.from(escaped).toString("base64"), /[+/]/);
  }
});
