/**
 * Who asks a query. Reads are the gateway's own business: a database writer can lie to readers anyway, and nothing that is
 * decided here lets anyone sign.
 */
import type { Curves } from "@keystead/core/crypto/curves.ts";
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import type { Fault } from "@keystead/core/fault.ts";
import { isSignedByNamedKey } from "@keystead/core/oidc/attested_identity.ts";
import { invalidToken } from "@keystead/core/oidc/invalid_token.ts";
import type { Caller } from "../../endpoints/define_query.ts";
import { noSuchOrganization } from "../../endpoints/known_faults.ts";
import { unknownAuthProxy } from "../../evidence/auth_proxy_evidence.ts";
import {
  type Evidence,
  expiredCredential,
  isInvalidEvidence,
  isMadeBy,
  isOver,
  isVerifiedBeforeLookup,
  isVerifiedBeforeSearch,
  lookupOf,
  needsOrigins,
  parseEvidence,
  unknownCredential,
  unverifiedEvidence,
  verifyEvidence,
} from "../../evidence/evidence.ts";
import type { RequestSource } from "../../rules/ip_allowlists.ts";
import {
  type AuthProxyLookup,
  type ContactLookup,
  type CredentialLookup,
  isExpired,
  isRecoveryKey,
  lookupText,
} from "../../state/credentials.ts";
import { findAuthProxyByConfig } from "../../store/across.ts";
import { type CallerRow, findCaller, findCallerByUser, findFormerCaller } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";
import { readAllowedOrigins } from "./allowed_origins.ts";
import { checkSource } from "./check_source.ts";
import { findByContact } from "./contact_caller.ts";
import { findOwnSubOrganization } from "./own_sub_organization.ts";
import { type ReadStatements, readIdentity } from "./read_identity.ts";
import type { RefusedCredentials } from "./refused_credentials.ts";

export type AuthenticationDependencies = {
  store: Store;
  curves: Curves;
  /** The public half of the notarizer key, 33 bytes; undefined before the signer has said it. */
  notarizerKey?(): Uint8Array | undefined;
  /** The public half of the `otp` key, likewise. */
  otpKey?(): Uint8Array | undefined;
  /** What the courier says about issuers of identity tokens; without it no stamp with one opens a query. */
  issuers?: ReadStatements;
  /** Those of the HTTP handler; without them every credential is looked up anew. */
  refusedCredentials?: RefusedCredentials;
};

/** Where else than in the named organization and its parent: in one sub-organization; or in one that was deleted. */
export type Scope = "named" | "sub-organization" | "former";

type FoundCaller = CallerRow & { credential: NonNullable<CallerRow["credential"]> };

/** Who was found, which organization the request is about, and whether the evidence is good for it. */
type Resolved = { found: FoundCaller; subjectId: string; isVerified: boolean };

/**
 * The named organization first; then its parent, whose members may read every sub-organization; then, where the endpoint
 * allows it, the credential's own sub-organization, which the request is about then. Somebody in one of them may have registered a
 * stranger's credential id with another key: what that key did not make is looked for further on.
 */
async function resolve(
  dependencies: AuthenticationDependencies,
  organizationId: string,
  evidence: Evidence,
  body: Uint8Array,
  scope: Scope,
): Promise<Resolved> {
  const { store, curves } = dependencies;
  const lookup = lookupOf(evidence);
  if (isVerifiedBeforeLookup(evidence)) await refuseUnlessVerified(dependencies, organizationId, evidence, body);
  if (lookup.by === "contact") return resolveContact(dependencies, organizationId, evidence, lookup, body, scope);
  if (lookup.by === "authProxy") return resolveAuthProxy(store, organizationId, lookup);
  /** Whose key it was comes first: what else a stamp must be right for may take a page. */
  const attempt = async (
    row: CallerRow | undefined,
    subjectId = organizationId,
    isSigned = false,
  ): Promise<Resolved | undefined> => {
    if (row === undefined || !isCaller(curves, row, evidence)) return undefined;
    refuseExpired(row.credential, evidence);
    return { found: row, subjectId, isVerified: isSigned || (await verifies(dependencies, row, evidence, body)) };
  };
  const named = await findIn(store, organizationId, lookup, scope === "former");
  if (named === undefined) {
    throw noSuchOrganization();
  }
  const own = await attempt(named);
  if (own !== undefined) return own;
  const { parentId } = named;
  const parent = parentId === undefined ? undefined : await findIn(store, parentId, lookup);
  const above = await attempt(parent);
  if (above !== undefined) return above;
  const findsBelow = parentId === undefined && scope === "sub-organization";
  const child = findsBelow ? await findBelow(dependencies, organizationId, evidence, body) : undefined;
  const below = await attempt(child, child?.organizationId, isVerifiedBeforeSearch(evidence));
  if (below !== undefined) return below;
  if (hasCredential(named) || (parent !== undefined && hasCredential(parent))) throw unverifiedEvidence(evidence);
  throw findsBelow ? unknownBelow(organizationId, evidence) : unknownCredential({ organizationId, parentId }, evidence);
}

/** A token says itself whom it speaks for: nobody is looked for before the stamp is verified. */
async function resolveContact(
  dependencies: AuthenticationDependencies,
  organizationId: string,
  evidence: Evidence,
  lookup: ContactLookup,
  body: Uint8Array,
  scope: Scope,
): Promise<Resolved> {
  const inSubOrganizations = scope === "sub-organization";
  await refuseUnlessVerified(dependencies, organizationId, evidence, body);
  const found = await findByContact(dependencies.store, organizationId, evidence, lookup, inSubOrganizations);
  if (found === undefined || !hasCredential(found)) {
    throw unknownCredential({ organizationId, parentId: undefined, inSubOrganizations }, evidence);
  }
  return { found, subjectId: found.organizationId, isVerified: true };
}

/** In the sub-organizations of a parent, once a stamp that has its key is verified: junk has none of them read. */
async function findBelow(
  dependencies: AuthenticationDependencies,
  organizationId: string,
  evidence: Evidence,
  body: Uint8Array,
): Promise<CallerRow | undefined> {
  if (isVerifiedBeforeSearch(evidence)) await refuseUnlessVerified(dependencies, organizationId, evidence, body);
  return findOwnSubOrganization(dependencies, organizationId, evidence);
}

/** For evidence that needs no credential to be verified with. */
async function refuseUnlessVerified(
  dependencies: AuthenticationDependencies,
  organizationId: string,
  evidence: Evidence,
  body: Uint8Array,
): Promise<void> {
  const stranger = { organizationId, organizationName: "", credential: { credentialId: "", userId: "", userName: "" } };
  refuseExpired(stranger.credential, evidence);
  if (!(await verifies(dependencies, stranger, evidence, body))) throw unverifiedEvidence(evidence);
}

/**
 * What this gateway has written itself for somebody who came through the auth proxy: no header carries it. The proxy is the named
 * organization's own, or its parent's.
 */
async function resolveAuthProxy(
  store: Store,
  organizationId: string,
  { configId }: AuthProxyLookup,
): Promise<Resolved> {
  const [named, proxy] = await Promise.all([
    findCallerByUser(store, organizationId, ""),
    findAuthProxyByConfig(store, configId),
  ]);
  if (named === undefined) throw noSuchOrganization();
  if (proxy === undefined || ![named.organizationId, named.parentId].includes(proxy.organizationId)) {
    throw unknownAuthProxy();
  }
  const { organizationId: ownId, organizationName, userId, userName } = proxy;
  const credential = { credentialId: configId, userId, userName };
  return {
    found: { organizationId: ownId, organizationName, credential },
    subjectId: organizationId,
    isVerified: true,
  };
}

/** Throws where the credential, or the evidence itself, is over. */
function refuseExpired(credential: FoundCaller["credential"], evidence: Evidence, nowMs = Date.now()): void {
  if (isExpired(credential, nowMs) || isOver(evidence, nowMs)) throw expiredCredential(evidence);
}

/** Whether the evidence is good for this body. */
async function verifies(
  { store, curves, notarizerKey, otpKey, issuers }: AuthenticationDependencies,
  found: FoundCaller,
  evidence: Evidence,
  body: Uint8Array,
): Promise<boolean> {
  const { credential } = found;
  const nowMs = Date.now();
  const origins = needsOrigins(evidence) ? await readAllowedOrigins(store, found) : undefined;
  const serviceKeys = { notarizerKey: notarizerKey?.(), otpKey: otpKey?.() };
  const isIdentity = evidence.kind === "attestedIdentity" && isSignedByNamedKey(curves, evidence.value, body);
  const identities = isIdentity ? await readIdentity(issuers, evidence.value.tokenText, nowMs) : refusesAll;
  const verification = { curves, credential, ...serviceKeys, identities, allowedOrigins: () => origins };
  return verifyEvidence(verification, evidence, body);
}

/** No issuer is asked about a token whose stamp does not verify anyway. */
const refusesAll = {
  verify(): never {
    throw invalidToken("its stamp does not verify");
  },
};

/** Neither the named organization nor any below it knows the credential. */
function unknownBelow(organizationId: string, evidence: Evidence): Fault {
  return unknownCredential({ organizationId, parentId: undefined, inSubOrganizations: true }, evidence);
}

/** A user is looked for in its own organization alone: anywhere else nobody has its id. */
function findIn(
  store: Store,
  organizationId: string,
  lookup: Exclude<CredentialLookup, ContactLookup | AuthProxyLookup>,
  isFormer = false,
) {
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

/** Whether the credential is there, and its key made the evidence. */
function isCaller(curves: Curves, row: CallerRow, evidence: Evidence): row is FoundCaller {
  return row.credential !== undefined && isMadeBy(curves, evidence, row.credential);
}

/**
 * Where a submit runs that may name its parent: in the named organization, unless one sub-organization of it has the credential. Whether
 * the evidence is good for this body is the signer's to say, wherever it runs. A credential that none of them has is refused here, as for a
 * query: the signer would look in the named organization alone, and answer as if no other had been meant.
 */
export async function findWhereItRuns(
  dependencies: AuthenticationDependencies,
  { organizationId, evidence: sent, body }: { organizationId: string; evidence: SentEvidence; body: Uint8Array },
): Promise<string> {
  const { store, curves } = dependencies;
  const evidence = parseEvidence(curves, sent);
  const lookup = lookupOf(evidence);
  if (lookup.by === "contact") {
    return withVerifyLimit(dependencies, organizationId, evidence, async () => {
      const resolved = await resolveContact(dependencies, organizationId, evidence, lookup, body, "sub-organization");
      return resolved.subjectId;
    });
  }
  // Nothing that comes through the auth proxy runs elsewhere than where its body says.
  if (lookup.by === "authProxy") throw unverifiedEvidence(evidence);
  const named = await findIn(store, organizationId, lookup);
  if (named === undefined || named.parentId !== undefined) return organizationId;
  return withVerifyLimit(dependencies, organizationId, evidence, async () => {
    if (isVerifiedBeforeLookup(evidence)) await refuseUnlessVerified(dependencies, organizationId, evidence, body);
    if (isCaller(curves, named, evidence)) return organizationId;
    const own = await findBelow(dependencies, organizationId, evidence, body);
    if (own !== undefined) return own.organizationId;
    throw hasCredential(named) ? unverifiedEvidence(evidence) : unknownBelow(organizationId, evidence);
  });
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
  source?: RequestSource,
): Promise<Caller> {
  const { curves, refusedCredentials } = dependencies;
  const evidence = parseEvidence(curves, sent);
  return withVerifyLimit(dependencies, organizationId, evidence, async () => {
    const { found, subjectId, isVerified } = await resolve(dependencies, organizationId, evidence, body, scope);
    if (!isVerified) throw unverifiedEvidence(evidence);
    refusedCredentials?.clear(organizationId, lookupText(lookupOf(evidence)));
    // Only whoever has shown that it has the credential is told anything about addresses.
    const { ipAllowlists } = found;
    if (source !== undefined && ipAllowlists !== undefined) checkSource(ipAllowlists, lookupOf(evidence), source);
    const { organizationId: ownId, organizationName, credential } = found;
    const { userId, userName, type } = credential;
    const isStamped = evidence.kind !== "readOnlySession";
    const hasRecoveryKey = type !== undefined && isRecoveryKey({ type });
    return { organizationId: ownId, organizationName, userId, userName, isStamped, hasRecoveryKey, subjectId };
  });
}

/** Work that verifies evidence: few at a time where a credential's evidence was refused lately. What does not verify is noted. */
async function withVerifyLimit<T>(
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
