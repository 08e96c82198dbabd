/** Passkeys in software: registered and used as a browser would. */
import { randomBytes } from "node:crypto";
import { stampChallenge } from "@keystead/core/webauthn/webauthn_stamp.ts";
import {
  assertion,
  assertionParts,
  base64url,
  es256Passkey,
  registration,
  sha256,
  type TestPasskey,
} from "../../core/test/webauthn/authenticator.ts";

export type Passkey = { passkey: TestPasskey; credentialId: string };

/** The same secret gives the same passkey. */
export function createPasskey(secret: Uint8Array = randomBytes(32)): Passkey {
  const key = sha256(secret);
  const passkey = es256Passkey(key, "app.example.com", sha256(key).slice(0, 20));
  return { passkey, credentialId: base64url(passkey.credentialId) };
}

export type AuthenticatorParams = {
  authenticatorName: string;
  challenge: string;
  attestation: { credentialId: string; clientDataJson: string; attestationObject: string; transports: string[] };
};

/** As requests register it. */
export function authenticatorParams({ passkey }: Passkey = createPasskey()): AuthenticatorParams {
  const { challenge, attestation } = registration(passkey);
  if (attestation === undefined) throw new Error("a registration without an attestation");
  return {
    authenticatorName: `Passkey ${base64url(passkey.credentialId)}`,
    challenge,
    attestation: { ...attestation, transports: [...attestation.transports] },
  };
}

/** The `X-Stamp-Webauthn` header over a body. */
export function passkeyStamp({ passkey, credentialId }: Passkey, body: Uint8Array | string): string {
  const parts = assertionParts(passkey, stampChallenge(sha256(body)));
  const { authenticatorData, clientDataJson, signature } = assertion(passkey, parts);
  return JSON.stringify({
    authenticatorData: base64url(authenticatorData),
    clientDataJson: base64url(clientDataJson),
    credentialId,
    signature: base64url(signature),
  });
}
