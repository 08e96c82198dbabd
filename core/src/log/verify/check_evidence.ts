/** Whether the evidence in a leaf shows that somebody stamped a body. It takes the leaf and the body, and nothing of the server. */
import { checkRsaPublicKey, toSpki } from "../../crypto/rsa_public_key.ts";
import { type StampSchemeRow, stampSchemes } from "../../crypto/stamp.ts";
import { Fault } from "../../fault.ts";
import { attestedIdentityScheme } from "../../oidc/attested_identity.ts";
import { attestedTokenScheme } from "../../otp/attested_stamp.ts";
import { parseAuthenticatorData } from "../../webauthn/authenticator_data.ts";
import { isSameChallenge, parseClientData } from "../../webauthn/client_data.ts";
import { signedMessage, verifyPasskeySignature } from "../../webauthn/passkey_signature.ts";
import { stampChallenge } from "../../webauthn/webauthn_stamp.ts";
import type { Leaf } from "../leaf.ts";
import type { EvidenceContent, LeafEvidence } from "../leaf_evidence.ts";
import {
  checkStampIdentity,
  checkStampToken,
  checkUnstamped,
  type EvidenceVerdict,
  good,
  type VerifierCurves,
} from "./check_token.ts";

type Content<K extends EvidenceContent["kind"]> = Extract<EvidenceContent, { kind: K }>["value"];
/** `token`: that of an attested stamp, where it is disclosed. One that is not is among the bodies that are not. */
export type Stamped = { leaf: Leaf; body: Uint8Array; token: Uint8Array | undefined };
type StampedBody = Stamped & { digest: Uint8Array };

type Checks = {
  [K in EvidenceContent["kind"]]: (
    curves: VerifierCurves,
    content: Content<K>,
    stamped: StampedBody,
  ) => EvidenceVerdict;
};

const doesNotVerify: EvidenceVerdict = { bad: "the stamp does not verify" };

const checks: Checks = {
  apiKey(curves, { scheme, publicKey, signature }, { body }) {
    const row = rowOf(scheme);
    if (row === undefined) return { bad: "the stamp has an unknown scheme" };
    return row.verify(curves, publicKey, body, signature) ? good : doesNotVerify;
  },
  webauthn: checkPasskey,
  attested(curves, content, stamped) {
    const flaw = attestedFlaw(curves, content, stamped, attestedTokenScheme);
    if (flaw !== undefined || stamped.token === undefined) return flaw ?? good;
    return checkStampToken(content, stamped.token, stamped.leaf);
  },
  attestedIdentity(curves, content, stamped) {
    const flaw = attestedFlaw(curves, content, stamped, attestedIdentityScheme);
    if (flaw !== undefined || stamped.token === undefined) return flaw ?? good;
    return checkStampIdentity(curves, content.publicKey, stamped.token, stamped.leaf);
  },
  // Nobody stamped it. What shows who is behind it is in the body.
  authProxy: (curves, _content, { leaf, body }) => checkUnstamped(curves, leaf, body),
};

/** Body and token have been held against their digests already. */
export function checkEvidence(curves: VerifierCurves, evidence: LeafEvidence, stamped: Stamped): EvidenceVerdict {
  const { kind, value } = evidence.content;
  if (needsCredential(kind) !== (evidence.credentialId !== undefined)) {
    return { bad: "the evidence names a credential where there is none, or none where there is one" };
  }
  const check = checks[kind] as (curves: VerifierCurves, content: unknown, stamped: StampedBody) => EvidenceVerdict;
  try {
    return check(curves, value, { ...stamped, digest: evidence.body });
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

function checkPasskey(curves: VerifierCurves, content: Content<"webauthn">, { digest }: StampedBody): EvidenceVerdict {
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

function storedKey(curves: VerifierCurves, key: Content<"webauthn">["publicKey"]): Uint8Array {
  if (key.kind === "ES256") return curves.compressPoint("p256", key.value.point);
  checkRsaPublicKey(key.value);
  return toSpki(key.value);
}

function attestedFlaw(
  curves: VerifierCurves,
  { scheme, publicKey, signature }: Pick<Content<"attested">, "scheme" | "publicKey" | "signature">,
  { body }: Stamped,
  expected: string,
): EvidenceVerdict | undefined {
  if (scheme !== expected) return { bad: "the stamp has an unknown scheme" };
  return curves.verifyP256(publicKey, body, signature) ? undefined : doesNotVerify;
}
