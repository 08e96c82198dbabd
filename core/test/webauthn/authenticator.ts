/** An authenticator and a browser in software: registrations and assertions whose every part a test can set. */
import { constants, createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { p256 } from "@noble/curves/nist.js";
import { toEcdsaDer } from "../../src/encoding/der.ts";
import type { Assertion } from "../../src/webauthn/verify_assertion.ts";
import type { Registration } from "../../src/webauthn/verify_registration.ts";
import { type CborNode, writeCbor } from "./cbor_writer.ts";

export const sha256 = (bytes: Uint8Array | string): Uint8Array =>
  new Uint8Array(createHash("sha256").update(bytes).digest());
export const base64url = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64url");

/** A passkey with its private key. `coseKey` is its public key as pairs, so that tests can change them. */
export type TestPasskey = {
  algorithm: "ES256" | "RS256";
  rpId: string;
  credentialId: Uint8Array;
  coseKey: readonly (readonly [number, CborNode])[];
  sign(message: Uint8Array): Uint8Array;
};

/** Deterministic: the same secret and message give the same signature. */
export function es256Passkey(secret: Uint8Array, rpId: string, credentialId: Uint8Array): TestPasskey {
  const point = p256.getPublicKey(secret, false);
  return {
    algorithm: "ES256",
    ...{ rpId, credentialId },
    coseKey: [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, point.slice(1, 33)],
      [-3, point.slice(33)],
    ],
    sign: (message) => toEcdsaDer(p256.sign(message, secret, { lowS: false })),
  };
}

/** Making an RSA key takes a while, so a few serve many passkeys. */
export function rsaKeyPair(modulusLength = 2048): KeyObject {
  return generateKeyPairSync("rsa", { modulusLength }).privateKey;
}

export function rs256Passkey(privateKey: KeyObject, rpId: string, credentialId: Uint8Array): TestPasskey {
  const { n = "", e = "" } = privateKey.export({ format: "jwk" });
  return {
    algorithm: "RS256",
    ...{ rpId, credentialId },
    coseKey: [
      [1, 3],
      [3, -257],
      [-1, new Uint8Array(Buffer.from(n, "base64url"))],
      [-2, new Uint8Array(Buffer.from(e, "base64url"))],
    ],
    sign: (message) =>
      new Uint8Array(sign("sha256", message, { key: privateKey, padding: constants.RSA_PKCS1_PADDING })),
  };
}

export const flags = { up: 0x01, uv: 0x04, be: 0x08, bs: 0x10, at: 0x40, ed: 0x80 } as const;

/** What goes into authenticator data; `attested` and `extensions` are bytes already. */
export type AuthenticatorParts = {
  rpIdHash: Uint8Array;
  flags: number;
  counter: number;
  attested: Uint8Array;
  extensions: Uint8Array;
};

export function authenticatorData({ rpIdHash, flags, counter, attested, extensions }: AuthenticatorParts): Uint8Array {
  const numbers = Buffer.alloc(5);
  numbers.writeUInt8(flags, 0);
  numbers.writeUInt32BE(counter, 1);
  return new Uint8Array(Buffer.concat([rpIdHash, numbers, attested, extensions]));
}

export function attestedData({ credentialId, coseKey }: TestPasskey, aaguid = new Uint8Array(16)): Uint8Array {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(credentialId.length);
  return new Uint8Array(Buffer.concat([aaguid, length, credentialId, writeCbor({ pairs: coseKey })]));
}

export function clientDataJson(type: string, challenge: string, origin: string, more: object = {}): Uint8Array {
  return new Uint8Array(Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false, ...more })));
}

export function signed(passkey: TestPasskey, authData: Uint8Array, clientData: Uint8Array): Uint8Array {
  return passkey.sign(new Uint8Array(Buffer.concat([authData, sha256(clientData)])));
}

export type RegistrationParts = {
  challenge: string;
  clientDataJson: Uint8Array;
  authenticator: AuthenticatorParts;
  format: string;
  /** The statement over the data as it is when the registration is put together. */
  statement(authData: Uint8Array, clientData: Uint8Array): CborNode;
};

/** The parts of an honest registration without attestation; a test changes what it is about. */
export function registrationParts(passkey: TestPasskey, origin = `https://${passkey.rpId}`): RegistrationParts {
  const challenge = base64url(sha256(passkey.credentialId));
  return {
    challenge,
    clientDataJson: clientDataJson("webauthn.create", challenge, origin),
    authenticator: {
      rpIdHash: sha256(passkey.rpId),
      flags: flags.up | flags.uv | flags.at,
      counter: 0,
      attested: attestedData(passkey),
      extensions: new Uint8Array(),
    },
    format: "none",
    statement: () => ({ pairs: [] }),
  };
}

export function selfAttested(passkey: TestPasskey, parts: RegistrationParts): RegistrationParts {
  const alg = passkey.algorithm === "ES256" ? -7 : -257;
  return {
    ...parts,
    format: "packed",
    statement: (authData, clientData) => ({
      pairs: [
        ["alg", alg],
        ["sig", signed(passkey, authData, clientData)],
      ],
    }),
  };
}

export function attestationNode(parts: RegistrationParts): CborNode {
  const authData = authenticatorData(parts.authenticator);
  return {
    pairs: [
      ["fmt", parts.format],
      ["attStmt", parts.statement(authData, parts.clientDataJson)],
      ["authData", authData],
    ],
  };
}

export function registration(passkey: TestPasskey, parts = registrationParts(passkey)): Registration {
  return {
    challenge: parts.challenge,
    attestation: {
      credentialId: base64url(passkey.credentialId),
      clientDataJson: base64url(parts.clientDataJson),
      attestationObject: base64url(writeCbor(attestationNode(parts))),
      transports: ["AUTHENTICATOR_TRANSPORT_INTERNAL"],
    },
  };
}

export type AssertionParts = { clientDataJson: Uint8Array; authenticator: AuthenticatorParts };

/** The parts of an honest assertion over a challenge. */
export function assertionParts({ rpId }: TestPasskey, challenge: string, origin = `https://${rpId}`): AssertionParts {
  return {
    clientDataJson: clientDataJson("webauthn.get", challenge, origin),
    authenticator: {
      rpIdHash: sha256(rpId),
      flags: flags.up | flags.uv,
      counter: 0,
      attested: new Uint8Array(),
      extensions: new Uint8Array(),
    },
  };
}

export function assertion(passkey: TestPasskey, parts: AssertionParts): Assertion {
  const authData = authenticatorData(parts.authenticator);
  return {
    authenticatorData: authData,
    clientDataJson: parts.clientDataJson,
    signature: signed(passkey, authData, parts.clientDataJson),
  };
}
