/**
 * Whether a passkey vouches for a body: what a browser returned from `navigator.credentials.get`, against the registered
 * passkey. The gateway runs this for queries, the signer for submits, and anyone who has a leaf of the log and its body.
 */
import { sameBytes } from "../encoding/bytes.ts";
import { Fault } from "../fault.ts";
import { parseAuthenticatorData } from "./authenticator_data.ts";
import { isSameChallenge, parseClientData } from "./client_data.ts";
import { originFlaw } from "./origin.ts";
import { type PasskeyCrypto, signedMessage, verifyPasskeySignature } from "./passkey_signature.ts";

/** What the authenticator and the browser made. */
export type Assertion = {
  authenticatorData: Uint8Array;
  clientDataJson: Uint8Array;
  /** DER for ES256, as long as the modulus for RS256. */
  signature: Uint8Array;
};

/** What it must be for: all of it is the verifier's own knowledge. */
export type ExpectedAssertion = {
  /** As `stampChallenge` makes it from the body. */
  challenge: string;
  /** The registered key in its stored form. */
  publicKey: Uint8Array;
  /** The one that was registered. */
  rpIdHash: Uint8Array;
  allowedOrigins: readonly string[] | undefined;
};

/** `why` is for the log: every caller whose assertion fails gets the same text. */
export type AssertionVerdict =
  | { verified: true; userVerified: boolean; counter: number }
  | { verified: false; why: string };

/** Never throws on anything that a stranger sent. */
export function verifyAssertion(
  crypto: PasskeyCrypto,
  assertion: Assertion,
  expected: ExpectedAssertion,
): AssertionVerdict {
  try {
    return verifyParts(crypto, assertion, expected);
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid_argument") return failed(error.message);
    throw error;
  }
}

function failed(why: string): AssertionVerdict {
  return { verified: false, why };
}

/** The signature comes before the origin's domains are hashed: only the passkey's holder can make us look for them. */
function verifyParts(
  crypto: PasskeyCrypto,
  { authenticatorData, clientDataJson, signature }: Assertion,
  { challenge, publicKey, rpIdHash, allowedOrigins }: ExpectedAssertion,
): AssertionVerdict {
  const data = parseAuthenticatorData(authenticatorData);
  if (!sameBytes(data.rpIdHash, rpIdHash)) return failed("the passkey is for another domain");
  if (!data.userPresent) return failed("the user was not present");
  if (data.attested !== undefined) return failed("a new credential in an assertion");
  const clientData = parseClientData(clientDataJson);
  if (clientData.type !== "webauthn.get") return failed("the type is not webauthn.get");
  if (!isSameChallenge(clientData.challenge, challenge)) return failed("the challenge is not the body's");
  const message = signedMessage(crypto, authenticatorData, clientDataJson);
  if (!verifyPasskeySignature(crypto, publicKey, message, signature)) return failed("the signature does not verify");
  const flaw = originFlaw(crypto, clientData, { allowedOrigins, rpIdHash });
  if (flaw !== undefined) return failed(flaw);
  return { verified: true, userVerified: data.userVerified, counter: data.counter };
}
