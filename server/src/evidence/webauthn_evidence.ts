/** A stamp by a passkey: its assertion over the hash of the exact body bytes. */
import type { Curves } from "@keystead/core/crypto/curves.ts";
import { fromSpki } from "@keystead/core/crypto/rsa_public_key.ts";
import { fromBase64url } from "@keystead/core/encoding/base64url.ts";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { EvidenceContent } from "@keystead/core/log/leaf_evidence.ts";
import { algorithmOf, signedMessage, verifyPasskeySignature } from "@keystead/core/webauthn/passkey_signature.ts";
import { verifyAssertion } from "@keystead/core/webauthn/verify_assertion.ts";
import {
  parseWebauthnStamp,
  stampChallenge,
  unverifiedAssertion,
  type WebauthnStamp,
} from "@keystead/core/webauthn/webauthn_stamp.ts";
import { passkeyFacts, passkeyLookup } from "../state/credentials.ts";
import { createLru } from "../state/lru.ts";
import type { EvidenceRow, SearchedOrganization } from "./evidence_row.ts";

const unknownCode = "CREDENTIAL_NOT_FOUND";

/** A name of our own: the published descriptions have none for votes by passkeys. */
export const webauthnScheme = "SIGNATURE_SCHEME_WEBAUTHN";

export const webauthnEvidence: EvidenceRow<WebauthnStamp> = {
  header: "x-stamp-webauthn",
  schemes: [webauthnScheme],
  parse: (_curves, value) => parseWebauthnStamp(value),
  lookup: ({ credentialId }) => passkeyLookup(credentialId),
  verify({ curves, credential, allowedOrigins }, stamp, body) {
    const { publicKey, rpIdHash } = passkeyFacts(credential.passkey);
    const verdict = verifyAssertion(curves, stamp, {
      challenge: stampChallenge(curves.sha256(body)),
      publicKey: fromHex(publicKey),
      rpIdHash: fromHex(rpIdHash),
      allowedOrigins: allowedOrigins(),
    });
    return verdict.verified;
  },
  isMadeBy(curves, { authenticatorData, clientDataJson, signature }, { passkey }) {
    const message = signedMessage(curves, authenticatorData, clientDataJson);
    return verifyPasskeySignature(curves, fromHex(passkeyFacts(passkey).publicKey), message, signature);
  },
  needsOrigins: true,
  keep: (curves, { credentialId, authenticatorData, clientDataJson, signature }, publicKey) => ({
    kind: "webauthn",
    value: {
      rawId: fromBase64url(credentialId),
      ...{ authenticatorData, clientDataJson, signature },
      publicKey: leafKey(curves, publicKey),
    },
  }),
  // The stamp whole, because a signature by a passkey is over all of its parts.
  show(value, { authenticators = [] }) {
    const { credentialId } = parseWebauthnStamp(value);
    const passkey = authenticators.find((each) => each.credentialId === credentialId);
    if (passkey === undefined) throw new Fault("internal", "a stamp by a passkey that its user does not have");
    return { publicKey: passkey.publicKey, signature: value, scheme: webauthnScheme };
  },
  fromShown: ({ signature }) => signature,
  unknownCode,
  invalidCode: "SIGNATURE_INVALID",
  unknown: unknownPasskey,
  // No passkey has an end.
  expired: () => unverifiedAssertion("the credential has expired"),
  unverified: () => unverifiedAssertion("the assertion does not verify"),
  ambiguous: () =>
    new Fault("unauthenticated", "more than one suborg associated with a credential ID", {
      errorCode: "CREDENTIAL_CONFLICT",
    }),
};

/** Published with two texts and codes: one where the organization was named, and one where it was to be found. */
function unknownPasskey({ inSubOrganizations = false }: SearchedOrganization): Fault {
  return inSubOrganizations
    ? new Fault("unauthenticated", "credential ID could not be found in organization or its parent organization", {
        errorCode: unknownCode,
      })
    : new Fault("not_found", "webauthn authenticator not found in organization or parent organization", {
        errorCode: unknownCode,
      });
}

type LeafKey = Extract<EvidenceContent, { kind: "webauthn" }>["value"]["publicKey"];

/** Finding a point's second coordinate costs as much as verifying a signature, and most stamps are by the same few passkeys. */
const leafKeys = createLru<LeafKey>(2_000);

/** A stored key in the form of leaves. */
function leafKey(curves: Curves, publicKey: string): LeafKey {
  const known = leafKeys.get(publicKey);
  if (known !== undefined) return known;
  const bytes = fromHex(publicKey);
  const key: LeafKey =
    algorithmOf(bytes) === "RS256"
      ? { kind: "RS256", value: fromSpki(bytes) }
      : { kind: "ES256", value: { point: curves.uncompressP256(bytes) } };
  leafKeys.set(publicKey, key, 1);
  return key;
}
