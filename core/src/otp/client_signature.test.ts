import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import { p256Key, signMessage } from "../../test/otp/bases.ts";
import { seededRandom } from "../../test/seeded_random.ts";
import { type ClientSignature, checkClientSignature, type TokenUsage } from "./client_signature.ts";

const holder = p256Key(seededRandom(5));
const session = p256Key(seededRandom(6));
const tokenId = "eb39b199-3352-4289-b31f-57194c79609c";
const token = { tokenId, publicKey: holder.publicKey };
const login: TokenUsage = { kind: "login", publicKey: session.publicKey };
const loginMessage = { login: { publicKey: session.publicKey }, tokenId, type: "USAGE_TYPE_LOGIN" };
const check = (sent: ClientSignature, usage: TokenUsage = login) =>
  checkClientSignature(nodeCurves, token, sent, usage);
const says = (message: unknown, usage: TokenUsage = login) =>
  check(signMessage(holder, typeof message === "string" ? message : JSON.stringify(message)), usage);
const refusal = (why: RegExp) => ({ code: "invalid_argument", message: why });

test("a recorded signature of the published form verifies", () => {
  const publicKey = "02f739f8c77b32f4d5f13265861febd76e7a9c61a1140d296b8c16302508870316";
  const sent = {
    publicKey,
    scheme: "CLIENT_SIGNATURE_SCHEME_API_P256",
    message: `{"login":{"publicKey":"${publicKey}"},"tokenId":"${tokenId}","type":"USAGE_TYPE_LOGIN"}`,
    signature:
      "f1e2199252f99d605e4c6f16ee89778650669134f6acce641dd6846ab48fb3a0e25e600ef45b03b6e1c0e36bd9b6db0402ce001ca3515b1954a488c299dce03c",
  };
  checkClientSignature(nodeCurves, { tokenId, publicKey }, sent, { kind: "login", publicKey });
  const other = { tokenId, publicKey: holder.publicKey };
  const usage: TokenUsage = { kind: "login", publicKey };
  assert.throws(() => checkClientSignature(nodeCurves, other, sent, usage), refusal(/its key is not that of/));
});

test("a login is compared by meaning: order, blanks and spelling of keys do not matter", () => {
  says(loginMessage);
  says(`{ "type" : "USAGE_TYPE_LOGIN",\n"tokenId":"${tokenId}", "login": {"publicKey":"${session.publicKey}"} }`);
  says({ ...loginMessage, login: { publicKey: session.longPublicKey.toUpperCase() }, signup: null });
  says(loginMessage, { kind: "login", publicKey: session.longPublicKey });
});

test("a login for another session key, token or usage is refused, and each says why", () => {
  assert.throws(
    () => says({ ...loginMessage, login: { publicKey: holder.publicKey } }),
    refusal(/names another publicKey/),
  );
  assert.throws(
    () => says({ ...loginMessage, tokenId: tokenId.replace("e", "f") }),
    refusal(/names another verification token/),
  );
  assert.throws(() => says({ ...loginMessage, type: "USAGE_TYPE_SIGNUP" }), refusal(/type in its message must be/));
  assert.throws(() => says({ ...loginMessage, signupV2: {} }), refusal(/`signupV2`, which does not belong/));
  assert.throws(
    () => says({ ...loginMessage, login: { publicKey: session.publicKey, scope: "x" } }),
    refusal(/only a publicKey/),
  );
  assert.throws(() => says("{}"), refusal(/names another verification token/));
  assert.throws(() => says("[]"), refusal(/not an object/));
  assert.throws(() => says(`{"type":"a","type":"USAGE_TYPE_LOGIN"}`), refusal(/everybody reads alike/));
  const unbound = { tokenId, publicKey: undefined };
  assert.throws(
    () => checkClientSignature(nodeCurves, unbound, signMessage(holder, "{}"), login),
    refusal(/bound to no key/),
  );
});

const apiKey = { apiKeyName: "a", publicKey: holder.publicKey, curveType: "API_KEY_CURVE_P256" };
const signUp = { apiKeys: [apiKey], authenticators: [], oauthProviders: [], email: "user@example.com" };

for (const form of ["signup", "signupV2"] as const) {
  test(`a ${form} is compared by meaning, absent lists being empty ones`, () => {
    const usage: TokenUsage = { kind: "signup", form, ...signUp };
    const message = (part: object) => ({ [form]: part, tokenId, type: "USAGE_TYPE_SIGNUP" });
    says(message(signUp), usage);
    says(message({ email: "user@example.com", apiKeys: [{ ...apiKey, expirationSeconds: null }] }), usage);
    says(message(signUp), { ...usage, authenticators: undefined, oauthProviders: null, phoneNumber: "" });
    for (const [part, why] of [
      [{ ...signUp, apiKeys: [] }, /`apiKeys` in its message differs/],
      [{ ...signUp, apiKeys: [{ ...apiKey, expirationSeconds: "60" }] }, /`apiKeys`/],
      [{ ...signUp, authenticators: [{}] }, /`authenticators`/],
      [{ ...signUp, oauthProviders: {} }, /`oauthProviders`/],
      [{ ...signUp, email: "User@example.com" }, /`email`/],
      [{ ...signUp, phoneNumber: "+15551234567" }, /`phoneNumber`/],
      [{ ...signUp, userName: "a" }, /has `userName`/],
    ] as const) {
      assert.throws(() => says(message(part), usage), refusal(why));
    }
    const other = form === "signup" ? "signupV2" : "signup";
    assert.throws(() => says(message(signUp), { ...usage, form: other }), refusal(/does not belong to this request/));
    assert.throws(() => says(message(signUp)), refusal(/type in its message must be USAGE_TYPE_LOGIN/));
  });
}

test("built-in property names are treated as unknown fields", () => {
  const usage: TokenUsage = { kind: "signup", form: "signup", ...signUp };
  for (const name of ["constructor", "toString", "hasOwnProperty"]) {
    const message = { signup: { ...signUp, [name]: "x" }, tokenId, type: "USAGE_TYPE_SIGNUP" };
    assert.throws(() => says(message, usage), refusal(new RegExp(`has \`${name}\``)));
    const inside = { ...signUp, apiKeys: [{ ...apiKey, [name]: "x" }] };
    assert.throws(() => says({ ...message, signup: inside }, usage), refusal(/`apiKeys`/));
  }
});
