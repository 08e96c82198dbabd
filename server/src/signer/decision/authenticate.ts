/** Who sent a body: the signer's own answer, from the evidence, the bytes it was given for and the members page alone. */
import type { Curves } from "@keystead/core/crypto/curves.ts";
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { IdentityAccess } from "../../endpoints/identity_access.ts";
import {
  ambiguousCredential,
  checkForSubmit,
  type Evidence,
  expiredCredential,
  isOver,
  isVerifiedBeforeLookup,
  keptEvidence,
  lookupOf,
  parseEvidence,
  unknownCredential,
  unverifiedEvidence,
  verifyEvidence,
} from "../../evidence/evidence.ts";
import type { SearchedOrganization } from "../../evidence/evidence_row.ts";
import { refuseUnlessCodesSignIn } from "../../rules/features.ts";
import { createAside } from "../../state/aside.ts";
import { type Contact, usersWithContact } from "../../state/contacts.ts";
import {
  type ContactLookup,
  type Credential,
  credentialLookup,
  describeCredential,
  isExpired,
  type KeptCredential,
  keptCredentialsOf,
  lookupText,
} from "../../state/credentials.ts";
import type { Settings, User } from "../../state/entities.ts";
import { countsByParentsId } from "../../state/first_sign_in.ts";
import type { MembersPage } from "../../state/members.ts";

/** As a leaf has them. Evidence that needs no registered credential has none. */
type Ids = { userId: Uint8Array; credentialId: Uint8Array | undefined };

/** What decisions ask about the credential that was used. */
type UsedCredential = Pick<
  Credential,
  "credentialId" | "type" | "publicKey" | "passkey" | "sessionProfileId" | "expiresAtMs" | "proven"
>;

export type AuthenticatedCaller = {
  user: User;
  credential: UsedCredential;
  evidence: Evidence;
  ids: Ids;
  /** The contact that the user was found by, and whose holder sent the body. */
  contact?: Contact;
};

/** What a request needs of a credential is read when it is first used: most of a large organization are not used today. */
type Registered = { user: User; kept: KeptCredential; used: { credential: Credential; ids: Ids } | undefined };

const foundIn = createAside<MembersPage["users"], Map<string, Registered>>();
const indexes = createAside<User, Map<string, Registered>>();

/**
 * The credential that a look-up names. Pages are immutable and share what a change leaves as it is: each user's credentials are indexed
 * once, not with every change of another's, and what was found in a set of users is found there again at once.
 */
function findRegistered({ users }: MembersPage, lookup: string): Registered | undefined {
  let known = foundIn.get(users);
  if (known === undefined) {
    known = new Map();
    foundIn.set(users, known);
  }
  let registered = known.get(lookup);
  if (registered !== undefined) return registered;
  for (const user of users.values()) registered = registeredOf(user).get(lookup) ?? registered;
  if (registered !== undefined) known.set(lookup, registered);
  return registered;
}

function registeredOf(user: User): Map<string, Registered> {
  let index = indexes.get(user);
  if (index === undefined) {
    index = new Map();
    for (const kept of keptCredentialsOf(user)) index.set(credentialLookup(kept), { user, kept, used: undefined });
    indexes.set(user, index);
  }
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
  organization: SearchedOrganization & CallerPlace & ContactPlace,
  sent: SentEvidence,
  body: Uint8Array,
  nowMs: number,
  readParent: () => P | undefined,
): { caller: AuthenticatedCaller; parent: P | undefined } {
  checkForSubmit(sent);
  const evidence = parseEvidence(curves, sent);
  const named = lookupOf(evidence);
  if (named.by === "contact") {
    return { caller: byContact(curves, organization, { evidence, named, body, nowMs }), parent: undefined };
  }
  const { identities } = organization;
  const noCredential = { curves, credential: { credentialId: "" }, identities, allowedOrigins: () => undefined };
  if (isVerifiedBeforeLookup(evidence)) {
    if (isOver(evidence, nowMs)) throw expiredCredential(evidence);
    if (!verifyEvidence(noCredential, evidence, body)) throw unverifiedEvidence(evidence);
  }
  const lookup = lookupText(named);
  const own = findRegistered(organization.members, lookup);
  const parent = own === undefined ? readParent() : undefined;
  const found = own ?? (parent && findRegistered(parent.members, lookup));
  if (found === undefined) throw unknownCredential(organization, evidence);
  const { user } = found;
  found.used ??= used(user, describeCredential(found.kept));
  const { credential, ids } = found.used;
  if (organization.namesParent && own !== undefined && !countsByParentsId(organization, user, credential, nowMs)) {
    throw unknownCredential(organization, evidence);
  }
  if (isExpired(credential, nowMs) || isOver(evidence, nowMs)) throw expiredCredential(evidence);
  const { allowedOrigins } = parent ?? organization;
  if (!verifyEvidence({ curves, credential, identities, allowedOrigins }, evidence, body))
    throw unverifiedEvidence(evidence);
  return { caller: { user, credential, evidence, ids }, parent };
}

/** What a user is found by a contact with. */
export type ContactPlace = {
  settings: Settings;
  /** The body names the parent: that it runs here is the gateway's word. */
  namesParent: boolean;
  otpKey: Uint8Array;
  acceptedAtMs: number;
  identities: IdentityAccess;
};

/** How approvals keep what they were given with. */
const attestedType = "CREDENTIAL_TYPE_VERIFICATION_TOKEN";

type AttestedRequest = { evidence: Evidence; named: ContactLookup; body: Uint8Array; nowMs: number };

/**
 * The user whom a verification token speaks for. A contact that was only written down counts where the body itself names a
 * sub-organization. In an organization without a parent, and where the gateway has chosen the sub-organization, it must be verified: else
 * whoever writes a stranger's address into a user of their own would receive that stranger's sign-in.
 */
function byContact(
  curves: Curves,
  organization: SearchedOrganization & CallerPlace & ContactPlace,
  { evidence, named, body, nowMs }: AttestedRequest,
): AuthenticatedCaller {
  const { organizationId, parentId, members, settings, otpKey, acceptedAtMs, allowedOrigins } = organization;
  if (isOver(evidence, nowMs)) throw expiredCredential(evidence);
  const content = keptEvidence(curves, evidence, "");
  if (content.kind !== "attested") throw new Fault("internal", "only attested evidence names a contact");
  const credentialId = uuidFromBytes(content.value.tokenId);
  const verification = { curves, credential: { credentialId }, otpKey, acceptedAtMs, allowedOrigins };
  if (!verifyEvidence(verification, evidence, body)) throw unverifiedEvidence(evidence);
  if (named.organizationId !== organizationId && named.organizationId !== parentId) {
    throw unknownCredential(organization, evidence);
  }
  const contact = { kind: named.kind, contact: named.contact };
  const unverifiedToo = parentId !== undefined && !organization.namesParent;
  const [user, ...others] = usersWithContact(members, contact, unverifiedToo);
  if (user === undefined) throw unknownCredential(organization, evidence);
  if (others.length > 0) throw ambiguousCredential(evidence);
  refuseUnlessCodesSignIn(settings, contact.kind, organizationId);
  const credential: UsedCredential = {
    credentialId,
    type: attestedType,
    publicKey: toHex(content.value.publicKey),
    passkey: undefined,
    sessionProfileId: undefined,
    expiresAtMs: undefined,
    proven: false,
  };
  return { user, credential, evidence, ids: { userId: uuidToBytes(user.userId), credentialId: undefined }, contact };
}

function used(user: User, credential: Credential): NonNullable<Registered["used"]> {
  const ids = { userId: uuidToBytes(user.userId), credentialId: uuidToBytes(credential.credentialId) };
  return { credential, ids };
}
