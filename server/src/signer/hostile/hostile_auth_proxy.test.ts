/** A gateway that wants things done without a stamp. It gets what anybody at the auth proxy gets, and nothing else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import { p256 } from "@noble/curves/nist.js";
import { sampleOf } from "../../../test/schema_samples.ts";
import {
  activityBody,
  anotherOrganization,
  createSignerRig,
  leafOf,
  offer,
  only,
  prepareOn,
  releaseRows,
  type SignerRig,
  type StoredState,
  stateAfter,
  userWithKey,
} from "../../../test/signer_rig.ts";
import { heldToken } from "../../../test/verification_tokens.ts";
import { activityForms } from "../../generated/activities.ts";
import { activityValidators } from "../../generated/activity_validators.ts";
import { findAuthProxy } from "../../rules/auth_proxy.ts";
import { proxyParameters, proxyTypeNames } from "../../rules/auth_proxy_types.ts";
import type { AuthProxy } from "../../state/entities.ts";
import { decodePage } from "../../state/pages.ts";

const stranger = "0f4c7c2e-6a52-4f6e-9d0e-7d5d3d8d1c11";

type Proxied = { rig: SignerRig; state: StoredState; proxy: AuthProxy };

function step(rig: SignerRig, state: StoredState, type: string, parameters: object): StoredState {
  const prepared = prepareOn(rig, state, activityBody(rig, type, parameters));
  assert.equal(prepared.activity?.status, "ACTIVITY_STATUS_COMPLETED", prepared.activity?.failure ?? "");
  releaseRows(rig, [prepared]);
  return stateAfter(state, prepared);
}

function enabledRig(): Proxied {
  const rig = createSignerRig();
  const state = step(rig, rig.born, "ACTIVITY_TYPE_ENABLE_AUTH_PROXY", {});
  return { rig, state, proxy: proxyOf(state) };
}

function proxyOf(state: StoredState): AuthProxy {
  const page = state.pages.find(({ name }) => name === "authProxies");
  const proxy = page && findAuthProxy({ authProxies: decodePage("authProxies", page.content) });
  return proxy ?? assert.fail("no proxy");
}

const through = (configId: string) => ({ evidence: { kind: "authProxy", value: configId } as const });

/** What the signer says to an unstamped body: the refusal, or what it prepared. */
function ask({ rig, state, proxy }: Proxied, body: Uint8Array, configId = proxy.configId) {
  try {
    return offer(rig, state, body, through(configId));
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

const facts = ({ proxy }: Proxied) => ({ settings: proxy.settings, organizationName: "First" });

function codeBody(proxied: Proxied, type = "ACTIVITY_TYPE_INIT_OTP_V3", changes: object = {}, overrides = {}) {
  const chosen = { otpType: "OTP_TYPE_EMAIL", contact: "ann@example.com" };
  const parameters = { ...proxyParameters(type, chosen, facts(proxied)), ...changes };
  return activityBody(proxied.rig, type, parameters, overrides);
}

test("what the proxy asks for as configured is decided, and its leaf has no stamp", () => {
  const proxied = enabledRig();
  const reply = ask(proxied, codeBody(proxied));
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

test("unstamped bodies of every activity type: none is decided but those that the proxy has", () => {
  const proxied = enabledRig();
  const invalid: string[] = [];
  let refused = 0;
  for (const [type, form] of activityForms) {
    if (proxyTypeNames.includes(type)) continue;
    const parameters = sampleOf(form.params);
    if (activityValidators[type]?.(parameters) !== true) invalid.push(type);
    const said = ask(proxied, activityBody(proxied.rig, type, parameters));
    assert.ok(said instanceof Fault, type);
    assert.equal(said.code, "permission_denied", `${type}: ${said.message}`);
    assert.match(said.message, /needs a stamp$/, type);
    refused += 1;
  }
  assert.deepEqual(invalid, [], "a body that does not validate says nothing about the proxy");
  assert.equal(refused, activityForms.size - proxyTypeNames.length);
});

test("a foreign, unknown or disabled configuration decides nothing", () => {
  const proxied = enabledRig();
  const { rig, state } = proxied;
  const refusals = [
    ask(proxied, codeBody(proxied), stranger),
    ask({ ...proxied, state: rig.born }, codeBody(proxied)),
    ask(proxied, codeBody(proxied), "no id"),
  ];
  for (const said of refusals) assert.ok(said instanceof Fault, JSON.stringify(said));
  const off = step(rig, state, "ACTIVITY_TYPE_DISABLE_AUTH_PROXY", {});
  const said = ask({ ...proxied, state: off }, codeBody(proxied));
  assert.ok(said instanceof Fault && said.code === "permission_denied");
  assert.match(said.message, /disabled/);
  // The state from before it was turned off is older than what was released.
  const older = ask(proxied, codeBody(proxied));
  assert.ok(older instanceof Fault || older.kind === "again", "an older state is not decided on");
});

test("another organization's proxy opens nothing here", () => {
  const proxied = enabledRig();
  const { rig } = proxied;
  const ann = userWithKey("ann", p256.utils.randomSecretKey(), rig.clock.nowMs);
  for (const parentId of [undefined, rig.orders.birth.organizationId]) {
    const state = anotherOrganization(rig, stranger, [ann], parentId === undefined ? {} : { parentId });
    const said = ask({ ...proxied, state }, codeBody(proxied, undefined, {}, { organizationId: stranger }));
    assert.ok(said instanceof Fault, `${parentId}`);
    assert.ok(["not_found", "invalid_argument"].includes(said.code), said.message);
  }
});

test("whatever the configuration does not say is refused", () => {
  const proxied = enabledRig();
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
    const said = ask(proxied, codeBody(proxied, undefined, change));
    assert.ok(said instanceof Fault && said.code === "permission_denied", JSON.stringify(change));
  }
});

test("a sign-up makes one root user alone who needs nobody else, and switches nothing off", () => {
  const proxied = enabledRig();
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
    const said = ask(proxied, activityBody(proxied.rig, type, { ...good, ...change }));
    assert.ok(said instanceof Fault && said.code === "permission_denied", JSON.stringify(change));
  }
});

test("the proxy's own organization is signed in to by nobody, and nothing but sign-in runs below it", () => {
  const proxied = enabledRig();
  const held = heldToken(proxied.rig);
  const login = { verificationToken: held.token, publicKey: held.holder.publicKey, expirationSeconds: "900" };
  const said = ask(proxied, activityBody(proxied.rig, "ACTIVITY_TYPE_OTP_LOGIN", login));
  assert.ok(said instanceof Fault && said.code === "permission_denied");
  assert.match(said.message, /does not run in this organization/);
});

test("a body that waits for approvals is not approved by sending it without a stamp", () => {
  const proxied = enabledRig();
  const body = codeBody(proxied);
  const first = ask(proxied, body);
  assert.ok("kind" in first && first.kind === "prepared");
  // The proxy's user is nobody whose approval could be missing: it has no vote.
  const vote = activityBody(proxied.rig, "ACTIVITY_TYPE_APPROVE_ACTIVITY", { fingerprint: `sha256:${"0".repeat(64)}` });
  const said = ask(proxied, vote);
  assert.ok(said instanceof Fault && said.code === "permission_denied");
});
