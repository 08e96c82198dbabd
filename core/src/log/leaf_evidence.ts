/**
 * What a leaf keeps of evidence: enough for anyone who has the body to verify it without us. Layout and rules: SPEC.md in this
 * folder. The kinds of evidence that a server takes are in crypto/evidence.ts; a leaf may know more of them.
 */
import type { KeptEvidenceKind } from "../crypto/evidence.ts";
import {
  bytesUpTo,
  encode,
  fixed,
  type Layout,
  optional,
  struct,
  textUpTo,
  type ValueOf,
  variant,
} from "../encoding/layout.ts";

/** A stamp by an API key. */
const apiKeyLayout = struct({
  scheme: textUpTo(64),
  /** 33 bytes of a compressed point, or 32 of Ed25519. */
  publicKey: bytesUpTo(64),
  /** r ‖ s, or Ed25519's. */
  signature: bytesUpTo(64),
});

/** A passkey's key in one form per algorithm: COSE can spell the same key in several ways, and verifiers need no CBOR for this. */
const webauthnKeyLayout = variant(
  {
    /** The uncompressed point: 0x04 ‖ x ‖ y. */
    ES256: struct({ point: fixed(65) }),
    /** Big-endian, without leading zeros. */
    RS256: struct({ modulus: bytesUpTo(1_024), exponent: bytesUpTo(8) }),
  },
  "passkey algorithm",
);

/** An assertion as the authenticator gave it. */
const webauthnLayout = struct({
  /** The authenticator's own id of the credential, as registered. */
  rawId: bytesUpTo(1_023),
  authenticatorData: bytesUpTo(16_384),
  clientDataJson: bytesUpTo(16_384),
  /** DER of ES256, or RS256's bytes: as the authenticator gave it. */
  signature: bytesUpTo(1_024),
  publicKey: webauthnKeyLayout,
});

/** A stamp by a key that a token vouches for. The token itself, which names a contact, is not kept. */
const attestedLayout = struct({
  scheme: textUpTo(64),
  /** 33 bytes of a compressed point. */
  publicKey: fixed(33),
  /** r ‖ s. */
  signature: fixed(64),
  tokenId: fixed(16),
  /** SHA-256 of the token as it was sent. */
  tokenDigest: fixed(32),
});

/** A stamp by a key that an identity token names; the credential is the registered identity. */
const attestedIdentityLayout = struct({
  scheme: textUpTo(64),
  publicKey: fixed(33),
  signature: fixed(64),
  /** SHA-256 of the token as it was sent. */
  tokenDigest: fixed(32),
});

/** No stamp: the body was written by the gateway, for a configuration of the organization's auth proxy. What it proves is in the body. */
const authProxyLayout = struct({ configId: fixed(16) });

type Contents = {
  apiKey: ValueOf<typeof apiKeyLayout>;
  webauthn: ValueOf<typeof webauthnLayout>;
  attested: ValueOf<typeof attestedLayout>;
  attestedIdentity: ValueOf<typeof attestedIdentityLayout>;
  authProxy: ValueOf<typeof authProxyLayout>;
};

/** Kinds are only ever added at the end: their places are on disk. */
const contentLayouts: { [K in keyof Contents]: Layout<Contents[K]> } & Record<KeptEvidenceKind, unknown> = {
  apiKey: apiKeyLayout,
  webauthn: webauthnLayout,
  attested: attestedLayout,
  attestedIdentity: attestedIdentityLayout,
  authProxy: authProxyLayout,
};

const contentLayout: Layout<EvidenceContent> = variant<Contents>(contentLayouts, "evidence kind");

/** What a kind keeps of itself. */
export type EvidenceContent = { [K in keyof Contents]: { kind: K; value: Contents[K] } }[keyof Contents];

export const evidenceLayout = struct({
  /** The user whom it shows, of the organization whose state was decided on. */
  userId: fixed(16),
  /** None of a kind that needs no registered credential. */
  credentialId: optional(fixed(16)),
  /** SHA-256 of the stamped bytes. */
  body: fixed(32),
  content: contentLayout,
});

/** One piece of evidence behind an act, so that a host cannot invent an act nobody asked for. */
export type LeafEvidence = ValueOf<typeof evidenceLayout>;

/** Exactly one encoding per value: equal bytes are equal evidence. */
export function encodeEvidenceContent(content: EvidenceContent): Uint8Array<ArrayBuffer> {
  return encode(contentLayout, content);
}
