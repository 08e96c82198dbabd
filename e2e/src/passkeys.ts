/** Passkeys in software: registered and used as a browser would. */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { stampChallenge } from "@keystead/core/webauthn/webauthn_stamp.ts";
import {
  type AssertionParts,
  assertion,
  assertionParts,
  base64url,
  es256Passkey,
  type RegistrationParts,
  registration,
  registrationParts,
  selfAttested,
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

/** As requests register it; `change` for what no browser makes. */
export function authenticatorParams(
  { passkey }: Passkey = createPasskey(),
  change: (parts: RegistrationParts) => RegistrationParts = (parts) => parts,
): AuthenticatorParams {
  const { challenge, attestation } = registration(passkey, change(registrationParts(passkey)));
  if (attestation === undefined) throw new Error("a registration without an attestation");
  return {
    authenticatorName: `Passkey ${base64url(passkey.credentialId)}`,
    challenge,
    attestation: { ...attestation, transports: [...attestation.transports] },
  };
}

/** One that vouches for itself: whoever registers it verifies a signature. Made by OpenSSL, because floods need thousands. */
export function attestedParams(): AuthenticatorParams {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = privateKey.export({ format: "jwk" });
  const passkey: TestPasskey = {
    ...{ algorithm: "ES256", rpId: "app.example.com", credentialId: new Uint8Array(randomBytes(20)) },
    coseKey: [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, new Uint8Array(Buffer.from(x, "base64url"))],
      [-3, new Uint8Array(Buffer.from(y, "base64url"))],
    ],
    sign: (message) => new Uint8Array(sign("sha256", message, privateKey)),
  };
  return authenticatorParams({ passkey, credentialId: base64url(passkey.credentialId) }, (parts) =>
    selfAttested(passkey, parts),
  );
}

/** The fields of an `X-Stamp-Webauthn` header. */
export type StampFields = {
  authenticatorData: string;
  clientDataJson: string;
  credentialId: string;
  signature: string;
};

/** The fields over a body; `change` for what no authenticator signs. */
export function passkeyStampFields(
  { passkey, credentialId }: Passkey,
  body: Uint8Array | string,
  change: (parts: AssertionParts) => AssertionParts = (parts) => parts,
): StampFields {
  const parts = change(assertionParts(passkey, stampChallenge(sha256(body))));
  const { authenticatorData, clientDataJson, signature } = assertion(passkey, parts);
  return {
    authenticatorData: base64url(authenticatorData),
    clientDataJson: base64url(clientDataJson),
    credentialId,
    signature: base64url(signature),
  };
}

/** The `X-Stamp-Webauthn` header over a body. */
export function passkeyStamp(passkey: Passkey, body: Uint8Array | string): string {
  return JSON.stringify(passkeyStampFields(passkey, body));
}
