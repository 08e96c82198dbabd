import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBase64url } from "@keystead/core/encoding/base64url.ts";
import { verifyAssertion } from "@keystead/core/webauthn/verify_assertion.ts";
import { verifyRegistration } from "@keystead/core/webauthn/verify_registration.ts";
import { parseWebauthnStamp, stampChallenge } from "@keystead/core/webauthn/webauthn_stamp.ts";
import {
  assertion,
  assertionParts,
  base64url,
  clientDataJson,
  es256Passkey,
  registration,
  registrationParts,
  sha256,
} from "../../core/test/webauthn/authenticator.ts";
import { nodeCurves } from "../../server/src/curves/node_curves.ts";
import { type CredentialsContainer, createPasskey, createPasskeyStamper } from "./passkeys.ts";

const rpId = "app.example.com";
const passkey = es256Passkey(sha256("secret"), rpId, sha256("id").slice(0, 16));
const buffer = (bytes: Uint8Array) => Uint8Array.from(bytes).buffer;

/** A browser with one passkey. */
const browser: CredentialsContainer = {
  async get({ publicKey }) {
    const { challenge } = publicKey as { challenge: Uint8Array };
    const made = assertion(passkey, assertionParts(passkey, base64url(challenge)));
    return {
      rawId: buffer(passkey.credentialId),
      response: {
        authenticatorData: buffer(made.authenticatorData),
        clientDataJSON: buffer(made.clientDataJson),
        signature: buffer(made.signature),
      },
    };
  },
  async create({ publicKey }) {
    const { challenge } = publicKey as { challenge: Uint8Array };
    const parts = registrationParts(passkey);
    const data = clientDataJson("webauthn.create", base64url(challenge), `https://${rpId}`);
    const { attestation } = registration(passkey, { ...parts, clientDataJson: data });
    return {
      rawId: buffer(passkey.credentialId),
      response: {
        clientDataJSON: buffer(data),
        attestationObject: buffer(fromBase64url(attestation?.attestationObject ?? "")),
        getTransports: () => ["internal", "hybrid", "smart-card"],
      },
    };
  },
};

const body = new TextEncoder().encode('{"organizationId":"x"}');

test("a passkey that was made here registers, and its stamps verify over the body they are for", async () => {
  const user = { name: "ann", displayName: "Ann" };
  const made = await createPasskey({ authenticatorName: "phone", rp: { name: "App" }, user, credentials: browser });
  assert.deepEqual(made.attestation.transports, ["AUTHENTICATOR_TRANSPORT_INTERNAL", "AUTHENTICATOR_TRANSPORT_HYBRID"]);
  const { publicKey, rpIdHash, credentialId } = verifyRegistration(nodeCurves, made, {
    allowedOrigins: undefined,
  });
  const { name, value } = await createPasskeyStamper({ rpId, credentials: browser }).stamp(body);
  assert.equal(name, "X-Stamp-Webauthn");
  const stamp = parseWebauthnStamp(value);
  assert.equal(stamp.credentialId, credentialId);
  const verified = (bytes: Uint8Array) =>
    verifyAssertion(nodeCurves, stamp, {
      challenge: stampChallenge(sha256(bytes)),
      ...{ publicKey, rpIdHash, allowedOrigins: undefined },
    }).verified;
  assert.deepEqual([verified(body), verified(Uint8Array.of(1))], [true, false]);
});

test("without a browser, and where the user turns it down, the error says so", async () => {
  assert.throws(() => createPasskeyStamper(), /^Error: passkeys need a browser/);
  const nobody: CredentialsContainer = { get: async () => null, create: async () => null };
  await assert.rejects(async () => createPasskeyStamper({ credentials: nobody }).stamp(body), /returned no passkey/);
});
