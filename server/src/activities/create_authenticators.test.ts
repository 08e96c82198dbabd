import assert from "node:assert/strict";
import { test } from "node:test";
import {
  base64url,
  es256Passkey,
  registration,
  registrationParts,
  sha256,
} from "../../../core/test/webauthn/authenticator.ts";
import { type ContextChanges, nowMs, runActivity } from "../../test/activity_context.ts";
import { apiKey, organization, person } from "../../test/members.ts";
import { authenticator, origin, passkeyParams, rpId } from "../../test/passkeys.ts";
import type { AuthenticatorParams } from "../fields/credentials.ts";
import type { Authenticator } from "../state/entities.ts";
import { createAuthenticators } from "./create_authenticators.ts";

const acme = (own: readonly Authenticator[] = []) =>
  organization({
    users: [
      person("ann", { apiKeys: [apiKey(0)], ...(own.length > 0 && { authenticators: own }) }),
      person("bob", { authenticators: [authenticator(90)] }),
    ],
  });

function run(authenticators: AuthenticatorParams[], own: readonly Authenticator[] = [], context: ContextChanges = {}) {
  return runActivity(createAuthenticators, acme(own), { userId: "ann", authenticators }, context);
}

test("a registration becomes what state keeps of a passkey, beside the ones that are there", () => {
  const { changes, result } = run([passkeyParams(1)], [authenticator(0)]);
  const added = authenticator(1, { authenticatorId: "new 0", createdAtMs: nowMs, updatedAtMs: nowMs });
  assert.deepEqual(result, { authenticatorIds: ["new 0"] });
  const [change] = changes;
  assert.ok(change?.op === "put" && change.kind === "user");
  assert.deepEqual(change.value.authenticators, [authenticator(0), { ...added, authenticatorName: "passkey 1" }]);
  assert.equal(change.value.updatedAtMs, nowMs);
});

test("a credential id may also come as the CBOR of it, and is stored as it is", () => {
  const passkey = es256Passkey(sha256("x"), rpId, new Uint8Array(20).fill(7));
  const { challenge, attestation } = registration(passkey, registrationParts(passkey));
  const params = {
    authenticatorName: "x",
    challenge,
    attestation: {
      ...attestation,
      credentialId: base64url(Buffer.concat([Uint8Array.of(0x54), passkey.credentialId])),
    },
  } as AuthenticatorParams;
  const [change] = run([params]).changes;
  assert.ok(change?.op === "put" && change.kind === "user");
  assert.equal(change.value.authenticators?.[0]?.credentialId, base64url(passkey.credentialId));
});

test("a user has at most ten", () => {
  const ten = Array.from({ length: 10 }, (_, n) => authenticator(n));
  const refusal = {
    code: "resource_exhausted",
    message: "user has exceeded maximum authenticators: delete one with delete_authenticators first",
  };
  assert.throws(() => run([passkeyParams(10)], ten), refusal);
  assert.throws(() => run(Array.from({ length: 11 }, (_, n) => passkeyParams(n))), refusal);
});

test("a credential id belongs to one user of an organization, and to one passkey", () => {
  const known = { code: "already_exists", message: /^authenticator with credential id `.*` already belongs to a user/ };
  assert.throws(() => run([passkeyParams(90)]), known);
  assert.throws(() => run([passkeyParams(1), passkeyParams(1)]), known);
  assert.throws(() => run([passkeyParams(0)], [authenticator(0)]), known);
});

test("what is wrong with a registration is said in the published words", () => {
  const { attestation } = passkeyParams(0);
  const wrong: [Partial<AuthenticatorParams>, RegExp][] = [
    [{ challenge: "b3RoZXI" }, /: the challenge differs$/],
    [{ challenge: "" }, /: the challenge differs$/],
    [{ attestation: { ...attestation, credentialId: "AAAA" } }, /: the credential id differs$/],
    [{ attestation: { ...attestation, clientDataJson: "e30" } }, /./],
    [{ attestation: { ...attestation, attestationObject: attestation.attestationObject.slice(0, -4) } }, /./],
    [{ attestation: { ...attestation, attestationObject: `${attestation.attestationObject}AAAA` } }, /./],
  ];
  for (const [changes, message] of wrong) {
    assert.throws(
      () => run([passkeyParams(0, changes)]),
      (error: Error & { code: string }) =>
        error.code === "invalid_argument" &&
        error.message.startsWith("invalid authenticator attestation") &&
        message.test(error.message),
    );
  }
});

test("a list of origins binds registrations, and without one the passkey's own domain does", () => {
  const elsewhere = passkeyParams(0, {}, "https://evil.example");
  const outside = { message: /outside the passkey's domain$/ };
  assert.throws(() => run([elsewhere]), outside);
  run([elsewhere], [], { allowedOrigins: () => ["https://evil.example"] });
  const notAllowed = { message: `invalid authenticator attestation: the origin \`${origin}\` is not an allowed one` };
  assert.throws(() => run([passkeyParams(0)], [], { allowedOrigins: () => ["https://evil.example"] }), notAllowed);
});

test("an unknown user is not found", () => {
  assert.throws(
    () => runActivity(createAuthenticators, acme(), { userId: "eve", authenticators: [passkeyParams(0)] }),
    { code: "not_found" },
  );
});
