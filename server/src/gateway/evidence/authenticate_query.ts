/**
 * Who asks a query. Reads are the gateway's own business: a database writer can lie to readers anyway, and nothing that is
 * decided here lets anyone sign.
 */
import type { Curves } from "@keystead/core/crypto/curves.ts";
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import type { Caller } from "../../endpoints/define_query.ts";
import { noSuchOrganization } from "../../endpoints/known_faults.ts";
import {
  type Evidence,
  expiredCredential,
  isOver,
  lookupOf,
  needsOrigins,
  parseEvidence,
  unknownCredential,
  unverifiedEvidence,
  verifyEvidence,
} from "../../evidence/evidence.ts";
import { type CredentialLookup, isExpired, lookupText } from "../../state/credentials.ts";
import { type CallerRow, findCaller, findCallerByUser, findFormerCaller } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";
import { readAllowedOrigins } from "./allowed_origins.ts";
import { findOwnSubOrganization } from "./own_sub_organization.ts";
import type { RefusedCredentials } from "./refused_credentials.ts";

export type AuthenticationDependencies = {
  store: Store;
  curves: Curves;
  /** The public half of the notarizer key, 33 bytes; undefined before the signer has said it. */
  notarizerKey?(): Uint8Array | undefined;
  /** Those of the HTTP handler; without them every credential is looked up anew. */
  refusedCredentials?: RefusedCredentials;
};

/** Where else than in the named organization and its parent: in one sub-organization; or in one that was deleted. */
export type Scope = "named" | "sub-organization" | "former";

type FoundCaller = CallerRow & { credential: NonNullable<CallerRow["credential"]> };

/** Who was found, and which organization the request is about. */
type Resolved = { found: FoundCaller; subjectId: string };

/**
 * The named organization first; then its parent, whose members may read every sub-organization; then, where the endpoint
 * allows it, the credential's own sub-organization, which the request is about then.
 */
async function resolve(store: Store, organizationId: string, evidence: Evidence, scope: Scope): Promise<Resolved> {
  const lookup = lookupOf(evidence);
  const named = await findIn(store, organizationId, lookup, scope === "former");
  if (named === undefined) {
    throw noSuchOrganization();
  }
  if (hasCredential(named)) return { found: named, subjectId: organizationId };
  if (named.parentId !== undefined) {
    const parent = await findIn(store, named.parentId, lookup);
    if (parent !== undefined && hasCredential(parent)) return { found: parent, subjectId: organizationId };
  } else if (scope === "sub-organization") {
    const match = await findOwnSubOrganization(store, organizationId, evidence);
    if (match !== undefined && hasCredential(match)) return { found: match, subjectId: match.organizationId };
  }
  const inSubOrganizations = named.parentId === undefined && scope === "sub-organization";
  throw unknownCredential({ organizationId, parentId: named.parentId, inSubOrganizations }, evidence);
}

/** A user is looked for in its own organization alone: anywhere else nobody has its id. */
function findIn(store: Store, organizationId: string, lookup: CredentialLookup, isFormer = false) {
  if (lookup.by === "user") {
    const userId = lookup.organizationId === organizationId ? lookup.userId : "";
    return findCallerByUser(store, organizationId, userId);
  }
  // No contact is verified yet: nobody is found.
  if (lookup.by === "contact") return findCallerByUser(store, organizationId, "");
  const find = isFormer ? findFormerCaller : findCaller;
  return find(store, organizationId, lookup.curve, lookup.publicKey);
}

function hasCredential(row: CallerRow): row is FoundCaller {
  return row.credential !== undefined;
}

/**
 * Where a submit runs that may name its parent: in the named organization, unless only one sub-organization of it knows the credential.
 * Nothing is verified here: the signer does that, wherever it runs.
 */
export async function findWhereItRuns(
  { store, curves }: AuthenticationDependencies,
  { organizationId, evidence: sent }: { organizationId: string; evidence: SentEvidence },
): Promise<string> {
  const evidence = parseEvidence(curves, sent);
  const named = await findIn(store, organizationId, lookupOf(evidence));
  if (named === undefined || hasCredential(named) || named.parentId !== undefined) return organizationId;
  return (await findOwnSubOrganization(store, organizationId, evidence))?.organizationId ?? organizationId;
}

/** The credential that evidence claims, in its one spelling; throws where the evidence cannot be read. */
export function claimedCredential({ curves }: Pick<AuthenticationDependencies, "curves">, sent: SentEvidence): string {
  return lookupText(lookupOf(parseEvidence(curves, sent)));
}

export async function authenticateQuery(
  { store, curves, notarizerKey, refusedCredentials }: AuthenticationDependencies,
  organizationId: string,
  sent: SentEvidence,
  body: Uint8Array,
  scope: Scope,
): Promise<Caller> {
  const evidence = parseEvidence(curves, sent);
  const claimed = lookupText(lookupOf(evidence));
  const verifyLimit =
    refusedCredentials?.has(organizationId, claimed) === true ? refusedCredentials.verifyLimit : undefined;
  if (verifyLimit !== undefined) await verifyLimit.enter(() => false);
  try {
    const { found, subjectId } = await resolve(store, organizationId, evidence, scope);
    const { credential } = found;
    const nowMs = Date.now();
    if (isExpired(credential, nowMs) || isOver(evidence, nowMs)) throw expiredCredential(evidence);
    const origins = needsOrigins(evidence) ? await readAllowedOrigins(store, found) : undefined;
    const verification = { curves, credential, notarizerKey: notarizerKey?.(), allowedOrigins: () => origins };
    if (!verifyEvidence(verification, evidence, body)) {
      refusedCredentials?.note(organizationId, claimed);
      throw unverifiedEvidence(evidence);
    }
    refusedCredentials?.clear(organizationId, claimed);
    const { userId, userName } = credential;
    const { organizationId: ownId, organizationName } = found;
    const isStamped = evidence.kind !== "readOnlySession";
    return { organizationId: ownId, organizationName, userId, userName, isStamped, subjectId };
  } finally {
    verifyLimit?.leave(0);
  }
}
