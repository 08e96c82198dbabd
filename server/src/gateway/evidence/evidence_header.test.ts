import assert from "node:assert/strict";
import { test } from "node:test";
import { evidenceHeaders } from "../../evidence/evidence.ts";
import { readEvidence } from "./evidence_header.ts";

test("evidence is found by its header in any case, among others", () => {
  const headers = ["Host", "x", "X-STAMP", "abc", "X-Client-Version", "x-stamp"];
  assert.deepEqual(readEvidence(headers, "query"), { kind: "apiKey", value: "abc" });
  assert.deepEqual(readEvidence(["X-Stamp-WebAuthn", "{}"], "submit"), { kind: "webauthn", value: "{}" });
});

test("two headers of evidence are refused, whichever they are", () => {
  const malformed = { code: "unauthenticated", message: "malformed activity stamp", errorCode: "SIGNATURE_INVALID" };
  for (const one of evidenceHeaders) {
    for (const other of evidenceHeaders) {
      assert.throws(() => readEvidence([one, "a", other, "a"], "submit"), malformed, `${one} and ${other}`);
    }
  }
});

test("a read-only session is evidence of queries, and of no submit", () => {
  assert.deepEqual(readEvidence(["X-Session", "abc"], "query"), { kind: "readOnlySession", value: "abc" });
  assert.throws(() => readEvidence(["X-Session", "abc"], "submit"), {
    code: "permission_denied",
    message: "request not authorized: a read-only session cannot submit activities",
    errorCode: "REQUEST_NOT_AUTHORIZED",
  });
});

test("a request without evidence is told so", () => {
  const errorCode = "SIGNATURE_MISSING";
  assert.throws(() => readEvidence(["Host", "x"], "query"), {
    message: "no valid authentication signature found for request",
    errorCode,
  });
  assert.throws(() => readEvidence([], "submit"), {
    message: "cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)",
    errorCode,
  });
});
