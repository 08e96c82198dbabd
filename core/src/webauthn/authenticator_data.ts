/** Authenticator data (WebAuthn Level 3, section 6.1): what an authenticator says and signs. It is read to its last byte. */
import { type CborMap, isCborMap, readCborAt } from "../encoding/cbor.ts";
import { Fault } from "../fault.ts";

export type AuthenticatorData = {
  /** SHA-256 of the relying party's id, which is the domain that the passkey is for. */
  rpIdHash: Uint8Array;
  userPresent: boolean;
  userVerified: boolean;
  backupEligible: boolean;
  backedUp: boolean;
  counter: number;
  /** The new credential; in registrations only. */
  attested: AttestedCredential | undefined;
};

export type AttestedCredential = {
  /** The authenticator's model, 16 bytes. */
  aaguid: Uint8Array;
  credentialId: Uint8Array;
  /** A COSE key, not yet looked at. */
  publicKey: CborMap;
};

/** Two further bits are reserved, and ignored as the standard says. */
const flag = {
  userPresent: 0x01,
  userVerified: 0x04,
  backupEligible: 0x08,
  backedUp: 0x10,
  attested: 0x40,
  extensions: 0x80,
} as const;

const flagsAt = 32;
const counterAt = 33;
const headLength = 37;
/** A credential id of the longest kind, an RSA key of 4096 bits, and extensions. */
const maxBytes = 4096;
/** WebAuthn Level 3, section 5.8.3. */
const maxCredentialIdBytes = 1023;

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed authenticator data: ${why}`);
}

/** Reads authenticator data; whatever flags announce must be there, and nothing else. */
export function parseAuthenticatorData(bytes: Uint8Array): AuthenticatorData {
  if (bytes.length < headLength) throw malformed("too short");
  if (bytes.length > maxBytes) throw malformed(`over ${maxBytes} bytes`);
  const flags = bytes[flagsAt] ?? 0;
  const has = (bit: number) => (flags & bit) !== 0;
  if (has(flag.backedUp) && !has(flag.backupEligible)) throw malformed("backed up, but not eligible for backup");
  let end = headLength;
  let attested: AttestedCredential | undefined;
  if (has(flag.attested)) ({ attested, end } = readAttested(bytes));
  if (has(flag.extensions)) end = skipExtensions(bytes, end);
  if (end !== bytes.length) throw malformed("trailing bytes");
  return {
    rpIdHash: bytes.subarray(0, flagsAt),
    userPresent: has(flag.userPresent),
    userVerified: has(flag.userVerified),
    backupEligible: has(flag.backupEligible),
    backedUp: has(flag.backedUp),
    counter: readCounter(bytes),
    attested,
  };
}

function readCounter(bytes: Uint8Array): number {
  let counter = 0;
  for (let at = counterAt; at < headLength; at++) counter = counter * 256 + (bytes[at] ?? 0);
  return counter;
}

const idLengthAt = headLength + 16;
const idAt = idLengthAt + 2;

function readAttested(bytes: Uint8Array): { attested: AttestedCredential; end: number } {
  if (bytes.length < idAt) throw malformed("too short");
  const idLength = ((bytes[idLengthAt] ?? 0) << 8) | (bytes[idLengthAt + 1] ?? 0);
  if (idLength === 0 || idLength > maxCredentialIdBytes) {
    throw malformed(`a credential id has 1 to ${maxCredentialIdBytes} bytes`);
  }
  const keyAt = idAt + idLength;
  if (keyAt > bytes.length) throw malformed("too short");
  const { value, end } = readCborAt(bytes, keyAt);
  if (!isCborMap(value)) throw malformed("not a COSE key");
  const attested = {
    aaguid: bytes.subarray(headLength, idLengthAt),
    credentialId: bytes.subarray(idAt, keyAt),
    publicKey: value,
  };
  return { attested, end };
}

/** No extension means anything to us, but what is there must be one well-formed map. */
function skipExtensions(bytes: Uint8Array, at: number): number {
  const { value, end } = readCborAt(bytes, at);
  if (!isCborMap(value)) throw malformed("extensions that are not a map");
  return end;
}
