/**
 * Evidence as it could have been sent, from what a leaf keeps of it. Tokens are not kept: one is made under the throw-away keys that says
 * what the signer has found the real one to say. Whether the real one was in order is the leaf's word.
 */
import { generateKeyPairSync, sign } from "node:crypto";
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { stampSchemes } from "@keystead/core/crypto/stamp.ts";
import { toBase64url } from "@keystead/core/encoding/base64url.ts";
import { toEcdsaDer } from "@keystead/core/encoding/der.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import type { LeafEvidence } from "@keystead/core/log/leaf_evidence.ts";
import type { TakenIssuerKey } from "@keystead/core/log/outside_values.ts";
import { ownIssuerKey } from "@keystead/core/oidc/own_issuer.ts";
import type { ContactKind } from "@keystead/core/otp/otp_types.ts";
import { makeVerificationToken } from "@keystead/core/otp/verification_token.ts";
import { nodeTokenCrypto } from "../curves/node_token_crypto.ts";
import type { Keyring } from "../signer/secrets/keyring.ts";
import { sha256 } from "../state/digest.ts";
import type { User } from "../state/entities.ts";

/** What else must be known to write it. */
export type EvidencePlace = {
  keyring: Keyring;
  organizationId: string;
  timeMs: number;
  /** The user of the state that was decided on. */
  user: User | undefined;
};

/** One way in which it may have been sent, with the key of an issuer that vouches for it. */
export type SentForm = { evidence: SentEvidence; issuerKey?: TakenIssuerKey };

/** More than one where the leaf does not say by which of a user's contacts a token spoke. */
export function sentForms({ content, credentialId }: LeafEvidence, place: EvidencePlace): SentForm[] {
  if (content.kind === "apiKey") {
    const { scheme, publicKey, signature } = content.value;
    const isRaw = stampSchemes[scheme as keyof typeof stampSchemes]?.curve === "API_KEY_CURVE_ED25519";
    const parts = { publicKey: toHex(publicKey), scheme, signature: toHex(isRaw ? signature : toEcdsaDer(signature)) };
    return [plain({ kind: "apiKey", value: encodeJson(parts) })];
  }
  if (content.kind === "webauthn") {
    const { rawId, authenticatorData, clientDataJson, signature } = content.value;
    const parts = { credentialId: rawId, authenticatorData, clientDataJson, signature };
    const texts = Object.entries(parts).map(([name, bytes]) => [name, toBase64url(bytes)]);
    return [plain({ kind: "webauthn", value: JSON.stringify(Object.fromEntries(texts)) })];
  }
  if (content.kind === "authProxy") {
    return [plain({ kind: "authProxy", value: uuidFromBytes(content.value.configId) })];
  }
  const { scheme, publicKey, signature } = content.value;
  const stamp = { scheme, publicKey: toHex(publicKey), signature: toHex(toEcdsaDer(signature)) };
  if (content.kind === "attested") {
    const tokenId = uuidFromBytes(content.value.tokenId);
    return contactsOf(place.user).map((contact) => {
      const publicKeyAttestation = tokenFor(place, tokenId, stamp.publicKey, contact);
      return plain({ kind: "attested", value: encodeJson({ ...stamp, publicKeyAttestation }) });
    });
  }
  const provider = place.user?.oauthProviders?.find(
    ({ providerId }) => credentialId !== undefined && providerId === uuidFromBytes(credentialId),
  );
  if (provider === undefined) return [];
  const { token, issuerKey } = identityToken(place, provider, stamp.publicKey);
  const value = encodeJson({ ...stamp, publicKeyAttestation: token });
  return [{ evidence: { kind: "attestedIdentity", value }, issuerKey }];
}

function plain(evidence: SentEvidence): SentForm {
  return { evidence };
}

function encodeJson(value: object): string {
  return toBase64url(new TextEncoder().encode(JSON.stringify(value)));
}

type HeldContact = { kind: ContactKind; contact: string };

function contactsOf({ userEmail, userPhoneNumber }: Partial<User> = {}): HeldContact[] {
  return [
    ...(userEmail === undefined ? [] : [{ kind: "email", contact: userEmail } as const]),
    ...(userPhoneNumber === undefined ? [] : [{ kind: "phone", contact: userPhoneNumber } as const]),
  ];
}

const lifeMs = 60_000;

function tokenFor(
  { keyring, organizationId, timeMs }: EvidencePlace,
  tokenId: string,
  publicKey: string,
  { kind, contact }: HeldContact,
): string {
  const verificationType = kind === "email" ? "OTP_TYPE_EMAIL" : "OTP_TYPE_SMS";
  const expiresAtMs = timeMs + lifeMs;
  return makeVerificationToken(keyring.otp, {
    ...{ tokenId, expiresAtMs, organizationId, verificationType, contact, publicKey },
  });
}

type Identity = { issuer: string; audience: string; subject: string };

/** A token under a key that nobody has, and that key. */
function identityToken(
  { timeMs }: EvidencePlace,
  { issuer, audience, subject }: Identity,
  publicKey: string,
): { token: string; issuerKey: TakenIssuerKey } {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = new Uint8Array(pair.publicKey.export({ format: "der", type: "spki" }));
  const { kid, jwk } = ownIssuerKey(nodeTokenCrypto, spki.subarray(spki.length - 65));
  const seconds = Math.floor(timeMs / 1_000);
  const claims = { iss: issuer, aud: audience, sub: subject, nonce: toHex(sha256(publicKey)), iat: seconds };
  const parts = [
    { alg: "ES256", typ: "JWT", kid },
    { ...claims, exp: seconds + lifeMs / 1_000 },
  ].map(encodeJson);
  const signed = parts.join(".");
  const signature = sign("sha256", Buffer.from(signed), { key: pair.privateKey, dsaEncoding: "ieee-p1363" });
  const issuerKey = { issuer, key: JSON.stringify(jwk), fetchedAtMs: timeMs };
  return { token: `${signed}.${toBase64url(signature)}`, issuerKey };
}
