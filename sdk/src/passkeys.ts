/** Passkeys in a browser: making one that can be registered, and stamping requests with it. */
import { nobleCurves } from "@keystead/core/crypto/noble_curves.ts";
import { fromBase64url, toBase64url } from "@keystead/core/encoding/base64url.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import type { Transport } from "@keystead/core/webauthn/transports.ts";
import type { Stamper } from "./stamper.ts";

/** The part of `navigator.credentials` that is used: of a browser, or a stand-in of a test. */
export type CredentialsContainer = {
  get(options: { publicKey: object }): Promise<unknown>;
  create(options: { publicKey: object }): Promise<unknown>;
};

export type PasskeyStamperOptions = {
  /** The domain that the passkey was made for; the page's own if left out. */
  rpId?: string;
  /** Credential ids of the passkeys that may answer, base64url; without any the browser offers all that it has. */
  credentialIds?: readonly string[];
  userVerification?: "required" | "preferred" | "discouraged";
  timeoutMs?: number;
  /** Instead of the browser's own. */
  credentials?: CredentialsContainer;
};

const utf8 = new TextEncoder();

/** Stamps with a passkey. Each request asks the user, so sign in with it and stamp with a session where there are many. */
export function createPasskeyStamper({
  rpId,
  credentialIds = [],
  userVerification = "preferred",
  timeoutMs = 300_000,
  credentials = browserCredentials(),
}: PasskeyStamperOptions = {}): Stamper {
  return {
    async stamp(body) {
      const publicKey = {
        // The hex digits as text, not the bytes of the digest.
        challenge: utf8.encode(toHex(nobleCurves.sha256(body))),
        ...(rpId !== undefined && { rpId }),
        allowCredentials: credentialIds.map((id) => ({ type: "public-key", id: fromBase64url(id) })),
        userVerification,
        timeout: timeoutMs,
      };
      const { rawId, response } = answered<Asserted>(await credentials.get({ publicKey }));
      const value = JSON.stringify({
        authenticatorData: encode(response.authenticatorData),
        clientDataJson: encode(response.clientDataJSON),
        credentialId: encode(rawId),
        signature: encode(response.signature),
      });
      return { name: "X-Stamp-Webauthn", value };
    },
  };
}

export type NewPasskeyOptions = {
  authenticatorName: string;
  rp: { id?: string; name: string };
  /** Shown by the browser. `id` is 1 to 64 bytes that say nothing about the person; random ones if left out. */
  user: { id?: Uint8Array; name: string; displayName: string };
  userVerification?: "required" | "preferred" | "discouraged";
  timeoutMs?: number;
  /** Instead of the browser's own. */
  credentials?: CredentialsContainer;
};

/** A passkey as `create_authenticators`, `create_users` and `create_sub_organization` register it. */
export type NewPasskey = {
  authenticatorName: string;
  challenge: string;
  attestation: {
    credentialId: string;
    clientDataJson: string;
    attestationObject: string;
    transports: Transport[];
  };
};

/** Asks the browser for a new passkey. Nothing is sent: the result goes into a stamped request. */
export async function createPasskey({
  authenticatorName,
  rp,
  user,
  userVerification = "preferred",
  timeoutMs = 300_000,
  credentials = browserCredentials(),
}: NewPasskeyOptions): Promise<NewPasskey> {
  const challenge = crypto.getRandomValues(new Uint8Array(32));
  const publicKey = {
    rp,
    user: { ...user, id: user.id ?? crypto.getRandomValues(new Uint8Array(32)) },
    challenge,
    // ES256 and RS256: what the server takes.
    pubKeyCredParams: [-7, -257].map((alg) => ({ type: "public-key", alg })),
    authenticatorSelection: { residentKey: "preferred", userVerification },
    attestation: "none",
    timeout: timeoutMs,
  };
  const { rawId, response } = answered<Attested>(await credentials.create({ publicKey }));
  return {
    authenticatorName,
    challenge: toBase64url(challenge),
    attestation: {
      credentialId: encode(rawId),
      clientDataJson: encode(response.clientDataJSON),
      attestationObject: encode(response.attestationObject),
      transports: (response.getTransports?.() ?? []).flatMap((name) => transports[name] ?? []),
    },
  };
}

type Asserted = {
  rawId: ArrayBuffer;
  response: { authenticatorData: ArrayBuffer; clientDataJSON: ArrayBuffer; signature: ArrayBuffer };
};
type Attested = {
  rawId: ArrayBuffer;
  response: { clientDataJSON: ArrayBuffer; attestationObject: ArrayBuffer; getTransports?(): readonly string[] };
};

/** From the browser's words; others, such as smart cards, have none on the wire and are left out. */
const transports: Readonly<Record<string, Transport>> = {
  ble: "AUTHENTICATOR_TRANSPORT_BLE",
  internal: "AUTHENTICATOR_TRANSPORT_INTERNAL",
  nfc: "AUTHENTICATOR_TRANSPORT_NFC",
  usb: "AUTHENTICATOR_TRANSPORT_USB",
  hybrid: "AUTHENTICATOR_TRANSPORT_HYBRID",
};

function answered<T>(credential: unknown): T {
  if (credential === null || credential === undefined) throw new Error("the browser returned no passkey");
  return credential as T;
}

function encode(buffer: ArrayBuffer): string {
  return toBase64url(new Uint8Array(buffer));
}

function browserCredentials(): CredentialsContainer {
  const { credentials } = (globalThis.navigator ?? {}) as { credentials?: CredentialsContainer };
  if (credentials === undefined) throw new Error("passkeys need a browser: there is no navigator.credentials here");
  return credentials;
}
