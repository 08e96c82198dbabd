/** Passkeys by number, registered and used in software. */
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { stampChallenge } from "@keystead/core/webauthn/webauthn_stamp.ts";
import { p256 } from "@noble/curves/nist.js";
import {
  type AssertionParts,
  assertion,
  assertionParts,
  base64url,
  es256Passkey,
  registration,
  registrationParts,
  sha256,
  type TestPasskey,
} from "../../core/test/webauthn/authenticator.ts";
import type { AuthenticatorParams } from "../src/fields/credentials.ts";
import type { Authenticator } from "../src/state/entities.ts";
import { madeAtMs } from "./members.ts";

export const rpId = "app.example.com";
export const origin = `https://${rpId}`;

/** The `n`th passkey, with its private key. */
export function testPasskey(n: number): TestPasskey {
  return es256Passkey(sha256(`passkey ${n}`), rpId, sha256(`credential ${n}`).slice(0, 20));
}

/** Another one that calls itself by the `n`th's id: whoever makes a passkey chooses it. */
export function impostorPasskey(n: number, secret: string): TestPasskey {
  return es256Passkey(sha256(`impostor ${secret}`), rpId, testPasskey(n).credentialId);
}

/** A passkey as a request registers it. */
export function registeredPasskey(passkey: TestPasskey, authenticatorName: string, from = origin): AuthenticatorParams {
  const { challenge, attestation } = registration(passkey, registrationParts(passkey, from));
  return { authenticatorName, challenge, attestation: attestation as AuthenticatorParams["attestation"] };
}

/** The `n`th passkey as a request registers it. */
export function passkeyParams(
  n: number,
  changes: Partial<AuthenticatorParams> = {},
  from = origin,
): AuthenticatorParams {
  return { ...registeredPasskey(testPasskey(n), `passkey ${n}`, from), ...changes };
}

/** The `n`th passkey as state holds it. */
export function authenticator(n: number, changes: Partial<Authenticator> = {}): Authenticator {
  return {
    authenticatorId: `passkey ${n}`,
    authenticatorName: `passkey ${n}`,
    credentialId: base64url(testPasskey(n).credentialId),
    publicKey: toHex(p256.getPublicKey(sha256(`passkey ${n}`))),
    rpIdHash: toHex(sha256(rpId)),
    aaguid: "00000000-0000-0000-0000-000000000000",
    attestationType: "none",
    transports: ["AUTHENTICATOR_TRANSPORT_INTERNAL"],
    counter: 0,
    createdAtMs: madeAtMs,
    updatedAtMs: madeAtMs,
    ...changes,
  };
}

/** The header of a stamp by a passkey. */
export function passkeyStamp(
  passkey: TestPasskey,
  body: Uint8Array,
  from = origin,
  change: (parts: AssertionParts) => AssertionParts = (parts) => parts,
): string {
  const parts = change(assertionParts(passkey, stampChallenge(sha256(body)), from));
  const { authenticatorData, clientDataJson, signature } = assertion(passkey, parts);
  return JSON.stringify({
    authenticatorData: base64url(authenticatorData),
    clientDataJson: base64url(clientDataJson),
    credentialId: base64url(passkey.credentialId),
    signature: base64url(signature),
  });
}

/** The same as requests and frames carry it. */
export function passkeyEvidence(...args: Parameters<typeof passkeyStamp>): SentEvidence<"webauthn"> {
  return { kind: "webauthn", value: passkeyStamp(...args) };
}
