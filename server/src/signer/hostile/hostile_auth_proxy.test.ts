/** A gateway that wants things done without a stamp. It gets what anybody at the auth proxy gets, and nothing else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { p256 } from "@noble/curves/nist.js";
import { passkeyParams } from "../../../test/passkeys.ts";
import {
  askStamped,
  askUnstamped,
  beside,
  change,
  createProxiedSigner,
  organizationOf,
  type ProxiedSigner,
  refusalIn,
  signUp,
} from "../../../test/proxied_signer.ts";
import { sampleOf } from "../../../test/schema_samples.ts";
import {
  activityBody,
  anotherOrganization,
  leafOf,
  only,
  releaseRows,
  stateAfter,
  userWithKey,
} from "../../../test/signer_rig.ts";
import { heldToken, loginSignature } from "../../../test/verification_tokens.ts";
import { activityForms } from "../../generated/activities.ts";
import { activityValidators } from "../../generated/activity_validators.ts";
import { proxyParameters, proxyTypeNames } from "../../rules/auth_proxy_types.ts";
import { sha256 } from "../../state/digest.ts";

const signUpType = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8";
const stranger = "0f4c7c2e-6a52-4f6e-9d0e-7d5d3d8d1c11";

const facts = ({ proxy }: ProxiedSigner) => ({ settings: proxy.settings, organizationName: "First" });

function codeBody(proxied: ProxiedSigner, type = "ACTIVITY_TYPE_INIT_OTP_V3", changes: object = {}, overrides = {}) {
  const chosen = { otpType: "OTP_TYPE_EMAIL", contact: "ann@example.com" };
  const parameters = { ...proxyParameters(type, chosen, facts(proxied)), ...changes };
  return activityBody(proxied.rig, type, parameters, overrides);
}

test("what the proxy asks for as configured is decided, and its leaf has no stamp", () => {
  const proxied = createProxiedSigner();
  const reply = askUnstamped(proxied, codeBody(proxied));
  assert.ok("kind" in reply && reply.kind === "prepared");
  const row = only(reply.value);
  assert.equal(row.activity?.status, "ACTIVITY_STATUS_COMPLETED");
  const { grounds, evidence } = leafOf(row);
  assert.equal(grounds, "AUTH_PROXY");
  assert.deepEqual(
    [evidence.length, evidence[0]?.content.kind, evidence[0]?.credentialId],
    [1, "authProxy", undefined],
  );
});

test("unstamped bodies of every activity type: none is decided but those that the proxy has", (t) => {
  const proxied = createProxiedSigner();
  const invalid: string[] = [];
  let refused = 0;
  for (const [type, form] of activityForms) {
    if (proxyTypeNames.includes(type)) continue;
    const parameters = sampleOf(form.params);
    if (activityValidators[type]?.(parameters) !== true) invalid.push(type);
    const said = askUnstamped(proxied, activityBody(proxied.rig, type, parameters));
    assert.ok(said instanceof Fault, type);
    assert.equal(said.code, "permission_denied", `${type}: ${said.message}`);
    assert.match(said.message, /needs a stamp$/, type);
    refused += 1;
  }
  assert.deepEqual(invalid, [], "a body that does not validate says nothing about the proxy");
  assert.equal(refused, activityForms.size - proxyTypeNames.length);
  t.diagnostic(`${refused} unstamped bodies of types that need a stamp: 0 decided`);
});

test("a foreign, unknown or disabled configuration decides nothing", () => {
  const proxied = createProxiedSigner();
  const { rig, state } = proxied;
  const refusals = [
    askUnstamped(proxied, codeBody(proxied), { configId: stranger }),
    askUnstamped({ ...proxied, state: rig.born }, codeBody(proxied)),
    askUnstamped(proxied, codeBody(proxied), { configId: "no id" }),
  ];
  for (const said of refusals) assert.ok(said instanceof Fault, JSON.stringify(said));
  const { state: off } = change({ ...proxied, state }, "ACTIVITY_TYPE_DISABLE_AUTH_PROXY", {});
  const said = askUnstamped({ ...proxied, state: off }, codeBody(proxied));
  assert.ok(said instanceof Fault && said.code === "permission_denied");
  assert.match(said.message, /disabled/);
  // The state from before it was turned off is older than what was released.
  const older = askUnstamped(proxied, codeBody(proxied));
  assert.ok(older instanceof Fault || older.kind === "again", "an older state is not decided on");
});

test("another organization's proxy opens nothing here", () => {
  const proxied = createProxiedSigner();
  const { rig } = proxied;
  const ann = userWithKey("ann", p256.utils.randomSecretKey(), rig.clock.nowMs);
  for (const parentId of [undefined, rig.orders.birth.organizationId]) {
    const state = anotherOrganization(rig, stranger, [ann], parentId === undefined ? {} : { parentId });
    const said = askUnstamped({ ...proxied, state }, codeBody(proxied, undefined, {}, { organizationId: stranger }));
    assert.ok(said instanceof Fault, `${parentId}`);
    assert.ok(["not_found", "invalid_argument"].includes(said.code), said.message);
  }
});

test("whatever the configuration does not say is refused", () => {
  const proxied = createProxiedSigner();
  const changes = [
    { otpLength: 6 },
    { alphanumeric: false },
    { expirationSeconds: "600" },
    { appName: "Another" },
    { userIdentifier: "a" },
    { emailCustomization: { magicLinkTemplate: "https://evil.example/%s" } },
    { smsCustomization: { template: "{{.OtpCode}} to evil" } },
    { sendFromEmailAddress: "evil@example.com" },
    { anything: "else" },
  ];
  for (const change of changes) {
    const said = askUnstamped(proxied, codeBody(proxied, undefined, change));
    assert.ok(said instanceof Fault && said.code === "permission_denied", JSON.stringify(change));
  }
});

test("a sign-up makes one root user alone who needs nobody else, and switches nothing off", () => {
  const proxied = createProxiedSigner();
  const type = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8";
  const user = { userName: "ann", apiKeys: [], authenticators: [], oauthProviders: [] };
  const good = { subOrganizationName: "Home", rootUsers: [user], rootQuorumThreshold: 1 };
  const changes = [
    { rootUsers: [user, user] },
    { rootUsers: [] },
    { rootQuorumThreshold: 2 },
    { disableEmailAuth: true },
    { disableSmsAuth: true },
  ];
  for (const change of changes) {
    const said = askUnstamped(proxied, activityBody(proxied.rig, type, { ...good, ...change }));
    assert.ok(said instanceof Fault && said.code === "permission_denied", JSON.stringify(change));
  }
});

test("the proxy's own organization is signed in to by nobody, and nothing but sign-in runs below it", () => {
  const proxied = createProxiedSigner();
  const held = heldToken(proxied.rig);
  const login = { verificationToken: held.token, publicKey: held.holder.publicKey, expirationSeconds: "900" };
  const said = askUnstamped(proxied, activityBody(proxied.rig, "ACTIVITY_TYPE_OTP_LOGIN", login));
  assert.ok(said instanceof Fault && said.code === "permission_denied");
  assert.match(said.message, /does not run in this organization/);
});

test("unstamped bodies of every activity type in a sub-organization: none is decided without its own evidence", (t) => {
  const proxied = createProxiedSigner();
  const home = signUp(proxied, { authenticators: [passkeyParams(6)] });
  const child = { ...proxied, state: home };
  const others = [beside(proxied.state)];
  let refused = 0;
  for (const [type, form] of activityForms) {
    const body = activityBody(proxied.rig, type, sampleOf(form.params), { organizationId: organizationOf(home) });
    for (const brought of [{}, { others }]) {
      assert.notEqual(refusalIn(askUnstamped(child, body, brought)), undefined, type);
      refused += 1;
    }
  }
  t.diagnostic(`${refused} unstamped bodies of ${activityForms.size} types in a sub-organization: 0 decided`);
});

test("a login by code through the proxy is for a verified contact, wherever the gateway sends it", () => {
  const proxied = createProxiedSigner();
  const { rig } = proxied;
  const held = heldToken(rig);
  const { publicKey } = held.holder;
  // Somebody else has written Ann's address into a user of their own.
  const home = signUp(proxied, { authenticators: [passkeyParams(6)], userEmail: "ann@example.com" });
  const child = { ...proxied, state: home };
  const others = [beside(proxied.state)];
  const fixed = { expirationSeconds: String(proxied.proxy.settings.sessionExpirationSeconds) };
  const unbound = heldToken(rig, { unbound: true });
  const logins = {
    ACTIVITY_TYPE_OTP_LOGIN_V2: {
      verificationToken: held.token,
      publicKey,
      clientSignature: loginSignature(held, publicKey),
    },
    ACTIVITY_TYPE_OTP_LOGIN: { verificationToken: unbound.token, publicKey },
  };
  for (const [type, login] of Object.entries(logins)) {
    const body = activityBody(rig, type, { ...login, ...fixed }, { organizationId: organizationOf(home) });
    assert.match(
      refusalIn(askUnstamped(child, body, { others })) ?? "",
      /could not find a user with the contact/,
      type,
    );
    // The parent's own stamp names the sub-organization.
    assert.equal(refusalIn(askStamped(child, body, { others })), undefined, type);
  }
});

test("a body that waits for approvals is not approved by sending it without a stamp", () => {
  const proxied = createProxiedSigner();
  const { rig } = proxied;
  const secret = p256.utils.randomSecretKey();
  const { userId: _, apiKeys, ...ann } = userWithKey("ann", secret, rig.clock.nowMs);
  const keys = apiKeys.map(({ publicKey }) => ({ apiKeyName: "key", publicKey, curveType: "API_KEY_CURVE_P256" }));
  const user = { userName: ann.userName, userTags: [], apiKeys: keys, authenticators: [], oauthProviders: [] };
  const added = change(proxied, "ACTIVITY_TYPE_CREATE_USERS_V4", { users: [user] });
  const policy = {
    policyName: "two for sub-organizations",
    effect: "EFFECT_ALLOW",
    consensus: "approvers.count() >= 2",
    condition: "activity.kind == 'CREATE_SUB_ORGANIZATION'",
    notes: "",
  };
  const policied = change({ ...proxied, state: added.state }, "ACTIVITY_TYPE_CREATE_POLICY_V3", policy);
  const before = { ...proxied, state: policied.state };
  const root = { userName: "kim", apiKeys: [], authenticators: [passkeyParams(7)], oauthProviders: [] };
  const parameters = { subOrganizationName: "Home", rootUsers: [root], rootQuorumThreshold: 1 };
  const body = activityBody(rig, signUpType, parameters);
  const stamp = signStamp(secret, "SIGNATURE_SCHEME_TK_API_P256", body);
  const proposed = askStamped(before, body, { stamp });
  assert.ok(!(proposed instanceof Fault) && proposed.kind === "prepared");
  const row = only(proposed.value);
  assert.equal(row.activity?.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED", row.activity?.failure ?? "");
  releaseRows(rig, [row]);
  const waiting = { ...before, state: stateAfter(before.state, row) };
  for (const more of [{}, { target: body }]) {
    assert.match(refusalIn(askUnstamped(waiting, body, more)) ?? "", /already exists|ALREADY_EXISTS/i);
  }
  for (const type of ["ACTIVITY_TYPE_APPROVE_ACTIVITY", "ACTIVITY_TYPE_REJECT_ACTIVITY"]) {
    const vote = activityBody(rig, type, { fingerprint: `sha256:${toHex(sha256(body))}` });
    assert.match(refusalIn(askUnstamped(waiting, vote, { target: body })) ?? "", /needs a stamp$/);
  }
});

test("a configuration that was changed since is not decided on", () => {
  const proxied = createProxiedSigner();
  const narrowed = change(proxied, "ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG", { allowedAuthMethods: ["passkey"] });
  const now = { ...proxied, state: narrowed.state };
  assert.match(refusalIn(askUnstamped(now, codeBody(now))) ?? "", /^EMAIL disallowed/);
  assert.notEqual(refusalIn(askUnstamped(proxied, codeBody(proxied))), undefined, "on the state before");
  const swapped = { ...now, state: { ...now.state, pages: proxied.state.pages } };
  assert.notEqual(refusalIn(askUnstamped(swapped, codeBody(now))), undefined, "on the pages before");
});
