/**
 * The credentials of a user, one row per kind. Sign-in, policies, quorum and proofs ask `credentialsOf`, so a new kind is a row here and an
 * optional list on the user; only its own endpoints know more about it.
 */
import type { ApiKey, User } from "./entities.ts";

/** What state keeps of a credential, by kind. */
type CredentialEntities = { apiKey: ApiKey };

export type CredentialKind = keyof CredentialEntities;

/** How evidence finds a credential. Unique within an organization, or stamps would be ambiguous. */
export type CredentialLookup = { readonly curve: string; readonly publicKey: string };

/** What all kinds have in common. */
export type Credential = {
  readonly kind: CredentialKind;
  readonly credentialId: string;
  readonly name: string;
  /** `CREDENTIAL_TYPE_…`: policies tell kinds of credentials by it. */
  readonly type: string;
  readonly curve: string;
  readonly publicKey: string;
  /** The text of its `CredentialLookup`. */
  readonly lookup: string;
  /** Undefined when it lasts. */
  readonly expiresAtMs: number | undefined;
  /** See proven.ts. */
  readonly proven: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

type CredentialRow<E> = {
  listOf(user: User): readonly E[];
  withList(user: User, list: readonly E[]): User;
  describe(entity: E): Omit<Credential, "kind">;
  markProven(entity: E): E;
};

type CredentialRows = { readonly [K in CredentialKind]: CredentialRow<CredentialEntities[K]> };

const rows: CredentialRows = {
  apiKey: {
    listOf: ({ apiKeys }) => apiKeys,
    withList: (user, apiKeys) => ({ ...user, apiKeys }),
    describe: ({ apiKeyId, apiKeyName, curve, publicKey, type, expiresAtMs, proven, createdAtMs, updatedAtMs }) => ({
      credentialId: apiKeyId,
      name: apiKeyName,
      type,
      curve,
      publicKey,
      lookup: lookupText({ curve, publicKey }),
      expiresAtMs,
      proven: proven === true,
      createdAtMs,
      updatedAtMs,
    }),
    markProven: (apiKey) => ({ ...apiKey, proven: true }),
  },
};

const kinds = Object.keys(rows) as readonly CredentialKind[];

/** One spelling per credential, for maps. */
export function lookupText({ curve, publicKey }: CredentialLookup): string {
  return `${curve} ${publicKey}`;
}

export function describeCredential<K extends CredentialKind>(kind: K, entity: CredentialEntities[K]): Credential {
  return { kind, ...rows[kind].describe(entity) };
}

/** All credentials of a user, whatever their kind and whether they have expired or not. */
export function credentialsOf(user: User): Credential[] {
  return kinds.flatMap((kind) => describeAll(kind, user));
}

function describeAll<K extends CredentialKind>(kind: K, user: User): Credential[] {
  return rows[kind].listOf(user).map((entity) => describeCredential(kind, entity));
}

/** Whether it is good without end. */
export function isLasting({ expiresAtMs }: { readonly expiresAtMs?: number | undefined }): boolean {
  return expiresAtMs === undefined;
}

export function isExpired({ expiresAtMs }: { readonly expiresAtMs?: number | undefined }, nowMs: number): boolean {
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
    const credential = describeCredential(kind, entity);
    return !credential.proven && isMeant(credential) ? row.markProven(entity) : entity;
  });
  return marked.every((entity, index) => entity === list[index]) ? user : row.withList(user, marked);
}
