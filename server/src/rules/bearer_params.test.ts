import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { someToken, testTradeCode, testUseToken } from "../../test/bearer_endpoints.ts";
import { type AnyActivity, formsOf } from "../endpoints/define_activity.ts";
import { bearerEndsAtMs, isWholeBody, shownBody, withoutBearerValues } from "./bearer_params.ts";

const nowMs = 1_800_000_000_000;
const dayMs = 86_400_000;

const [useToken] = formsOf(testUseToken as unknown as AnyActivity);
const [tradeCode] = formsOf(testTradeCode as unknown as AnyActivity);
assert.ok(useToken && tradeCode);

const digest = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const bytesOf = (body: object) => Buffer.from(JSON.stringify(body));

const organizationId = "7ff189fb-df7d-452e-8540-57632e380b77";
const envelope = { type: useToken.type, timestampMs: String(nowMs), organizationId };

test("the last value says when all have ended", () => {
  const [short, long] = [someToken(nowMs + 1_000), someToken(nowMs + 5_000)];
  const users = [{ userName: "Kim" }, { userName: "Lee", token: long }];
  assert.equal(bearerEndsAtMs(useToken, { verificationToken: short, note: "" }, nowMs), nowMs + 1_000);
  assert.equal(bearerEndsAtMs(useToken, { verificationToken: short, note: "", users }, nowMs), nowMs + 5_000);
  assert.equal(bearerEndsAtMs(tradeCode, { otpCode: "ABC123" }, nowMs), nowMs + 600_000);
});

test("what says nothing, or anything, about its end counts as the longest token and no longer", () => {
  for (const verificationToken of ["not a token", someToken(nowMs + 1_000 * dayMs), "a.b.c"]) {
    assert.equal(bearerEndsAtMs(useToken, { verificationToken, note: "" }, nowMs), nowMs + 2 * dayMs);
  }
});

test("parameters without a value are not sealed, and shown as they are", () => {
  for (const verificationToken of [undefined, null, ""]) {
    const parameters = { verificationToken, note: "n", users: null };
    assert.equal(bearerEndsAtMs(useToken, parameters, nowMs), undefined);
    assert.equal(shownBody(useToken, bytesOf({ ...envelope, parameters })), undefined);
  }
});

test("the shown form has the known fields alone, and a digest wherever the value stood", () => {
  const token = someToken(nowMs + 1_000);
  const parameters = {
    verificationToken: token,
    note: `a ${token} b`,
    users: [{ userName: token, token, more: token }],
    more: token,
  };
  const shown = shownBody(useToken, bytesOf({ ...envelope, parameters, generateAppProofs: true, more: token }));
  assert.ok(shown);
  assert.deepEqual(JSON.parse(Buffer.from(shown).toString()), {
    ...envelope,
    parameters: {
      verificationToken: digest(token),
      note: `a ${digest(token)} b`,
      users: [{ userName: digest(token), token: digest(token) }],
    },
  });
});

test("a short code is replaced in its own place and leaves other texts alone", () => {
  const code = { type: tradeCode.type, timestampMs: "1800000123456", organizationId };
  const shown = shownBody(tradeCode, bytesOf({ ...code, parameters: { otpCode: "123456" } }));
  assert.ok(shown);
  assert.deepEqual(JSON.parse(Buffer.from(shown).toString()), { ...code, parameters: { otpCode: digest("123456") } });
  assert.equal(withoutBearerValues(tradeCode, { otpCode: "123456" }, "at 123456"), "at 123456");
});

test("a body proves itself by its hash, and only where it could be closed is it hashed", () => {
  const body = bytesOf({ ...envelope, parameters: { verificationToken: "x", note: "" } });
  const fingerprint = createHash("sha256").update(body).digest("hex");
  assert.equal(isWholeBody(testUseToken, { body, fingerprint }), true);
  assert.equal(isWholeBody(testUseToken, { body: shownBody(useToken, body) ?? body, fingerprint }), false);
  assert.equal(isWholeBody({}, { body, fingerprint: "another" }), true);
});
