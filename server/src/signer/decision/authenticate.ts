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

export function authenticate(
  curves: Curves,
  organization: SearchedOrganization & { members: MembersPage },
  sent: SentEvidence,
  body: Uint8Array,
  nowMs: number,
  allowedOrigins: () => readonly string[] | undefined,
): AuthenticatedCaller {
  checkForSubmit(sent);
  const evidence = parseEvidence(curves, sent);
  const found = registeredIn(organization.members).get(lookupText(lookupOf(evidence)));
  if (found === undefined) throw unknownCredential(organization, evidence);
  const { user } = found;
  found.used ??= used(user, describeCredential(found.kept));
  const { credential, ids } = found.used;
  if (isExpired(credential, nowMs) || isOver(evidence, nowMs)) throw expiredCredential(evidence);
  if (!verifyEvidence({ curves, credential, allowedOrigins }, evidence, body)) throw unverifiedEvidence(evidence);
  return { user, credential, evidence, ids };
}

function used(user: User, credential: Credential): NonNullable<Registered["used"]> {
  const ids = { userId: uuidToBytes(user.userId), credentialId: uuidToBytes(credential.credentialId) };
  return { credential, ids };
}
