/**
 * Registering a passkey: what a browser returned from `navigator.credentials.create`, checked and reduced to what is kept.
 * The challenge was chosen by the client, so a registration proves only that its parts belong together: it is as strong
 * as the stamped activity that carries it.
 */
import { fromBase64url, toBase64url } from "../encoding/base64url.ts";
import { sameBytes } from "../encoding/bytes.ts";
import { fromCbor } from "../encoding/cbor.ts";
import { uuidFromBytes } from "../encoding/uuid.ts";
import { Fault } from "../fault.ts";
import {
  type AttestationFormat,
  missingAuthenticatorDataText,
  parseAttestationObject,
  statementFlaw,
} from "./attestation_object.ts";
import { type AttestedCredential, type AuthenticatorData, parseAuthenticatorData } from "./authenticator_data.ts";
import { isSameChallenge, parseClientData } from "./client_data.ts";
import { type PasskeyAlgorithm, readCoseKey } from "./cose_key.ts";
import { originFlaw } from "./origin.ts";
import { type PasskeyCrypto, signedMessage, verifyPasskeySignature } from "./passkey_signature.ts";
import { isTransport, type Transport } from "./transports.ts";

/** The parts of an `authenticators[]` entry that are verified, as they are sent. */
export type Registration = {
  challenge: string;
  attestation: Attestation | undefined;
};

/** All but the transports in base64url. `credentialId` is of the raw id, or of a CBOR byte string that holds it. */
export type Attestation = {
  credentialId: string;
  clientDataJson: string;
  attestationObject: string;
  transports: readonly string[];
};

/** What is kept of a verified registration. */
export type RegisteredPasskey = {
  /** Base64url of the raw id. */
  credentialId: string;
  algorithm: PasskeyAlgorithm;
  /** In the stored form. */
  publicKey: Uint8Array;
  rpIdHash: Uint8Array;
  /** The authenticator's model, as a UUID. */
  aaguid: string;
  attestationType: AttestationFormat;
  transports: readonly Transport[];
  counter: number;
  userVerified: boolean;
  backupEligible: boolean;
  backedUp: boolean;
};

export type RegistrationRule = { allowedOrigins: readonly string[] | undefined };

const invalidText = "invalid authenticator attestation";

function invalid(why: string, cause?: unknown): Fault {
  return new Fault("invalid_argument", `${invalidText}: ${why}`, { cause });
}

/** Verifies a registration, or throws `invalid_argument` with a published text and what is wrong. */
export function verifyRegistration(
  crypto: PasskeyCrypto,
  registration: Registration,
  rule: RegistrationRule,
): RegisteredPasskey {
  const { attestation } = registration;
  if (attestation === undefined) {
    throw new Fault("invalid_argument", "missing parameter: user authenticator attestation");
  }
  try {
    return verifyParts(crypto, registration.challenge, attestation, rule);
  } catch (error) {
    throw withPublishedText(error);
  }
}

/** Readers say what is malformed in their own words. */
function withPublishedText(error: unknown): unknown {
  if (!(error instanceof Fault) || error.code !== "invalid_argument") return error;
  if (error.message.startsWith(invalidText) || error.message === missingAuthenticatorDataText) return error;
  return invalid(error.message, error);
}

function verifyParts(
  crypto: PasskeyCrypto,
  challenge: string,
  attestation: Attestation,
  { allowedOrigins }: RegistrationRule,
): RegisteredPasskey {
  const clientDataJson = fromBase64url(attestation.clientDataJson);
  const clientData = parseClientData(clientDataJson);
  if (clientData.type !== "webauthn.create") throw invalid("the type is not webauthn.create");
  if (challenge === "" || !isSameChallenge(clientData.challenge, challenge)) throw invalid("the challenge differs");

  const object = parseAttestationObject(fromBase64url(attestation.attestationObject));
  const data = parseAuthenticatorData(object.authenticatorData);
  const { aaguid, credentialId, publicKey } = newCredential(data);
  if (!isIdOf(credentialId, fromBase64url(attestation.credentialId))) throw invalid("the credential id differs");
  const flaw = originFlaw(crypto, clientData, { allowedOrigins, rpIdHash: data.rpIdHash });
  if (flaw !== undefined) throw invalid(flaw);

  const key = readCoseKey(crypto, publicKey);
  const wrongStatement = statementFlaw(object, key, (signature) => {
    const message = signedMessage(crypto, object.authenticatorData, clientDataJson);
    return verifyPasskeySignature(crypto, key.publicKey, message, signature);
  });
  if (wrongStatement !== undefined) throw invalid(wrongStatement);

  const { counter, userVerified, backupEligible, backedUp } = data;
  return {
    credentialId: toBase64url(credentialId),
    ...key,
    // What is kept must not hold on to the request.
    rpIdHash: data.rpIdHash.slice(),
    aaguid: uuidFromBytes(aaguid),
    attestationType: object.format,
    transports: readTransports(attestation.transports),
    ...{ counter, userVerified, backupEligible, backedUp },
  };
}

function newCredential({ userPresent, attested }: AuthenticatorData): AttestedCredential {
  if (!userPresent) throw invalid("the user was not present");
  if (attested === undefined) throw invalid("no credential in the authenticator data");
  return attested;
}

/** The description of the wire asks for CBOR; every client sends the raw id. */
/** The ids that a sent one may stand for, in base64url: itself, and what a CBOR byte string holds. Throws on anything but base64url. */
export function credentialIdsIn(sent: string): string[] {
  const bytes = fromBase64url(sent);
  const held = byteStringIn(bytes);
  return held.length === 0 ? [toBase64url(bytes)] : [toBase64url(bytes), toBase64url(held)];
}

function isIdOf(credentialId: Uint8Array, sent: Uint8Array): boolean {
  return sameBytes(sent, credentialId) || sameBytes(byteStringIn(sent), credentialId);
}

const nothing = new Uint8Array();

function byteStringIn(sent: Uint8Array): Uint8Array {
  try {
    const value = fromCbor(sent);
    return value instanceof Uint8Array ? value : nothing;
  } catch {
    return nothing;
  }
}

/** Each at most once, so that nobody makes a user's page longer by repeating one. */
function readTransports(sent: readonly string[]): readonly Transport[] {
  const unknown = sent.find((name) => !isTransport(name));
  if (unknown !== undefined) throw invalid(`\`${unknown}\` is not a transport`);
  return [...new Set(sent.filter(isTransport))];
}
