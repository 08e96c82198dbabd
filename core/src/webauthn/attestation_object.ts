/**
 * Attestation objects (WebAuthn Level 3, section 6.5.4): a new passkey and what vouches for it. Every format that
 * browsers pass on is taken. A statement by the passkey itself is verified; one by a vendor is not, because no vendor's
 * word is asked for: anyone may register a passkey of any make.
 */
import { type CborMap, fromCbor, isCborMap } from "../encoding/cbor.ts";
import { Fault } from "../fault.ts";
import { type PasskeyKey, passkeyAlgorithms } from "./cose_key.ts";

/** The formats of the standard's registry. */
export const attestationFormats = [
  "none",
  "packed",
  "fido-u2f",
  "apple",
  "android-key",
  "android-safetynet",
  "tpm",
] as const;

export type AttestationFormat = (typeof attestationFormats)[number];

export type AttestationObject = { format: AttestationFormat; statement: CborMap; authenticatorData: Uint8Array };

/** Chains of certificates take up to ten kilobytes. */
const maxBytes = 32 * 1024;

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed attestation object: ${why}`);
}

/** Reads an attestation object; further keys beside the three are ignored. */
export function parseAttestationObject(bytes: Uint8Array): AttestationObject {
  const object = fromCbor(bytes, maxBytes);
  if (!isCborMap(object)) throw malformed("not a map");
  const authenticatorData = object.get("authData");
  if (authenticatorData === undefined) throw missingAuthenticatorData();
  if (!(authenticatorData instanceof Uint8Array)) throw malformed("authData is not a byte string");
  const format = attestationFormats.find((known) => known === object.get("fmt"));
  if (format === undefined) throw malformed(`the format is not one of ${attestationFormats.join(", ")}`);
  const statement = object.get("attStmt");
  if (!isCborMap(statement)) throw malformed("attStmt is not a map");
  return { format, statement, authenticatorData };
}

/** The published text. Its own code lets the caller pass it on as it is. */
function missingAuthenticatorData(): Fault {
  return new Fault("invalid_argument", missingAuthenticatorDataText);
}

export const missingAuthenticatorDataText = "missing parameter: user authenticator attestation auth data";

/**
 * Why the statement is not what its format says; undefined when it is, or when it is a vendor's. `verify` says whether
 * the new passkey made this signature over the registration.
 */
export function statementFlaw(
  { format, statement }: AttestationObject,
  { algorithm }: Pick<PasskeyKey, "algorithm">,
  verify: (signature: Uint8Array) => boolean,
): string | undefined {
  if (format === "none") return statement.size === 0 ? undefined : "a statement where there should be none";
  if (format !== "packed" || statement.has("x5c")) return undefined;
  if (statement.get("alg") !== passkeyAlgorithms[algorithm].cose) {
    return "the self-attestation names another algorithm than the key";
  }
  const signature = statement.get("sig");
  if (!(signature instanceof Uint8Array) || !verify(signature)) return "the self-attestation does not verify";
  return undefined;
}
