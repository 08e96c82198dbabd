import assert from "node:assert/strict";
import { test } from "node:test";
import { apiKey, madeAtMs, oauthProvider, person, publicKey } from "../../test/members.ts";
import { authenticator } from "../../test/passkeys.ts";
import {
  type CredentialKind,
  credentialFactsOf,
  credentialLookup,
  credentialsOf,
  identityLookup,
  isExpired,
  isLasting,
  keptCredentialsOf,
  lookupText,
  passkeyLookup,
  rebuildCredential,
  withCredentials,
  withProven,
} from "./credentials.ts";
import type { User } from "./entities.ts";

const ann = person("ann", { apiKeys: [apiKey(0), apiKey(1, { expiresAtMs: madeAtMs + 1, proven: true })] });

test("a user's credentials are described alike, the lasting and the expiring ones", () => {
  const [lasting, expiring] = credentialsOf(ann);
  assert.deepEqual(lasting, {
    kind: "apiKey",
    credentialId: "key 0",
    name: "key 0",
    type: "CREDENTIAL_TYPE_API_KEY_P256",
    curve: "API_KEY_CURVE_P256",
    publicKey: publicKey(0),
    passkey: undefined,
    identity: undefined,
    expiresAtMs: undefined,
    sessionProfileId: undefined,
    proven: false,
    createdAtMs: madeAtMs,
    updatedAtMs: madeAtMs,
  });
  assert.ok(lasting && expiring);
  assert.deepEqual([isLasting(lasting), isLasting(expiring)], [true, false]);
  assert.deepEqual([isExpired(expiring, madeAtMs), isExpired(expiring, madeAtMs + 1)], [false, true]);
  assert.equal(isExpired(lasting, Number.MAX_SAFE_INTEGER), false);
});

/** A user with credentials of each kind: a kind without one does not compile. */
const holders: Readonly<Record<CredentialKind, User>> = {
  apiKey: ann,
  authenticator: person("bob", { authenticators: [authenticator(0), authenticator(1, { proven: true })] }),
  oauthProvider: person("cleo", { oauthProviders: [oauthProvider(0), oauthProvider(1, { proven: true })] }),
};

test("a credential of each kind comes back from its description, and a user from its credentials", () => {
  for (const [kind, user] of Object.entries(holders)) {
    const kept = keptCredentialsOf(user);
    assert.ok(kept.some((credential) => credential.kind === kind));
    assert.deepEqual(credentialsOf(user).map(rebuildCredential), kept);
    assert.deepEqual(withCredentials(withCredentials(user, []), kept), user);
  }
});

test("an identity is named by issuer, subject and audience together, and by nothing that a key could be", () => {
  const [kept] = keptCredentialsOf(holders.oauthProvider);
  assert.ok(kept?.kind === "oauthProvider");
  const { issuer, subject, audience } = kept.entity;
  const named = credentialLookup(kept);
  assert.match(named, /^OIDC [0-9a-f]{64}$/);
  for (const other of [
    { issuer: `${issuer}/` },
    { subject: "x" },
    { audience: "x" },
    { issuer: subject, subject: issuer },
  ]) {
    const changed = { kind: "oauthProvider", entity: { ...kept.entity, ...other } } as const;
    assert.notEqual(credentialLookup(changed), named);
  }
  assert.equal(lookupText(identityLookup({ issuer, subject, audience })), named);
});

test("policies see a passkey's own key and credential id; it lasts, and is named by that id alone", () => {
  const user = holders.authenticator;
  const [first] = user.authenticators ?? [];
  assert.ok(first);
  assert.deepEqual(credentialFactsOf(user)[0], {
    id: "passkey 0",
    type: "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR",
    publicKey: first.publicKey,
    credentialId: first.credentialId,
  });
  assert.ok(credentialsOf(user).every(isLasting));
  const [kept] = keptCredentialsOf(user);
  assert.equal(kept && credentialLookup(kept), lookupText(passkeyLookup(first.credentialId)));
});

test("policies see id, type and public key of a credential, and nothing else", () => {
  assert.deepEqual(credentialFactsOf(ann), [
    { id: "key 0", type: "CREDENTIAL_TYPE_API_KEY_P256", publicKey: publicKey(0) },
    { id: "key 1", type: "CREDENTIAL_TYPE_API_KEY_P256", publicKey: publicKey(1) },
  ]);
});

test("marking as proven touches only what is meant and not yet marked", () => {
  const marked = withProven(ann, ({ credentialId }) => credentialId === "key 0");
  assert.deepEqual(marked, { ...ann, apiKeys: [{ ...apiKey(0), proven: true }, ann.apiKeys[1]] });
  assert.equal(
    withProven(ann, ({ credentialId }) => credentialId === "key 1"),
    ann,
  );
});
