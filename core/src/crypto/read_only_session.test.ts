import assert from "node:assert/strict";
import { test } from "node:test";
import { p256 } from "@noble/curves/nist.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { fromBase64url, toBase64url } from "../encoding/base64url.ts";
import { nobleCurves } from "./noble_curves.ts";
import { makeReadOnlySession, parseReadOnlySession, verifyReadOnlySession } from "./read_only_session.ts";
import { makeSessionJwt } from "./session_jwt.ts";

const privateKey = new Uint8Array(32).fill(7);
const publicKey = p256.getPublicKey(privateKey);
const notarizer = { sign: (message: Uint8Array) => p256.sign(message, privateKey) };
const session = {
  organizationId: "c75ecb07-c84a-4dd5-932c-539dfafc6864",
  userId: "6912b819-f4df-40f4-a192-20ee43090974",
  expiresAtSeconds: 1_748_876_837,
};
const text = makeReadOnlySession(notarizer, session);
const verify = (sent: string, key = publicKey) => verifyReadOnlySession(nobleCurves, key, parseReadOnlySession(sent));

test("a session is read as it was made, and verifies under the key that made it alone", () => {
  const { organizationId, userId, expiresAtSeconds } = parseReadOnlySession(text);
  assert.deepEqual({ organizationId, userId, expiresAtSeconds }, session);
  assert.equal(text.length, 140);
  assert.equal(verify(text), true);
  assert.equal(verify(text, p256.getPublicKey(new Uint8Array(32).fill(8))), false);
});

test("no bit of it can be changed", () => {
  const bytes = fromBase64url(text);
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const bent = Uint8Array.from(bytes);
    bent[bit >> 3] = (bent[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    let isTaken = false;
    try {
      isTaken = verify(toBase64url(bent));
    } catch (error) {
      assert.equal((error as { code: string }).code, "invalid_argument");
    }
    assert.equal(isTaken, false, `bit ${bit}`);
  }
});

test("whatever has another length or format is no session", () => {
  const bytes = fromBase64url(text);
  const others = [
    bytes.subarray(1),
    Uint8Array.of(...bytes, 0),
    new Uint8Array(0),
    Uint8Array.of(2, ...bytes.slice(1)),
  ];
  for (const other of others) {
    assert.throws(() => parseReadOnlySession(toBase64url(other)), { code: "invalid_argument" });
  }
  assert.throws(() => parseReadOnlySession("not base64!"), { code: "invalid_argument" });
});

test("the signature of a login's token is none of a session, nor the reverse", () => {
  const { claims, signature } = parseReadOnlySession(text);
  const token = makeSessionJwt(notarizer, { ...session, publicKey: "02".repeat(33), sessionType: "x" });
  const [head, payload, signed = ""] = token.split(".");
  const swapped = toBase64url(Uint8Array.of(...claims, ...fromBase64url(signed)));
  assert.equal(verify(swapped), false);
  const message = sha256(new TextEncoder().encode(`${head}.${payload}`));
  assert.equal(p256.verify(signature, message, publicKey), false);
});
