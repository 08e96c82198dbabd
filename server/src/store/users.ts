import type { ApiKeyCurve } from "@keystead/core/crypto/api_key.ts";
import type { Kysely } from "kysely";
import type { ApiKey, User } from "../state/entities.ts";
import { compiled } from "./compiled.ts";
import { entityReader } from "./entity_reader.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

/** Users with their credentials in one statement, hence of one moment: in two, a user who is deleted between them would be shown without a key. */
function selectUsers(db: Kysely<Tables>, organizationId: string) {
  return db
    .selectFrom("users")
    .leftJoin("credentials", (join) =>
      join
        .onRef("credentials.organization_id", "=", "users.organization_id")
        .onRef("credentials.user_id", "=", "users.user_id"),
    )
    .selectAll("users")
    .select([
      "credentials.credential_id",
      "credentials.credential_name",
      "credentials.type",
      "credentials.curve",
      "credentials.public_key",
      "credentials.expires_at_ms",
      "credentials.created_at_ms as credential_created_at_ms",
      "credentials.updated_at_ms as credential_updated_at_ms",
    ])
    .where("users.organization_id", "=", organizationId)
    .orderBy("users.created_at_ms")
    .orderBy("users.user_id")
    .orderBy("credentials.created_at_ms")
    .orderBy("credentials.credential_id");
}

const userById = compiled("user_by_id", (db, organizationId: string, userId: string) =>
  selectUsers(db, organizationId).where("users.user_id", "=", userId),
);

export async function findUser(store: Store, organizationId: string, userId: string): Promise<User | undefined> {
  const [user] = toUsers(await userById(store, organizationId, userId));
  return user;
}

const usersOf = compiled("users_of_organization", selectUsers);

/** All users, the oldest first. How many an organization may have is limited, so they need no pages. */
export async function listUsers(store: Store, organizationId: string): Promise<User[]> {
  return toUsers(await usersOf(store, organizationId));
}

const credentialsIn = compiled("credentials_of_organization", (db, organizationId: string) =>
  db
    .selectFrom("credentials")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .orderBy("created_at_ms")
    .orderBy("credential_id"),
);

/** The keys of all users, the oldest first. */
export async function listApiKeys(store: Store, organizationId: string): Promise<ApiKey[]> {
  return (await credentialsIn(store, organizationId)).map(toApiKey);
}

const credentialById = compiled("credential_by_id", (db, organizationId: string, credentialId: string) =>
  db
    .selectFrom("credentials")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .where("credential_id", "=", credentialId),
);

export async function findApiKey(store: Store, organizationId: string, apiKeyId: string): Promise<ApiKey | undefined> {
  const [row] = await credentialById(store, organizationId, apiKeyId);
  return row && toApiKey(row);
}

/** All user tags, the oldest first. */
export const { list: listUserTags } = entityReader("userTag");

type UserRow = Tables["users"] &
  Nullable<Omit<Credential, "created_at_ms" | "updated_at_ms">> & {
    credential_created_at_ms: number | null;
    credential_updated_at_ms: number | null;
  };

type Nullable<T> = { [K in keyof T]: T[K] | null };

/** What is told of a credential. */
type Credential = Omit<Tables["credentials"], "organization_id" | "user_id" | "proven">;

/** The rows of one user stand together: one for each credential, or one without any. */
function toUsers(rows: readonly UserRow[]): User[] {
  return [...Map.groupBy(rows, (row) => row.user_id).values()].map((own) => toUser(own as [UserRow]));
}

function toUser(rows: readonly [UserRow, ...UserRow[]]): User {
  const [row] = rows;
  return {
    userId: row.user_id,
    userName: row.user_name,
    ...(row.user_email !== null && { userEmail: row.user_email }),
    ...(row.user_phone_number !== null && { userPhoneNumber: row.user_phone_number }),
    userTags: JSON.parse(row.user_tags) as string[],
    apiKeys: rows.flatMap((each) => (each.credential_id === null ? [] : toApiKey(credentialOf(each)))),
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}

function credentialOf({ credential_created_at_ms, credential_updated_at_ms, ...row }: UserRow): Credential {
  return { ...row, created_at_ms: credential_created_at_ms, updated_at_ms: credential_updated_at_ms } as Credential;
}

function toApiKey(row: Credential): ApiKey {
  return {
    apiKeyId: row.credential_id,
    apiKeyName: row.credential_name,
    curve: row.curve as ApiKeyCurve,
    publicKey: row.public_key,
    type: row.type,
    ...(row.expires_at_ms !== null && { expiresAtMs: row.expires_at_ms }),
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}
