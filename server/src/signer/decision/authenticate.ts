/** Who sent a body: the signer's own answer, from the evidence, the bytes it was given for and the members page alone. */
import type { Curves } from "@keystead/core/crypto/curves.ts";
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import {
  checkForSubmit,
  type Evidence,
  expiredCredential,
  isOver,
  lookupOf,
  parseEvidence,
  unknownCredential,
  unverifiedEvidence,
  verifyEvidence,
} from "../../evidence/evidence.ts";
import type { SearchedOrganization } from "../../evidence/evidence_row.ts";
import {
  type Credential,
  credentialLookup,
  describeCredential,
  isExpired,
  type KeptCredential,
  keptCredentialsOf,
  lookupText,
} from "../../state/credentials.ts";
import type { User } from "../../state/entities.ts";
import type { MembersPage } from "../../state/members.ts";

/** As a leaf has them. */
type Ids = { userId: Uint8Array; credentialId: Uint8Array };

export type AuthenticatedCaller = { user: User; credential: Credential; evidence: Evidence; ids: Ids };

/** What a request needs of a credential is read when it is first used: most of a large organization are not used today. */
type Registered = { user: User; kept: KeptCredential; used: { credential: Credential; ids: Ids } | undefined };

const indexes = new WeakMap<MembersPage["users"], Map<string, Registered>>();

/** Credentials by their look-up; pages are immutable and share their maps, so each set of users is indexed once. */
function registeredIn({ users }: MembersPage): Map<string, Registered> {
  const known = indexes.get(users);
  if (known !== undefined) return known;
  const index = new Map<string, Registered>();
  for (const user of users.values()) {
    for (const kept of keptCredentialsOf(user)) index.set(credentialLookup(kept), { user, kept, used: undefined });
  }
  indexes.set(users, index);
  return index;
}

/** Where a credential may be registered, and the origins that its passkeys may be used from. */
export type CallerPlace = {
  members: MembersPage;
  allowedOrigins(): readonly string[] | undefined;
};

/**
 * `readParent` is called where the organization itself does not know the credential: a key that both know is the organization's. `parent`
 * is undefined unless the caller is a user of it.
 */
export function authenticate<P extends CallerPlace>(
  curves: Curves,
  organization: SearchedOrganization & CallerPlace,
  sent: SentEvidence,
  body: Uint8Array,
  nowMs: number,
  readParent: () => P | undefined,
): { caller: AuthenticatedCaller; parent: P | undefined } {
  checkForSubmit(sent);
  const evidence = parseEvidence(curves, sent);
  const lookup = lookupText(lookupOf(evidence));
  const own = registeredIn(organization.members).get(lookup);
  const parent = own === undefined ? readParent() : undefined;
  const found = own ?? (parent && registeredIn(parent.members).get(lookup));
  if (found === undefined) throw unknownCredential(organization, evidence);
  const { user } = found;
  found.used ??= used(user, describeCredential(found.kept));
  const { credential, ids } = found.used;
  if (isExpired(credential, nowMs) || isOver(evidence, nowMs)) throw expiredCredential(evidence);
  const { allowedOrigins } = parent ?? organization;
  if (!verifyEvidence({ curves, credential, allowedOrigins }, evidence, body)) throw unverifiedEvidence(evidence);
  return { caller: { user, credential, evidence, ids }, parent };
}

function used(user: User, credential: Credential): NonNullable<Registered["used"]> {
  const ids = { userId: uuidToBytes(user.userId), credentialId: uuidToBytes(credential.credentialId) };
  return { credential, ids };
}
