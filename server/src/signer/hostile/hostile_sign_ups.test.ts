/**
 * Sign-ups that a hostile gateway, or whoever has read somebody's token, writes itself. One that proves a contact or an identity brings
 * nothing that could let in anybody else: no key, passkey, identity or contact that its client signature does not cover, or that its nonce
 * does not name.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeIssuerKey } from "../../../../core/test/oidc/test_issuer.ts";
import { signUpKey } from "../../../test/auth_proxy_rig.ts";
import { registeredPasskey, testPasskey } from "../../../test/passkeys.ts";
import {
  askStamped,
  askUnstamped,
  beside,
  change,
  createProxiedSigner,
  organizationOf,
  preparedIn,
  refusalIn,
  signUp,
} from "../../../test/proxied_signer.ts";
import { newKey } from "../../../test/session_rig.ts";
import { activityBody, type StoredState, stateAfter } from "../../../test/signer_rig.ts";
import { createTestIssuers, testIssuer, testIssuerKey, testToken } from "../../../test/test_issuers.ts";
import { heldToken, loginSignature, signUpSignature } from "../../../test/verification_tokens.ts";
import type { User } from "../../state/entities.ts";
import { decodePage } from "../../state/pages.ts";
import { openKeyring } from "../secrets/keyring.ts";

const v8 = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8";
const v7 = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7";
const none = { apiKeys: [], authenticators: [], oauthProviders: [] };
const email = "ann@example.com";
/** An issuer of the attacker's own: it says whatever it likes. */
const evilIssuer = "https://evil.example";
const evilKey = makeIssuerKey("ES256", "evil");

type Asked = Record<string, unknown>;

const google = "https://accounts.google.com";
/** At Google, and at an issuer whose word about addresses does not count. */
const ownClients = ["client-3", `${testIssuer}#client-3`, `${testIssuer}#client-4`];

function createSignUps(socialLinkingClientIds = ownClients, linkingIssuers: readonly string[] = [google]) {
  const proxied = createProxiedSigner();
  const configured = change(proxied, "ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG", { socialLinkingClientIds });
  // What the operator orders may change after what an organization has configured.
  const rig = proxied.rig.restart({ orders: { linkingIssuers: [...linkingIssuers] } });
  const state = { ...proxied, rig, state: configured.state };
  const issuers = createTestIssuers(openKeyring(rig.rootKey, 1, rig.keyring).statementMac, rig.clock);
  const statements = [
    issuers.statement(testIssuer, [testIssuerKey], rig.clock.nowMs),
    issuers.statement(evilIssuer, [evilKey], rig.clock.nowMs),
    issuers.statement(google, [testIssuerKey], rig.clock.nowMs),
  ];
  const key = newKey();
  /** Ann's, for her key, unless said otherwise. */
  const token = (claims: object = {}, boundTo: string | undefined = key.publicKey, signedBy = testIssuerKey) => ({
    providerName: "Issuer",
    oidcToken: testToken(rig.clock.nowMs, { ...claims }, boundTo, signedBy),
  });
  const say = (user: Asked, more: object = {}, type = v8) => {
    const parameters = {
      subOrganizationName: "Home",
      rootUsers: [{ userName: "ann", ...none, ...user }],
      rootQuorumThreshold: 1,
      ...more,
    };
    return askUnstamped(state, activityBody(rig, type, parameters), { statements });
  };
  return { rig, key, token, say, evilToken: evilTokenFor(rig.clock.nowMs) };
}

/** With whatever nonce: public keys are no secrets. */
const evilTokenFor =
  (nowMs: number) =>
  (boundTo: string, claims: object = {}) => ({
    providerName: "Evil",
    oidcToken: testToken(nowMs, { iss: evilIssuer, sub: "thief", ...claims }, boundTo, evilKey),
  });

const passkey = () => registeredPasskey(testPasskey(5), "phone");

test("an identity brings the key of its nonce, its own verified address, and nothing else", (t) => {
  const { key, token, say, evilToken } = createSignUps();
  const mine = signUpKey(key);
  const claim = (aud: string) => ({ providerName: "Issuer", oidcClaims: { iss: testIssuer, sub: "subject-1", aud } });
  const vouched = { email, email_verified: true };
  const good: Asked[] = [
    { oauthProviders: [token()], apiKeys: [mine] },
    { oauthProviders: [token({ sub: "alone" }, "")] },
    {
      oauthProviders: [
        token({ sub: "claims", aud: "client-4" }),
        { ...claim("client-3"), oidcClaims: { ...claim("client-3").oidcClaims, sub: "claims" } },
      ],
    },
    { oauthProviders: [token({ sub: "address", ...vouched })], apiKeys: [mine], userEmail: "Ann@Example.com" },
  ];
  for (const user of good) preparedIn(say(user));
  preparedIn(say({ oauthProviders: [token({ sub: "older form" })], apiKeys: [mine] }, {}, v7));
  const bad: [what: string, user: Asked][] = [
    ["another's key", { oauthProviders: [token()], apiKeys: [signUpKey()] }],
    ["claims by the word of another application", { oauthProviders: [token(), claim("client-3")], apiKeys: [mine] }],
    ["a key, and a token that names none", { oauthProviders: [token({}, "")], apiKeys: [mine] }],
    ["the key in another spelling", { oauthProviders: [token({}, key.publicKey.toUpperCase())], apiKeys: [mine] }],
    ["a second key", { oauthProviders: [token()], apiKeys: [mine, signUpKey()] }],
    ["a passkey", { oauthProviders: [token()], authenticators: [passkey()] }],
    ["the key and a passkey", { oauthProviders: [token()], apiKeys: [mine], authenticators: [passkey()] }],
    [
      "another's identity, whose nonce names the key",
      { oauthProviders: [token(), evilToken(key.publicKey)], apiKeys: [mine] },
    ],
    ["another's identity before it", { oauthProviders: [evilToken(key.publicKey), token()], apiKeys: [mine] }],
    ["another's identity alone with it", { oauthProviders: [token(), evilToken(key.publicKey)] }],
    ["a token for another application", { oauthProviders: [token(), token({ aud: "client-2" })], apiKeys: [mine] }],
    ["claims at another application", { oauthProviders: [token(), claim("client-2")], apiKeys: [mine] }],
    [
      "claims at another issuer",
      {
        oauthProviders: [
          token(),
          { providerName: "Evil", oidcClaims: { iss: evilIssuer, sub: "subject-1", aud: "client-3" } },
        ],
      },
    ],
    [
      "claims of another subject",
      {
        oauthProviders: [
          token(),
          { providerName: "Issuer", oidcClaims: { iss: testIssuer, sub: "thief", aud: "client-3" } },
        ],
      },
    ],
    ["claims without a token", { oauthProviders: [claim("client-3")] }],
    ["an e-mail address", { oauthProviders: [token()], apiKeys: [mine], userEmail: "thief@example.com" }],
    ["an e-mail address, alone", { oauthProviders: [token({}, "")], userEmail: "thief@example.com" }],
    ["another address than the token's", { oauthProviders: [token(vouched)], userEmail: "thief@example.com" }],
    [
      "an address that the issuer has not verified",
      { oauthProviders: [token({ email, email_verified: false })], userEmail: email },
    ],
    [
      "a letter that is folded to another",
      { oauthProviders: [token({ ...vouched, email: "k@example.com" })], userEmail: "\u212a@example.com" },
    ],
    [
      "a phone number",
      { oauthProviders: [token(vouched)], apiKeys: [mine], userEmail: email, userPhoneNumber: "+15551234567" },
    ],
    ["a phone number, alone", { oauthProviders: [token()], userPhoneNumber: "+15551234567" }],
  ];
  for (const [what, user] of bad) {
    for (const type of [v8, v7]) assert.notEqual(refusalIn(say(user, {}, type)), undefined, `${type}: ${what}`);
  }
  t.diagnostic(`${2 * bad.length} sign-ups by an identity: 0 decided; ${good.length} that bring what they may: all`);
});

test("an address is verified by a token for an application of the organization's own, and by no other", () => {
  const { key, say, token } = createSignUps();
  const vouched = { iss: google, email, email_verified: true };
  const isVerified = (claims: object) => {
    const user = { oauthProviders: [token({ ...vouched, ...claims })], apiKeys: [signUpKey(key)], userEmail: email };
    const [, born = assert.fail()] = preparedIn(say(user));
    return rootOf(stateAfter(undefined, born)).emailVerified !== undefined;
  };
  // Whoever runs an application where Ann signs in gets such a token, with any nonce: hers or that of a key of their own.
  assert.equal(isVerified({ aud: "evil-app" }), false);
  assert.equal(isVerified({ aud: "client-3", sub: "own" }), true);
  assert.equal(isVerified({ aud: "client-3", sub: "not a linking issuer", iss: testIssuer }), false);
});

test("an application that has the id of the organization's own at another issuer is somebody else's", () => {
  // Apple, for one, lets anybody choose the id of an application, if only no one has it at Apple.
  const both = [google, testIssuer];
  const isVerified = (iss: string, listed: string[], linking: readonly string[]) => {
    const { key, say, token } = createSignUps(listed, linking);
    const oauthProviders = [token({ iss, aud: "client-3", email, email_verified: true })];
    const [, born = assert.fail()] = preparedIn(say({ oauthProviders, apiKeys: [signUpKey(key)], userEmail: email }));
    return rootOf(stateAfter(undefined, born)).emailVerified !== undefined;
  };
  assert.equal(isVerified(google, ["client-3"], [google]), true);
  assert.equal(isVerified(testIssuer, ["client-3"], [testIssuer]), true);
  // The operator has added an issuer: whose client it was meant to be is not known any more.
  for (const iss of both) assert.equal(isVerified(iss, ["client-3"], both), false, iss);
  for (const iss of both) assert.equal(isVerified(iss, [`${google}#client-3`], both), iss === google, iss);
  // Claims need the word of the organization's own application, at the issuer where it is its own.
  const sayClaims = (at: string, asked: string, claimed: string) => {
    const { say, token } = createSignUps([`${at}client-3`, `${at}client-4`]);
    const claims = { iss: testIssuer, sub: "subject-1", aud: claimed };
    return refusalIn(
      say({ oauthProviders: [token({ aud: asked }, ""), { providerName: "Issuer", oidcClaims: claims }] }),
    );
  };
  assert.equal(sayClaims(`${testIssuer}#`, "client-3", "client-4"), undefined);
  for (const [at, asked, claimed] of [
    ["", "client-3", "client-4"],
    [`${google}#`, "client-3", "client-4"],
    [`${testIssuer}#`, "client-9", "client-4"],
    [`${testIssuer}#`, "client-3", "client-9"],
  ] as const) {
    assert.match(
      sayClaims(at, asked, claimed) ?? "",
      /not a client of this organization: add `https:\/\/issuer\.example#client-[49]`/,
      `${at} ${asked} ${claimed}`,
    );
  }
});

test("which applications are the organization's own is read from the parent's newest state", () => {
  const proxied = createProxiedSigner();
  const { rig } = proxied;
  const { statementMac } = openKeyring(rig.rootKey, 1, rig.keyring);
  const statements = [createTestIssuers(statementMac, rig.clock).statement(google, [testIssuerKey], rig.clock.nowMs)];
  const named = change(proxied, "ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG", { socialLinkingClientIds: ["client-1"] });
  const before = { ...proxied, state: named.state };
  const key = newKey();
  const home = signUp(before, { apiKeys: [signUpKey(key)], userEmail: email });
  const child = { ...before, state: home, rig: { ...rig, apiPrivateKey: key.privateKey } };
  const oidcToken = testToken(rig.clock.nowMs, { iss: google, email, email_verified: true }, key.publicKey);
  const parameters = { userId: rootOf(home).userId, oauthProviders: [{ providerName: "Google", oidcToken }] };
  const add = (...others: readonly StoredState[]) => {
    const organizationId = organizationOf(home);
    const body = activityBody(rig, "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2", parameters, { organizationId });
    return askStamped(child, body, { statements, others: others.map(beside) });
  };
  const isVerified = (said: ReturnType<typeof add>) => {
    const [row = assert.fail()] = preparedIn(said);
    return rootOf(stateAfter(home, row)).emailVerified !== undefined;
  };
  assert.equal(isVerified(add(named.state)), true);
  const cleared = change(before, "ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG", { socialLinkingClientIds: [] });
  for (const others of [[], [named.state], [proxied.state, named.state], [home]]) {
    assert.equal(refusalIn(add(...others)), "asked for otherState", `${others.length} states`);
  }
  const swapped = { ...cleared.state, pages: named.state.pages };
  assert.match(refusalIn(add(swapped)) ?? "", /was changed/);
  assert.equal(isVerified(add(cleared.state)), false);
});

function rootOf(state: StoredState): User {
  const page = state.pages.find(({ name }) => name === "members") ?? assert.fail("no members");
  const [root = assert.fail("nobody")] = decodePage("members", page.content).users.values();
  return root;
}

test("a contact brings what its client signature covers, and nothing else", (t) => {
  const { rig, key, token, say, evilToken } = createSignUps();
  const held = heldToken(rig);
  const other = heldToken(rig, { contact: "thief@example.com" });
  const mine = signUpKey(key);
  const bound = token({}, held.holder.publicKey);
  const signed = (user: Asked, by = held) => {
    const { apiKeys = [], authenticators = [], oauthProviders = [], userEmail = email, userPhoneNumber } = user;
    const part = { apiKeys, authenticators, oauthProviders, email: userEmail, phoneNumber: userPhoneNumber };
    return { verificationToken: held.token, clientSignature: signUpSignature(by, "signupV2", part as never) };
  };
  const good: Asked[] = [
    {},
    { apiKeys: [mine] },
    { authenticators: [passkey()] },
    { oauthProviders: [bound] },
    { userPhoneNumber: "+15551234567" },
    { oauthProviders: [bound], apiKeys: [mine], authenticators: [passkey()], userPhoneNumber: "+15551234567" },
  ];
  for (const user of good) preparedIn(say({ userEmail: email, ...user }, signed(user)));
  const additions: Asked[] = [
    { apiKeys: [mine] },
    { authenticators: [passkey()] },
    { oauthProviders: [bound] },
    { oauthProviders: [evilToken(held.holder.publicKey)] },
    { userPhoneNumber: "+15551234567" },
  ];
  let refused = 0;
  const refuse = (what: string, user: Asked, more: object, type = v8) => {
    assert.notEqual(refusalIn(say({ userEmail: email, ...user }, more, type)), undefined, what);
    refused += 1;
  };
  const unbound = { verificationToken: heldToken(rig, { unbound: true }).token };
  preparedIn(say({ userEmail: email }, unbound, v7));
  for (const user of additions) {
    const what = Object.keys(user).join();
    refuse(`${what} beside what was signed`, user, signed({}));
    refuse(`${what} signed by another holder`, user, signed(user, other));
    refuse(`${what} with a signature for a login`, user, {
      verificationToken: held.token,
      clientSignature: loginSignature(held, held.holder.publicKey),
    });
    refuse(`${what} without a signature`, user, { verificationToken: held.token });
    refuse(`${what} with a signature and no token`, user, { clientSignature: signed(user).clientSignature });
    refuse(`${what} with a token that is bound to no key`, user, unbound, v7);
    refuse(`${what} with an unbound token in the newest form`, user, unbound);
  }
  refuse("an identity that names another key", { oauthProviders: [token()] }, signed({ oauthProviders: [token()] }));
  refuse("another address", { userEmail: "thief@example.com" }, signed({ userEmail: "thief@example.com" }));
  refuse("no address", { userEmail: undefined }, signed({}));
  t.diagnostic(`${refused} sign-ups by a contact: 0 decided; ${good.length} that bring what is signed: all`);
});
