/** Whether the evidence in a leaf shows that somebody stamped a body. It takes the leaf and the body, and nothing of the server. */
import type { Curves } from "../../crypto/curves.ts";
import { checkRsaPublicKey, toSpki } from "../../crypto/rsa_public_key.ts";
import { type StampSchemeRow, stampSchemes } from "../../crypto/stamp.ts";
import { Fault } from "../../fault.ts";
import { attestedIdentityScheme } from "../../oidc/attested_identity.ts";
import { attestedTokenScheme } from "../../otp/attested_stamp.ts";
import { parseAuthenticatorData } from "../../webauthn/authenticator_data.ts";
import { isSameChallenge, parseClientData } from "../../webauthn/client_data.ts";
import { signedMessage, verifyPasskeySignature } from "../../webauthn/passkey_signature.ts";
import { stampChallenge } from "../../webauthn/webauthn_stamp.ts";
import type { EvidenceContent, LeafEvidence } from "../leaf_evidence.ts";

/** `bad`: why it shows nothing. `unchecked`: what of it cannot be seen from a leaf and its bodies. */
export type EvidenceVerdict = { bad: string } | { unchecked: string } | { good: true };

const good: EvidenceVerdict = { good: true };

type Content<K extends EvidenceContent["kind"]> = Extract<EvidenceContent, { kind: K }>["value"];
type Stamped = { body: Uint8Array; digest: Uint8Array };

type Checks = {
  [K in EvidenceContent["kind"]]: (curves: Curves, content: Content<K>, stamped: Stamped) => EvidenceVerdict;
};

const doesNotVerify: EvidenceVerdict = { bad: "the stamp does not verify" };

const checks: Checks = {
  apiKey(curves, { scheme, publicKey, signature }, { body }) {
    const row = rowOf(scheme);
    if (row === undefined) return { bad: "the stamp has an unknown scheme" };
    return row.verify(curves, publicKey, body, signature) ? good : doesNotVerify;
  },
  webauthn: checkPasskey,
  attested: (curves, content, stamped) =>
    checkAttested(curves, content, stamped, attestedTokenScheme, "the verification token is there by its digest only"),
  attestedIdentity: (curves, content, stamped) =>
    checkAttested(curves, content, stamped, attestedIdentityScheme, "the identity token is there by its digest only"),
  // Nobody stamped it. What shows who is behind it is in the body, which the caller holds against its digest.
  authProxy: () => good,
};

/** `body` has been held against `evidence.body` already. */
export function checkEvidence(curves: Curves, evidence: LeafEvidence, body: Uint8Array): EvidenceVerdict {
  const { kind, value } = evidence.content;
  if (needsCredential(kind) !== (evidence.credentialId !== undefined)) {
    return { bad: "the evidence names a credential where there is none, or none where there is one" };
  }
  const check = checks[kind] as (curves: Curves, content: unknown, stamped: Stamped) => EvidenceVerdict;
  try {
    return check(curves, value, { body, digest: evidence.body });
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid_argument") return { bad: error.message };
    throw error;
  }
}

function needsCredential(kind: EvidenceContent["kind"]): boolean {
  return kind === "apiKey" || kind === "webauthn" || kind === "attestedIdentity";
}

function rowOf(scheme: string): StampSchemeRow | undefined {
  return Object.hasOwn(stampSchemes, scheme) ? stampSchemes[scheme as keyof typeof stampSchemes] : undefined;
}

function checkPasskey(curves: Curves, content: Content<"webauthn">, { digest }: Stamped): EvidenceVerdict {
  const { authenticatorData, clientDataJson, signature, publicKey } = content;
  const { userPresent, attested } = parseAuthenticatorData(authenticatorData);
  if (!userPresent || attested !== undefined) return { bad: "the passkey's data are not those of an assertion" };
  const { type, challenge } = parseClientData(clientDataJson);
  if (type !== "webauthn.get") return { bad: "the passkey's data are not those of an assertion" };
  if (!isSameChallenge(challenge, stampChallenge(digest))) return { bad: "the passkey signed another body" };
  const key = storedKey(curves, publicKey);
  const message = signedMessage(curves, authenticatorData, clientDataJson);
  return verifyPasskeySignature(curves, key, message, signature) ? good : doesNotVerify;
}

function storedKey(curves: Curves, key: Content<"webauthn">["publicKey"]): Uint8Array {
  if (key.kind === "ES256") return curves.compressPoint("p256", key.value.point);
  checkRsaPublicKey(key.value);
  return toSpki(key.value);
}

function checkAttested(
  curves: Curves,
  { scheme, publicKey, signature }: Pick<Content<"attested">, "scheme" | "publicKey" | "signature">,
  { body }: Stamped,
  expected: string,
  unchecked: string,
): EvidenceVerdict {
  if (scheme !== expected) return { bad: "the stamp has an unknown scheme" };
  return curves.verifyP256(publicKey, body, signature) ? { unchecked } : doesNotVerify;
}
