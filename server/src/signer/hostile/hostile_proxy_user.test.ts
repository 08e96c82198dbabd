/**
 * The user of the auth proxy, and everything that the root user can do to it. It never gets anything to act with: no credential, contact or
 * seat in the quorum. It stays, because policies name it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { signUpKey } from "../../../test/auth_proxy_rig.ts";
import { passkeyParams } from "../../../test/passkeys.ts";
import {
  askStamped,
  change,
  createProxiedSigner,
  type ProxiedSigner,
  preparedIn,
  refusalIn,
} from "../../../test/proxied_signer.ts";
import { sampleOf } from "../../../test/schema_samples.ts";
import { newKey } from "../../../test/session_rig.ts";
import { activityBody, type StoredState, stateAfter } from "../../../test/signer_rig.ts";
import { createTestIssuers, testIssuer, testIssuerKey, testToken } from "../../../test/test_issuers.ts";
import { heldToken } from "../../../test/verification_tokens.ts";
import { activityForms } from "../../generated/activities.ts";
import { credentialsOf } from "../../state/credentials.ts";
import { decodePage } from "../../state/pages.ts";
import { openKeyring } from "../secrets/keyring.ts";

/** Asserts what must hold of the user in every state. */
function assertPowerless(state: StoredState, userId: string, what: string): void {
  const page = state.pages.find(({ name }) => name === "members");
  const { users, rootQuorum } = decodePage("members", page?.content ?? assert.fail("no members"));
  const user = users.get(userId);
  assert.ok(user, `${what}: the user is gone`);
  assert.deepEqual(credentialsOf(user), [], what);
  assert.deepEqual([user.userEmail, user.userPhoneNumber], [undefined, undefined], what);
  assert.ok(!rootQuorum.userIds.includes(userId), what);
}

type Attempt = (facts: { userId: string; rootId: string; oidcToken: string; held: string }) => object;

const contacts = { userEmail: "a@example.com", userPhoneNumber: "+15551234567" };

/** Every type that names a user, aimed at the proxy's. `null`: what it does to the user is nothing to act with. */
const attempts: Readonly<Record<string, Attempt[] | null>> = {
  CREATE_API_KEYS: [({ userId }) => ({ userId, apiKeys: [{ apiKeyName: "k", publicKey: newKey().publicKey }] })],
  CREATE_API_KEYS_V2: [({ userId }) => ({ userId, apiKeys: [signUpKey()] })],
  // Its passkeys are as those of the newer form.
  CREATE_AUTHENTICATORS: null,
  // Published clients write a user's id there, and it is not read.
  CREATE_USERS: null,
  CREATE_AUTHENTICATORS_V2: [({ userId }) => ({ userId, authenticators: [passkeyParams(1)] })],
  CREATE_OAUTH_PROVIDERS: [({ userId, oidcToken }) => ({ userId, oauthProviders: [{ providerName: "I", oidcToken }] })],
  CREATE_OAUTH_PROVIDERS_V2: [
    ({ userId, oidcToken }) => ({ userId, oauthProviders: [{ providerName: "I", oidcToken }] }),
    ({ userId }) => ({
      userId,
      oauthProviders: [{ providerName: "I", oidcClaims: { iss: testIssuer, sub: "s", aud: "a" } }],
    }),
  ],
  CREATE_READ_WRITE_SESSION_V2: [({ userId }) => ({ targetPublicKey: newKey().publicKey, userId })],
  RECOVER_USER: [({ userId }) => ({ userId, authenticator: passkeyParams(2) })],
  UPDATE_USER: [
    ({ userId }) => ({ userId, userEmail: contacts.userEmail }),
    ({ userId }) => ({ userId, userPhoneNumber: contacts.userPhoneNumber }),
  ],
  UPDATE_USER_EMAIL: [
    ({ userId }) => ({ userId, userEmail: contacts.userEmail }),
    ({ userId, held }) => ({ userId, userEmail: "ann@example.com", verificationToken: held }),
  ],
  UPDATE_USER_PHONE_NUMBER: [({ userId }) => ({ userId, userPhoneNumber: contacts.userPhoneNumber })],
  UPDATE_ROOT_QUORUM: [
    ({ userId, rootId }) => ({ threshold: 1, userIds: [rootId, userId] }),
    ({ userId }) => ({ threshold: 1, userIds: [userId] }),
    ({ userId, rootId }) => ({ threshold: 2, userIds: [rootId, userId] }),
  ],
  DELETE_USERS: [({ userId }) => ({ userIds: [userId] })],
  // It has none of these.
  DELETE_API_KEYS: null,
  DELETE_AUTHENTICATORS: null,
  DELETE_OAUTH_PROVIDERS: null,
  // Names and tags: policies that deny the user something may name either.
  UPDATE_USER_NAME: null,
  CREATE_USER_TAG: null,
  UPDATE_USER_TAG: null,
  // A target key to encrypt an import to, for whoever stamps the import.
  INIT_IMPORT_WALLET: null,
  IMPORT_WALLET: null,
  INIT_IMPORT_PRIVATE_KEY: null,
  IMPORT_PRIVATE_KEY: null,
};

const nameOf = (type: string) => type.replace("ACTIVITY_TYPE_", "");

function createAttempts() {
  const proxied = createProxiedSigner();
  const { rig, proxy } = proxied;
  const { statementMac } = openKeyring(rig.rootKey, 1, rig.keyring);
  const statements = [
    createTestIssuers(statementMac, rig.clock).statement(testIssuer, [testIssuerKey], rig.clock.nowMs),
  ];
  const facts = {
    userId: proxy.userId,
    rootId: rig.orders.birth.userId,
    oidcToken: testToken(rig.clock.nowMs),
    held: heldToken(rig).token,
  };
  /** The state that it leads to; undefined where it is refused. */
  const attempt = (at: ProxiedSigner, type: string, parameters: unknown): StoredState | undefined => {
    const said = askStamped(at, activityBody(rig, type, parameters), { statements });
    if (refusalIn(said) !== undefined) return undefined;
    const [row = assert.fail()] = preparedIn(said);
    return stateAfter(at.state, row);
  };
  return { proxied, facts, attempt };
}

test("nothing that names the proxy's user gives it a credential, a contact or a seat, or takes it away", (t) => {
  const { proxied, facts, attempt } = createAttempts();
  const root = { ...facts, userId: facts.rootId };
  let refused = 0;
  const worksForOthers = new Set<string>();
  for (const [name, tries] of Object.entries(attempts)) {
    for (const parameters of tries ?? []) {
      const type = `ACTIVITY_TYPE_${name}`;
      assert.equal(attempt(proxied, type, parameters(facts)), undefined, name);
      refused += 1;
      if (attempt(proxied, type, parameters(root)) !== undefined) worksForOthers.add(name);
    }
  }
  t.diagnostic(`${refused} attempts of the root user on the proxy's user: 0 decided`);
  // What is refused is the user, not the parameters.
  assert.deepEqual([...worksForOthers].sort(), [
    ...["CREATE_API_KEYS", "CREATE_API_KEYS_V2", "CREATE_AUTHENTICATORS_V2", "CREATE_OAUTH_PROVIDERS"],
    ...["CREATE_OAUTH_PROVIDERS_V2", "CREATE_READ_WRITE_SESSION_V2"],
    ...["UPDATE_ROOT_QUORUM", "UPDATE_USER", "UPDATE_USER_EMAIL", "UPDATE_USER_PHONE_NUMBER"],
  ]);
});

type Schema = { properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[] };

const isUser = (name: string) => /user_?ids?$/i.test(name);

function namesUser({ properties = {}, items, anyOf = [] }: Schema): boolean {
  const members = Object.entries(properties);
  return (
    members.some(([name, schema]) => isUser(name) || namesUser(schema)) ||
    [items, ...anyOf].some((schema) => schema !== undefined && namesUser(schema))
  );
}

test("every activity type that names a user is among the attempts", () => {
  const naming = [...activityForms]
    .filter(([, { params }]) => namesUser(params as Schema))
    .map(([type]) => nameOf(type));
  const missing = naming.filter((name) => !Object.hasOwn(attempts, name) || attempts[name] === undefined);
  assert.deepEqual(missing, [], "say what it does to the user of the auth proxy");
});

/** A sample with the proxy's user wherever a user is named. */
function aimed(value: unknown, userId: string): unknown {
  if (Array.isArray(value)) return value.map((item) => aimed(item, userId));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (!isUser(name)) return [name, aimed(member, userId)];
      return [name, Array.isArray(member) ? [userId] : userId];
    }),
  );
}

test("after an activity of any type the proxy's user has nothing to act with", (t) => {
  const { proxied, facts, attempt } = createAttempts();
  let decided = 0;
  for (const [type, form] of activityForms) {
    const after = attempt(proxied, type, aimed(sampleOf(form.params), facts.userId));
    if (after === undefined) continue;
    decided += 1;
    assertPowerless(after, facts.userId, type);
  }
  assertPowerless(proxied.state, facts.userId, "at first");
  t.diagnostic(`samples of ${activityForms.size} types, ${decided} of them decided: the user has nothing after any`);
});

test("its name and its tags can be changed, and give it nothing", () => {
  const { proxied, facts } = createAttempts();
  const { userId } = facts;
  const tagged = change(proxied, "ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: "admins", userIds: [userId] });
  const named = change({ ...proxied, state: tagged.state }, "ACTIVITY_TYPE_UPDATE_USER_NAME", {
    userId,
    userName: "P",
  });
  const both = change({ ...proxied, state: named.state }, "ACTIVITY_TYPE_UPDATE_USER", {
    userId,
    userName: "Q",
  });
  for (const { state } of [tagged, named, both]) assertPowerless(state, userId, "renamed or tagged");
});

test("a policy that names it as an approver lets nobody through who has not its approval, and that is nobody", () => {
  const { proxied, facts, attempt } = createAttempts();
  const member = newKey();
  const user = {
    userName: "member",
    userTags: [],
    apiKeys: [signUpKey(member)],
    authenticators: [],
    oauthProviders: [],
  };
  const added = change(proxied, "ACTIVITY_TYPE_CREATE_USERS_V4", { users: [user] });
  const policied = change({ ...proxied, state: added.state }, "ACTIVITY_TYPE_CREATE_POLICY_V3", {
    policyName: "the proxy may",
    effect: "EFFECT_ALLOW",
    consensus: `approvers.any(user, user.id == '${facts.userId}')`,
    condition: "true",
    notes: "",
  });
  const state = { ...proxied, state: policied.state };
  const rig = { ...proxied.rig, apiPrivateKey: member.privateKey };
  const tag = activityBody(rig, "ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: "x", userIds: [] });
  assert.match(refusalIn(askStamped({ ...state, rig }, tag)) ?? "", /CONSENSUS_NEEDED|REJECTED/);
  assert.equal(attempt({ ...state, rig }, "ACTIVITY_TYPE_CREATE_WALLET", { walletName: "w", accounts: [] }), undefined);
});
