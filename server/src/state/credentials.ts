/**
 * The credentials of a user, one row per kind. Sign-in, policies, quorum and proofs ask `credentialsOf`, so a new kind is a row here and an
 * optional list on the user; only its own endpoints know more about it.
 */
import type { ApiKeyCurve } from "@keystead/core/crypto/api_key.ts";
import { Fault } from "@keystead/core/fault.ts";
import { type ContactKind, comparableContact } from "@keystead/core/otp/otp_types.ts";
import type { CredentialFacts } from "@keystead/core/policy/facts/facts.ts";
import { sha256 } from "./digest.ts";
import type { ApiKey, Authenticator, OauthProvider, User } from "./entities.ts";

/** What state keeps of a credential, by kind. */
export type CredentialEntities = { apiKey: ApiKey; authenticator: Authenticator; oauthProvider: OauthProvider };

export type CredentialKind = keyof CredentialEntities;

/**
 * What evidence names: an API key by its curve and key; a passkey by its credential id, in the place of the key, under a curve of its own.
 * Unique within an organization, or stamps would be ambiguous. Evidence that names something else adds a member here.
 */
export type CredentialLookup = KeyLookup | UserLookup | ContactLookup | AuthProxyLookup;

export type KeyLookup = { readonly by: "key"; readonly curve: string; readonly publicKey: string };

/** Not a credential of the user's, but the user: of what the signer has given to one. */
export type UserLookup = { readonly by: "user"; readonly organizationId: string; readonly userId: string };

/** Whoever has a contact, in the organization that has issued the token or below it. */
export type ContactLookup = {
  readonly by: "contact";
  readonly organizationId: string;
  readonly kind: ContactKind;
  readonly contact: string;
};

/** The user of an auth proxy, by the id of its configuration. */
export type AuthProxyLookup = { readonly by: "authProxy"; readonly configId: string };

/** What all kinds have in common, and what rows of the database show of each. */
export type Credential = {
  readonly kind: CredentialKind;
  readonly credentialId: string;
  readonly name: string;
  /** `CREDENTIAL_TYPE_…` */
  readonly type: string;
  /** What evidence names it by: see `CredentialLookup`. */
  readonly curve: string;
  readonly publicKey: string;
  /** What only passkeys have, as `passkeyFacts` reads it. */
  readonly passkey: string | undefined;
  /** What only identities at other issuers have, as `identityFacts` reads it. */
  readonly identity: string | undefined;
  /** Undefined when it lasts. */
  readonly expiresAtMs: number | undefined;
  /** Of a session: what bounds it. Undefined for every other credential, and for the default session. */
  readonly sessionProfileId: string | undefined;
  /** See proven.ts. */
  readonly proven: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

export type DescribedCredential = Omit<Credential, "kind">;

type CredentialRow<E> = {
  /** The `CREDENTIAL_TYPE_…` by which its rows are known in the database; undefined for the kind that has all the others. */
  readonly types: readonly string[] | undefined;
  listOf(user: User): readonly E[];
  /** An optional list that is empty is left out. */
  withList(user: User, list: readonly E[]): User;
  /** The text of its `CredentialLookup`. */
  lookup(entity: E): string;
  describe(entity: E): DescribedCredential;
  /** The reverse of `describe`. */
  rebuild(described: DescribedCredential): E;
  /** What policies see of it. */
  facts(entity: E): CredentialFacts;
  markProven(entity: E): E;
};

const apiKeyTypes = "CREDENTIAL_TYPE_API_KEY_";

/**
 * The type that an approval keeps of its credential: of sessions and passkeys. Approvals by API keys are written as they were before
 * there was anything else, so that every log still leads to the same states, byte for byte.
 */
export function keptTypeOf({ type }: Pick<Credential, "type">): string | undefined {
  return type.startsWith(apiKeyTypes) ? undefined : type;
}

export const passkeyType = "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR";

export const recoveryKeyType = "CREDENTIAL_TYPE_RECOVER_USER_KEY_P256";

/** Whether it only recovers its user: it lets nobody in, and counts wherever credentials are counted as absent. */
export function isRecoveryKey({ type }: Pick<Credential, "type">): boolean {
  return type === recoveryKeyType;
}

/** The place of a curve where a passkey is named: no key of any curve is ever found under it. */
const passkeyCurve = "WEBAUTHN";

/** `credentialId`: base64url of the authenticator's own id. */
export function passkeyLookup(credentialId: string): CredentialLookup {
  return { by: "key", curve: passkeyCurve, publicKey: credentialId };
}

export function isPasskeyLookup({ curve }: KeyLookup): boolean {
  return curve === passkeyCurve;
}

/** What passkeys have beyond other credentials. */
export type PasskeyFacts = Pick<
  Authenticator,
  "publicKey" | "rpIdHash" | "aaguid" | "attestationType" | "transports" | "counter"
>;

/** One text for the same facts: rows are compared with pages by it. */
function writeFacts({ publicKey, rpIdHash, aaguid, attestationType, transports, counter }: PasskeyFacts): string {
  return JSON.stringify({ publicKey, rpIdHash, aaguid, attestationType, transports, counter });
}

export function passkeyFacts(passkey: string | undefined): PasskeyFacts {
  if (passkey === undefined) throw new Fault("internal", "a passkey without its facts");
  return JSON.parse(passkey) as PasskeyFacts;
}

export const oauthProviderType = "CREDENTIAL_TYPE_OAUTH_PROVIDER";

/** The same for an identity at another issuer, which is named by a digest of what makes it up. */
const identityCurve = "OIDC";

export function isIdentityLookup({ curve }: KeyLookup): boolean {
  return curve === identityCurve;
}

/** What an identity is. */
export type IdentityFacts = Pick<OauthProvider, "issuer" | "audience" | "subject">;

export function identityLookup({ issuer, subject, audience }: IdentityFacts): KeyLookup {
  return { by: "key", curve: identityCurve, publicKey: sha256(JSON.stringify([issuer, subject, audience])).toHex() };
}

function writeIdentity({ issuer, audience, subject }: IdentityFacts): string {
  return JSON.stringify({ issuer, audience, subject });
}

/** What the identities of one issuer begin with, and no others. */
export function identityStart(issuer: string): string {
  return `${JSON.stringify({ issuer }).slice(0, -1)},`;
}

export function identityFacts(identity: string | undefined): IdentityFacts {
  if (identity === undefined) throw new Fault("internal", "an identity without its facts");
  return JSON.parse(identity) as IdentityFacts;
}

const rows: { readonly [K in CredentialKind]: CredentialRow<CredentialEntities[K]> } = {
  apiKey: {
    // Long-lived keys and the several sorts of session keys.
    types: undefined,
    listOf: ({ apiKeys }) => apiKeys,
    withList: (user, apiKeys) => ({ ...user, apiKeys }),
    lookup: ({ curve, publicKey }) => lookupText({ by: "key", curve, publicKey }),
    describe: ({ apiKeyId, apiKeyName, proven, ...key }) => ({
      credentialId: apiKeyId,
      name: apiKeyName,
      type: key.type,
      curve: key.curve,
      publicKey: key.publicKey,
      passkey: undefined,
      identity: undefined,
      expiresAtMs: key.expiresAtMs,
      sessionProfileId: key.sessionProfileId,
      proven: proven === true,
      createdAtMs: key.createdAtMs,
      updatedAtMs: key.updatedAtMs,
    }),
    rebuild: ({ credentialId, name, curve, expiresAtMs, sessionProfileId, proven, ...described }) => ({
      apiKeyId: credentialId,
      apiKeyName: name,
      curve: curve as ApiKeyCurve,
      publicKey: described.publicKey,
      type: described.type,
      ...(expiresAtMs !== undefined && { expiresAtMs }),
      ...(sessionProfileId !== undefined && { sessionProfileId }),
      ...(proven && { proven }),
      createdAtMs: described.createdAtMs,
      updatedAtMs: described.updatedAtMs,
    }),
    facts: ({ apiKeyId, type, publicKey }) => ({ id: apiKeyId, type, publicKey }),
    markProven: (apiKey) => ({ ...apiKey, proven: true }),
  },
  authenticator: {
    types: [passkeyType],
    listOf: ({ authenticators }) => authenticators ?? [],
    withList({ authenticators: _, ...user }, authenticators) {
      return authenticators.length === 0 ? user : { ...user, authenticators };
    },
    lookup: ({ credentialId }) => lookupText(passkeyLookup(credentialId)),
    describe: ({ authenticatorId, authenticatorName, credentialId, proven, createdAtMs, updatedAtMs, ...facts }) => ({
      credentialId: authenticatorId,
      name: authenticatorName,
      type: passkeyType,
      curve: passkeyCurve,
      publicKey: credentialId,
      passkey: writeFacts(facts),
      identity: undefined,
      expiresAtMs: undefined,
      sessionProfileId: undefined,
      proven: proven === true,
      createdAtMs,
      updatedAtMs,
    }),
    rebuild: ({ credentialId, name, publicKey, passkey, proven, createdAtMs, updatedAtMs }) => ({
      authenticatorId: credentialId,
      authenticatorName: name,
      credentialId: publicKey,
      ...passkeyFacts(passkey),
      ...(proven && { proven }),
      createdAtMs,
      updatedAtMs,
    }),
    facts: ({ authenticatorId, publicKey, credentialId }) => ({
      id: authenticatorId,
      type: passkeyType,
      publicKey,
      credentialId,
    }),
    markProven: (authenticator) => ({ ...authenticator, proven: true }),
  },
  oauthProvider: {
    types: [oauthProviderType],
    listOf: ({ oauthProviders }) => oauthProviders ?? [],
    withList({ oauthProviders: _, ...user }, oauthProviders) {
      return oauthProviders.length === 0 ? user : { ...user, oauthProviders };
    },
    lookup: (provider) => lookupText(identityLookup(provider)),
    describe: ({ providerId, providerName, proven, createdAtMs, updatedAtMs, ...identity }) => ({
      credentialId: providerId,
      name: providerName,
      type: oauthProviderType,
      curve: identityCurve,
      publicKey: identityLookup(identity).publicKey,
      passkey: undefined,
      identity: writeIdentity(identity),
      expiresAtMs: undefined,
      sessionProfileId: undefined,
      proven: proven === true,
      createdAtMs,
      updatedAtMs,
    }),
    rebuild: ({ credentialId, name, identity, proven, createdAtMs, updatedAtMs }) => ({
      providerId: credentialId,
      providerName: name,
      ...identityFacts(identity),
      ...(proven && { proven }),
      createdAtMs,
      updatedAtMs,
    }),
    // It has no key that a policy could name.
    facts: ({ providerId }) => ({ id: providerId, type: oauthProviderType, publicKey: "" }),
    markProven: (provider) => ({ ...provider, proven: true }),
  },
};

const kinds = Object.keys(rows) as readonly CredentialKind[];

/** A credential as state keeps it. */
export type KeptCredential<K extends CredentialKind = CredentialKind> = {
  [P in K]: { readonly kind: P; readonly entity: CredentialEntities[P] };
}[K];

/** All that state keeps of a user's credentials. Large organizations have thousands: what is not asked for is not described. */
export function keptCredentialsOf(user: User): KeptCredential[] {
  return kinds.flatMap((kind) => keptOf(kind, user));
}

function keptOf<K extends CredentialKind>(kind: K, user: User): KeptCredential<K>[] {
  return rows[kind].listOf(user).map((entity) => ({ kind, entity }));
}

/** Whether a user has the very lists of credentials that another state of it had: a copy shares what was not changed. */
export function hasSameCredentials(user: User, before: User): boolean {
  return kinds.every((kind) => {
    const [list, old] = [rows[kind].listOf(user), rows[kind].listOf(before)];
    return list === old || (list.length === 0 && old.length === 0);
  });
}

/** All credentials of a user, whatever their kind and whether they have expired or not. */
export function credentialsOf(user: User): Credential[] {
  return keptCredentialsOf(user).map(describeCredential);
}

export function describeCredential<K extends CredentialKind>({ kind, entity }: KeptCredential<K>): Credential {
  return { kind, ...rows[kind].describe(entity) };
}

/** The credential that a description was made of. */
export function rebuildCredential(described: DescribedCredential): KeptCredential {
  const kind = kinds.find((each) => rows[each].types?.includes(described.type)) ?? "apiKey";
  return rebuildAs(kind, described);
}

function rebuildAs<K extends CredentialKind>(kind: K, described: DescribedCredential): KeptCredential<K> {
  return { kind, entity: rows[kind].rebuild(described) };
}

/** The user with these credentials and no others. */
export function withCredentials(user: User, credentials: readonly KeptCredential[]): User {
  return kinds.reduce((changed, kind) => withCredentialsOf(kind, changed, credentials), user);
}

function withCredentialsOf<K extends CredentialKind>(kind: K, user: User, all: readonly KeptCredential[]): User {
  const own = all.flatMap((credential) => (isOfKind(kind, credential) ? [credential.entity] : []));
  return rows[kind].withList(user, own);
}

/** Of any kind, in the one form that a predicate over a single kind can narrow. */
type AnyKept = { readonly kind: CredentialKind; readonly entity: CredentialEntities[CredentialKind] };

function isOfKind<K extends CredentialKind>(kind: K, credential: AnyKept): credential is KeptCredential<K> {
  return credential.kind === kind;
}

/** One spelling per credential, for maps: the same as of the evidence that names it. */
export function credentialLookup<K extends CredentialKind>({ kind, entity }: KeptCredential<K>): string {
  return rows[kind].lookup(entity);
}

export function lookupText(lookup: CredentialLookup): string {
  if (lookup.by === "user") return `user ${lookup.organizationId} ${lookup.userId}`;
  if (lookup.by === "contact") {
    return `contact ${lookup.organizationId} ${lookup.kind} ${comparableContact(lookup.kind, lookup.contact)}`;
  }
  if (lookup.by === "authProxy") return `auth proxy ${lookup.configId}`;
  return `${lookup.curve} ${lookup.publicKey}`;
}

/** The key that a credential's evidence is verified with, in hex. */
export function verifyingKeyOf({ publicKey, passkey }: Pick<Credential, "publicKey" | "passkey">): string {
  return passkey === undefined ? publicKey : passkeyFacts(passkey).publicKey;
}

/** A user's credentials as policies see them. */
export function credentialFactsOf(user: User): CredentialFacts[] {
  return keptCredentialsOf(user).map(factsOf);
}

function factsOf<K extends CredentialKind>({ kind, entity }: KeptCredential<K>): CredentialFacts {
  return rows[kind].facts(entity);
}

type Expiring = { readonly expiresAtMs?: number | undefined };

/** Whether it is good without end. */
export function isLasting({ expiresAtMs }: Expiring): boolean {
  return expiresAtMs === undefined;
}

export function isExpired({ expiresAtMs }: Expiring, nowMs: number): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= nowMs;
}

/** The user with these credentials marked as proven; the same object where all of them are. */
export function withProven(user: User, isMeant: (credential: Credential) => boolean): User {
  return kinds.reduce((marked, kind) => withProvenOf(kind, marked, isMeant), user);
}

function withProvenOf<K extends CredentialKind>(
  kind: K,
  user: User,
  isMeant: (credential: Credential) => boolean,
): User {
  const row = rows[kind];
  const list = row.listOf(user);
  const marked = list.map((entity) => {
    const credential = { kind, ...row.describe(entity) };
    return !credential.proven && isMeant(credential) ? row.markProven(entity) : entity;
  });
  return marked.every((entity, index) => entity === list[index]) ? user : row.withList(user, marked);
}
