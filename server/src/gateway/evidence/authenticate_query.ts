/**
 * Who asks a query. Reads are the gateway's own business: a database writer can lie to readers anyway, and nothing that is
 * decided here lets anyone sign.
 */
import type { Curves } from "@keystead/core/crypto/curves.ts";
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import type { Fault } from "@keystead/core/fault.ts";
import type { Caller } from "../../endpoints/define_query.ts";
import { noSuchOrganization } from "../../endpoints/known_faults.ts";
import {
  type Evidence,
  expiredCredential,
  isInvalidEvidence,
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
async function resolve(
  { store, curves }: AuthenticationDependencies,
  organizationId: string,
  evidence: Evidence,
  scope: Scope,
): Promise<Resolved> {
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
    const match = await findOwnSubOrganization({ store, curves }, organizationId, evidence);
    if (match !== undefined && hasCredential(match)) return { found: match, subjectId: match.organizationId };
  }
  if (named.parentId === undefined && scope === "sub-organization") throw unknownBelow(organizationId, evidence);
  throw unknownCredential({ organizationId, parentId: named.parentId }, evidence);
}

/** Neither the named organization nor any below it knows the credential. */
function unknownBelow(organizationId: string, evidence: Evidence): Fault {
  return unknownCredential({ organizationId, parentId: undefined, inSubOrganizations: true }, evidence);
}

/** A user is looked for in its own organization alone: anywhere else nobody has its id. */
function findIn(store: Store, organizationId: string, lookup: CredentialLookup, isFormer = false) {
  if (lookup.by === "user") {
    const userId = lookup.organizationId === organizationId ? lookup.userId : "";
    return findCallerByUser(store, organizationId, userId);
  }
  const find = isFormer ? findFormerCaller : findCaller;
  return find(store, organizationId, lookup.curve, lookup.publicKey);
}

function hasCredential(row: CallerRow): row is FoundCaller {
  return row.credential !== undefined;
}

/**
 * Where a submit runs that may name its parent: in the named organization, unless one sub-organization of it has the credential. Whether
 * the evidence is good for this body is the signer's to say, wherever it runs. A credential that none of them has is refused here, as for a
 * query: the signer would look in the named organization alone, and answer as if no other had been meant.
 */
export async function findWhereItRuns(
  dependencies: AuthenticationDependencies,
  { organizationId, evidence: sent }: { organizationId: string; evidence: SentEvidence },
): Promise<string> {
  const { store, curves } = dependencies;
  const evidence = parseEvidence(curves, sent);
  const named = await findIn(store, organizationId, lookupOf(evidence));
  if (named === undefined || hasCredential(named) || named.parentId !== undefined) return organizationId;
  const find = () => findOwnSubOrganization({ store, curves }, organizationId, evidence);
  const own = await verifying(dependencies, organizationId, evidence, find);
  if (own === undefined) throw unknownBelow(organizationId, evidence);
  return own.organizationId;
}

/** The credential that evidence claims, in its one spelling; throws where the evidence cannot be read. */
export function claimedCredential({ curves }: Pick<AuthenticationDependencies, "curves">, sent: SentEvidence): string {
  return lookupText(lookupOf(parseEvidence(curves, sent)));
}

export async function authenticateQuery(
  dependencies: AuthenticationDependencies,
  organizationId: string,
  sent: SentEvidence,
  body: Uint8Array,
  scope: Scope,
): Promise<Caller> {
  const { store, curves, notarizerKey, refusedCredentials } = dependencies;
  const evidence = parseEvidence(curves, sent);
  return verifying(dependencies, organizationId, evidence, async () => {
    const { found, subjectId } = await resolve(dependencies, organizationId, evidence, scope);
    const { credential } = found;
    const nowMs = Date.now();
    if (isExpired(credential, nowMs) || isOver(evidence, nowMs)) throw expiredCredential(evidence);
    const origins = needsOrigins(evidence) ? await readAllowedOrigins(store, found) : undefined;
    const verification = { curves, credential, notarizerKey: notarizerKey?.(), allowedOrigins: () => origins };
    if (!verifyEvidence(verification, evidence, body)) throw unverifiedEvidence(evidence);
    refusedCredentials?.clear(organizationId, lookupText(lookupOf(evidence)));
    const { userId, userName } = credential;
    const { organizationId: ownId, organizationName } = found;
    const isStamped = evidence.kind !== "readOnlySession";
    return { organizationId: ownId, organizationName, userId, userName, isStamped, subjectId };
  });
}

/** Work that verifies evidence: few at a time where a credential's evidence was refused lately. What does not verify is noted. */
async function verifying<T>(
  { refusedCredentials }: AuthenticationDependencies,
  organizationId: string,
  evidence: Evidence,
  work: () => Promise<T>,
): Promise<T> {
  const claimed = lookupText(lookupOf(evidence));
  const isRefused = refusedCredentials?.has(organizationId, claimed) === true;
  const verifyLimit = isRefused ? refusedCredentials.verifyLimit : undefined;
  if (verifyLimit !== undefined) await verifyLimit.enter(() => false);
  try {
    return await work();
  } catch (error) {
    if (isInvalidEvidence(error)) refusedCredentials?.note(organizationId, claimed);
    throw error;
  } finally {
    verifyLimit?.leave(0);
  }
}
