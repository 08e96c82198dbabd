/**
 * Every kind of evidence: how it is carried, read and verified, which credential it names, and what leaves and votes keep of it. The gateway
 * reads this table for queries and the signer for submits, so both refuse the same things in the same words.
 */
import type { PointCompression } from "@keystead/core/crypto/curves.ts";
import { type EvidenceKind, evidenceKinds, type SentEvidence } from "@keystead/core/crypto/evidence.ts";
import type { Stamp } from "@keystead/core/crypto/stamp.ts";
import type { Fault } from "@keystead/core/fault.ts";
import type { CredentialLookup } from "../state/credentials.ts";
import { apiKeyEvidence } from "./api_key_evidence.ts";
import type { EvidenceRow, KeptEvidence, SearchedOrganization, ShownEvidence, Verification } from "./evidence_row.ts";

/** What each kind is once it has been read. */
type EvidenceValues = { apiKey: Stamp };

const rows: { readonly [K in EvidenceKind]: EvidenceRow<EvidenceValues[K]> } = {
  apiKey: apiKeyEvidence,
};

/** Evidence that is well-formed. Whose it is, and whether it verifies, is still open. */
export type Evidence<K extends EvidenceKind = EvidenceKind> = {
  [P in K]: { readonly kind: P; readonly value: EvidenceValues[P] };
}[K];

/** Headers of kinds that are not built yet. They count as evidence all the same: none of them may stand beside another. */
const headersToCome = ["x-stamp-webauthn", "x-stamp-attested", "x-session"];

const kindsByHeader = new Map(
  evidenceKinds.flatMap((kind): [string, EvidenceKind][] => {
    const { header } = rows[kind];
    return header === undefined ? [] : [[header, kind]];
  }),
);

/** All headers that carry evidence, in lower case. */
export const evidenceHeaders: readonly string[] = [...kindsByHeader.keys(), ...headersToCome];

/** The kind that a header carries; undefined for one that is still to come. */
export function kindOfHeader(header: string): EvidenceKind | undefined {
  return kindsByHeader.get(header);
}

/** Throws `unauthenticated` with a published text when it cannot be read. */
export function parseEvidence<K extends EvidenceKind>(curves: PointCompression, sent: SentEvidence<K>): Evidence<K> {
  const { kind, value } = sent;
  return { kind, value: rows[kind].parse(curves, value) };
}

export function lookupOf<K extends EvidenceKind>({ kind, value }: Evidence<K>): CredentialLookup {
  return rows[kind].lookup(value);
}

/** The caller has found the credential first: verifying is work that is not done for strangers. */
export function verifyEvidence<K extends EvidenceKind>(
  verification: Verification,
  { kind, value }: Evidence<K>,
  body: Uint8Array,
): boolean {
  return rows[kind].verify(verification, value, body);
}

export function keptEvidence<K extends EvidenceKind>({ kind, value }: Evidence<K>): KeptEvidence {
  return rows[kind].keep(value);
}

export function shownEvidence({ kind, value }: SentEvidence): ShownEvidence {
  return rows[kind].show(value);
}

/** What was sent with a stored vote. Votes name no kind while all of them are stamps by API keys. */
export function evidenceOfVote(shown: ShownEvidence): SentEvidence {
  return { kind: "apiKey", value: rows.apiKey.sentFrom(shown) };
}

export function unknownCredential<K extends EvidenceKind>(
  organization: SearchedOrganization,
  { kind, value }: Evidence<K>,
): Fault {
  return rows[kind].unknown(organization, value);
}

export function expiredCredential<K extends EvidenceKind>({ kind, value }: Evidence<K>): Fault {
  return rows[kind].expired(value);
}

export function unverifiedEvidence({ kind }: Evidence): Fault {
  return rows[kind].unverified();
}

export function ambiguousCredential({ kind }: Evidence): Fault {
  return rows[kind].ambiguous();
}
