/**
 * Every kind of evidence: how it is carried, read and verified, which credential it names, and what leaves and votes keep of it. The gateway
 * reads this table for queries and the signer for submits, so both refuse the same things in the same words.
 */
import type { Curves, PointCompression } from "@keystead/core/crypto/curves.ts";
import {
  type EvidenceKind,
  evidenceKinds,
  type SentEvidence,
  type ShownEvidence,
} from "@keystead/core/crypto/evidence.ts";
import type { SentReadOnlySession } from "@keystead/core/crypto/read_only_session.ts";
import type { Stamp } from "@keystead/core/crypto/stamp.ts";
import { Fault } from "@keystead/core/fault.ts";
import { encodeEvidenceContent } from "@keystead/core/log/leaf_evidence.ts";
import { type AttestedIdentity, hasIdentityToken } from "@keystead/core/oidc/attested_identity.ts";
import type { AttestedStamp } from "@keystead/core/otp/attested_stamp.ts";
import type { WebauthnStamp } from "@keystead/core/webauthn/webauthn_stamp.ts";
import type { CredentialLookup } from "../state/credentials.ts";
import { equalBytes } from "../state/digest.ts";
import type { User } from "../state/entities.ts";
import { apiKeyEvidence } from "./api_key_evidence.ts";
import { attestedEvidence } from "./attested_evidence.ts";
import { attestedIdentityEvidence } from "./attested_identity_evidence.ts";
import { authProxyEvidence, type SentAuthProxy } from "./auth_proxy_evidence.ts";
import type { EvidenceRow, FoundCredential, KeptEvidence, SearchedOrganization, Verification } from "./evidence_row.ts";
import { readOnlySessionEvidence } from "./read_only_session_evidence.ts";
import { webauthnEvidence } from "./webauthn_evidence.ts";

/** What each kind is once it has been read. */
type EvidenceValues = {
  apiKey: Stamp;
  webauthn: WebauthnStamp;
  readOnlySession: SentReadOnlySession;
  attested: AttestedStamp;
  attestedIdentity: AttestedIdentity;
  authProxy: SentAuthProxy;
};

const rows: { readonly [K in EvidenceKind]: EvidenceRow<EvidenceValues[K]> } = {
  apiKey: apiKeyEvidence,
  webauthn: webauthnEvidence,
  readOnlySession: readOnlySessionEvidence,
  attested: attestedEvidence,
  attestedIdentity: attestedIdentityEvidence,
  authProxy: authProxyEvidence,
};

/** Evidence that is well-formed. Whose it is, and whether it verifies, is still open. */
export type Evidence<K extends EvidenceKind = EvidenceKind> = {
  [P in K]: { readonly kind: P; readonly value: EvidenceValues[P] };
}[K];

const kindsByHeader = new Map(
  evidenceKinds.flatMap((kind): [string, EvidenceKind][] => {
    const { header } = rows[kind];
    return header === undefined ? [] : [[header, kind]];
  }),
);

/** All headers that carry evidence, in lower case. */
export const evidenceHeaders: readonly string[] = [...kindsByHeader.keys()];

/** The kind that a header carries; undefined for one that carries no evidence. */
export function kindOfHeader(header: string): EvidenceKind | undefined {
  return kindsByHeader.get(header);
}

/** What a header carries: two kinds share one, and say in it which they are. */
export function evidenceOf(kind: EvidenceKind, value: string): SentEvidence {
  return { kind: kind === "attested" && hasIdentityToken(value) ? "attestedIdentity" : kind, value };
}

/** Whether it is verified before anybody is looked for. */
export function isVerifiedBeforeLookup({ kind }: { kind: EvidenceKind }): boolean {
  return rows[kind].verifiedBeforeLookup === true;
}

/** Whether it is verified before sub-organizations are searched: a stranger who made it up has none of them read. */
export function isVerifiedBeforeSearch({ kind }: { kind: EvidenceKind }): boolean {
  return rows[kind].carriesKey === true;
}

/** Throws `unauthenticated` with a published text when it cannot be read. */
export function parseEvidence<K extends EvidenceKind>(curves: PointCompression, sent: SentEvidence<K>): Evidence<K> {
  const { kind, value } = sent;
  return { kind, value: rows[kind].parse(curves, value) };
}

export function lookupOf<K extends EvidenceKind>({ kind, value }: Evidence<K>): CredentialLookup {
  return rows[kind].lookup(value);
}

/** Throws where evidence of this kind opens no submit. */
export function checkForSubmit({ kind }: Pick<SentEvidence, "kind">): void {
  if (rows[kind].forQueriesOnly !== true) return;
  throw new Fault("permission_denied", "request not authorized: a read-only session cannot submit activities", {
    errorCode: "REQUEST_NOT_AUTHORIZED",
  });
}

/** Throws where evidence of this kind does not open this endpoint. Some kinds open only those that say so. */
export function checkOpens({ kind }: Pick<SentEvidence, "kind">, { takesAttested }: { takesAttested?: true }): void {
  if (rows[kind].opensListedOnly !== true || takesAttested === true) return;
  throw new Fault(
    "permission_denied",
    "request not authorized: an attested stamp signs in and votes, and opens nothing else; use the key of a session",
    { errorCode: "REQUEST_NOT_AUTHORIZED" },
  );
}

/** Whether the evidence itself is over. */
export function isOver<K extends EvidenceKind>({ kind, value }: Evidence<K>, nowMs: number): boolean {
  return (rows[kind].endsAtMs?.(value) ?? Number.POSITIVE_INFINITY) <= nowMs;
}

/** The caller has found the credential first: verifying is work that is not done for strangers. */
export function verifyEvidence<K extends EvidenceKind>(
  verification: Verification,
  { kind, value }: Evidence<K>,
  body: Uint8Array,
): boolean {
  return rows[kind].verify(verification, value, body);
}

/** Whether this credential's key made it. Evidence that names the key itself was found by it. That it verifies is a further question. */
export function isMadeBy<K extends EvidenceKind>(
  curves: Curves,
  { kind, value }: Evidence<K>,
  credential: FoundCredential,
): boolean {
  return rows[kind].isMadeBy?.(curves, value, credential) ?? true;
}

/** Whether `allowedOrigins` is asked when it is verified. */
export function needsOrigins({ kind }: { kind: EvidenceKind }): boolean {
  return rows[kind].needsOrigins;
}

/** `publicKey`: the one that it was verified with, in hex. */
export function keptEvidence<K extends EvidenceKind>(
  curves: Curves,
  { kind, value }: Evidence<K>,
  publicKey: string,
): KeptEvidence {
  return rows[kind].keep(curves, value, publicKey);
}

/** The token in it, where it has one, and until when that is worth something. */
export function closedEvidence<K extends EvidenceKind>({
  kind,
  value,
}: Evidence<K>): { content: Uint8Array; endsAtMs: number }[] {
  const { token, endsAtMs } = rows[kind];
  if (token === undefined || endsAtMs === undefined) return [];
  return [{ content: new TextEncoder().encode(token(value)), endsAtMs: endsAtMs(value) }];
}

/** `user`: whose evidence it is. */
export function shownEvidence({ kind, value }: SentEvidence, user: User): ShownEvidence {
  return rows[kind].show(value, user);
}

/** What was sent with a stored vote. Throws when no kind has its scheme. */
function evidenceOfVote(shown: ShownEvidence): SentEvidence {
  const kind = kindOfVote(shown);
  return { kind, value: rows[kind].fromShown(shown) };
}

/** What a leaf keeps of the evidence that a stored vote shows. */
export function keptOfVote(curves: Curves, shown: ShownEvidence): KeptEvidence {
  const { keepShown } = rows[kindOfVote(shown)];
  if (keepShown !== undefined) return keepShown(shown);
  return keptEvidence(curves, parseEvidence(curves, evidenceOfVote(shown)), shown.publicKey);
}

function kindOfVote({ scheme }: ShownEvidence): EvidenceKind {
  const kind = evidenceKinds.find((each) => rows[each].schemes.includes(scheme));
  if (kind === undefined) throw new Fault("internal", `no kind of evidence has the scheme ${scheme}`);
  return kind;
}

/** Whether a leaf keeps the same of both. */
export function isSameEvidence(one: KeptEvidence, other: KeptEvidence): boolean {
  return equalBytes(encodeEvidenceContent(one), encodeEvidenceContent(other));
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

const codesOf = (code: "unknownCode" | "invalidCode") => new Set(evidenceKinds.map((kind) => rows[kind][code]));
const [unknownCodes, invalidCodes] = [codesOf("unknownCode"), codesOf("invalidCode")];

/** Whether a refusal says that no such credential is registered. */
export function isUnknownCredential(error: unknown): boolean {
  return error instanceof Fault && unknownCodes.has(error.errorCode);
}

/** Whether a refusal says that evidence cannot be read or does not verify. */
export function isInvalidEvidence(error: unknown): boolean {
  return error instanceof Fault && invalidCodes.has(error.errorCode);
}
