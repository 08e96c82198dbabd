/** What a kind of evidence says about itself, its refusals in the published words included. The table of kinds is in evidence.ts. */
import type { Curves, PointCompression } from "@keystead/core/crypto/curves.ts";
import type { ShownEvidence } from "@keystead/core/crypto/evidence.ts";
import type { Fault } from "@keystead/core/fault.ts";
import type { EvidenceContent } from "@keystead/core/log/leaf_evidence.ts";
import type { CredentialLookup } from "../state/credentials.ts";
import type { User } from "../state/entities.ts";

/** What a leaf keeps of evidence, beside whose it is and what it was given for. */
export type KeptEvidence = EvidenceContent;

/** The credential that evidence names, as it was found in the signer's pages or in the gateway's rows. */
export type FoundCredential = {
  readonly credentialId: string;
  readonly expiresAtMs?: number | undefined;
  /** Of a passkey, as `passkeyFacts` reads it. */
  readonly passkey?: string | undefined;
};

/**
 * What evidence is verified with. Whatever else a kind needs becomes a field here: a key that stands only in the registered credential, or
 * a value from outside, which in the signer asks for itself by throwing `NeedsMore`.
 */
export type Verification = {
  readonly curves: Curves;
  readonly credential: FoundCredential;
  /** The public half of the notarizer key, 33 bytes. The gateway knows it once it has met the signer. */
  readonly notarizerKey?: Uint8Array | undefined;
  /** The public half of the `otp` key, 33 bytes: verification tokens are signed with it. */
  readonly otpKey?: Uint8Array | undefined;
  /** After a restore no token counts whose body was made up to this time; only the signer knows it. */
  readonly acceptedAtMs?: number | undefined;
  /** Identity tokens: throws `INVALID_OIDC_TOKEN` for one that its issuer does not vouch for now. */
  readonly identities?: { verify(oidcToken: string): unknown } | undefined;
  /** The origins that passkeys may be used from; undefined where there is no list. */
  allowedOrigins(): readonly string[] | undefined;
};

/** Where a credential was looked for. */
export type SearchedOrganization = {
  readonly organizationId: string;
  readonly parentId: string | undefined;
  /** Also in the sub-organizations of the one that was named. */
  readonly inSubOrganizations?: boolean;
};

export type EvidenceRow<E> = {
  /** The header that carries it, in lower case; undefined for evidence that is in the body itself. */
  header: string | undefined;
  /** It opens no submit, neither in the gateway nor in the signer. */
  forQueriesOnly?: true;
  /** It opens only endpoints that say so, neither in the gateway nor in the signer any other. */
  opensListedOnly?: true;
  /** It has the key that it is verified with: that needs no registered credential. */
  carriesKey?: true;
  /** It is verified before anybody is looked for: whoever made it up must not learn who is registered. */
  verifiedBeforeLookup?: true;
  /** The schemes of its signatures: by them a stored vote tells which kind it was given with. No two kinds share one. */
  schemes: readonly string[];
  /**
   * Reads what was sent, or throws `unauthenticated` with a published text. It runs before anything is known about the sender, so it does
   * no work that a stranger could make us pay for.
   */
  parse(curves: PointCompression, value: string): E;
  /** The credential that it claims to come from. */
  lookup(evidence: E): CredentialLookup;
  /** When the evidence itself ends, whatever its credential does. */
  endsAtMs?(evidence: E): number;
  /** Whether that credential vouches for exactly these bytes. */
  verify(verification: Verification, evidence: E, body: Uint8Array): boolean;
  /**
   * Whether this credential's key made it, whatever it was made for. Only of a kind whose look-up does not name the key: strangers may have
   * registered the same name with keys of their own.
   */
  isMadeBy?(curves: Curves, evidence: E, credential: FoundCredential): boolean;
  /** Whether it is verified with the origins that passkeys may be used from. */
  needsOrigins: boolean;
  /** `publicKey`: the one that it was verified with, in hex. */
  keep(curves: Curves, evidence: E, publicKey: string): KeptEvidence;
  /** The token that a leaf names by SHA-256 and whoever checks the leaf must see: shown once the evidence has ended, and never before. */
  token?(evidence: E): string;
  /** The parts of what was sent, which has been verified, and the key that it was verified with: one of this user's. */
  show(value: string, user: User): ShownEvidence;
  /** The reverse: what was sent, up to its spelling, from what a vote shows. */
  fromShown(shown: ShownEvidence): string;
  /** What a leaf keeps, from what a vote shows: of a kind whose votes do not show all that was sent. */
  keepShown?(shown: ShownEvidence): KeptEvidence;
  /** The error codes of `unknown`, and of what cannot be read or does not verify. */
  unknownCode: string;
  invalidCode: string;
  /** No such credential is registered where it may be. */
  unknown(organization: SearchedOrganization, evidence: E): Fault;
  expired(evidence: E): Fault;
  unverified(): Fault;
  /** Several sub-organizations know the credential. */
  ambiguous(): Fault;
};
