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
  lookupOf,
  needsOrigins,
  parseEvidence,
  unknownCredential,
  unverifiedEvidence,
  verifyEvidence,
} from "../../evidence/evidence.ts";
import { isExpired, lookupText } from "../../state/credentials.ts";
import { type CallerRow, findCaller, findFormerCaller } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";
import { readAllowedOrigins } from "./allowed_origins.ts";
import { findOwnSubOrganization } from "./own_sub_organization.ts";
import type { RefusedCredentials } from "./refused_credentials.ts";

export type AuthenticationDependencies = {
  store: Store;
  curves: Curves;
  /** Those of the HTTP handler; without them every credential is looked up anew. */
  refusedCredentials?: RefusedCredentials;
};

/** Where else than in the named organization and its parent: in one sub-organization; or in one that was deleted. */
export type Scope = "named" | "sub-organization" | "former";

type FoundCaller = CallerRow & { credential: NonNullable<CallerRow["credential"]> };

/**
 * The named organization first; then its parent, whose members may read every sub-organization; then, where the endpoint
 * allows it, the credential's own sub-organization.
 */
async function resolve(store: Store, organizationId: string, evidence: Evidence, scope: Scope): Promise<FoundCaller> {
  const { curve, publicKey } = lookupOf(evidence);
  const find = scope === "former" ? findFormerCaller : findCaller;
  const named = await find(store, organizationId, curve, publicKey);
  if (named === undefined) {
    throw noSuchOrganization();
  }
  if (hasCredential(named)) return named;
  if (named.parentId !== undefined) {
    const parent = await findCaller(store, named.parentId, curve, publicKey);
    if (parent !== undefined && hasCredential(parent)) return parent;
  } else if (scope === "sub-organization") {
    const match = await findOwnSubOrganization(store, organizationId, evidence);
    if (match !== undefined && hasCredential(match)) return match;
  }
  const inSubOrganizations = named.parentId === undefined && scope === "sub-organization";
  throw unknownCredential({ organizationId, parentId: named.parentId, inSubOrganizations }, evidence);
}

function hasCredential(row: CallerRow): row is FoundCaller {
  return row.credential !== undefined;
}

/** The credential that evidence claims, in its one spelling; throws where the evidence cannot be read. */
export function claimedCredential({ curves }: Pick<AuthenticationDependencies, "curves">, sent: SentEvidence): string {
  return lookupText(lookupOf(parseEvidence(curves, sent)));
}

export async function authenticateQuery(
  { store, curves, refusedCredentials }: AuthenticationDependencies,
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
    const { credential, ...found } = await resolve(store, organizationId, evidence, scope);
    if (isExpired(credential, Date.now())) throw expiredCredential(evidence);
    const origins = needsOrigins(evidence) ? await readAllowedOrigins(store, found) : undefined;
    if (!verifyEvidence({ curves, credential, allowedOrigins: () => origins }, evidence, body)) {
      refusedCredentials?.note(organizationId, claimed);
      throw unverifiedEvidence(evidence);
    }
    refusedCredentials?.clear(organizationId, claimed);
    const { userId, userName } = credential;
    return { organizationId: found.organizationId, organizationName: found.organizationName, userId, userName };
  } finally {
    verifyLimit?.leave(0);
  }
}
