import type { ApiKeyCurve } from "@keystead/core/crypto/api_key.ts";
import type { ApiKey, User, UserTag } from "../state/entities.ts";
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

const userById = compiled("user_by_id", (db, organizationId: string, userId: string) =>
  db.selectFrom("users").selectAll().where("organization_id", "=", organizationId).where("user_id", "=", userId),
);

const credentialsOf = compiled("credentials_of_user", (db, organizationId: string, userId: string) =>
  db
    .selectFrom("credentials")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .where("user_id", "=", userId)
    .orderBy("created_at_ms")
    .orderBy("credential_id"),
);

export async function findUser(store: Store, organizationId: string, userId: string): Promise<User | undefined> {
  const [row] = await userById(store, organizationId, userId);
  return row && toUser(row, await credentialsOf(store, organizationId, userId));
}

const usersOf = compiled("users_of_organization", (db, organizationId: string) =>
  db
    .selectFrom("users")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .orderBy("created_at_ms")
    .orderBy("user_id"),
);

const credentialsIn = compiled("credentials_of_organization", (db, organizationId: string) =>
  db
    .selectFrom("credentials")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .orderBy("created_at_ms")
    .orderBy("credential_id"),
);

/** All users, the oldest first. How many an organization may have is limited, so they need no pages. */
export async function listUsers(store: Store, organizationId: string): Promise<User[]> {
  const [rows, credentials] = await Promise.all([usersOf(store, organizationId), credentialsIn(store, organizationId)]);
  const byUser = Map.groupBy(credentials, (credential) => credential.user_id);
  return rows.map((row) => toUser(row, byUser.get(row.user_id) ?? []));
}

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

const tagsOf = compiled("user_tags_of_organization", (db, organizationId: string) =>
  db
    .selectFrom("user_tags")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .orderBy("created_at_ms")
    .orderBy("tag_id"),
);

/** All user tags, the oldest first. */
export async function listUserTags(store: Store, organizationId: string): Promise<UserTag[]> {
  return (await tagsOf(store, organizationId)).map((row) => ({
    tagId: row.tag_id,
    tagName: row.tag_name,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  }));
}

function toUser(row: Tables["users"], credentials: readonly Tables["credentials"][]): User {
  return {
    userId: row.user_id,
    userName: row.user_name,
    ...(row.user_email !== null && { userEmail: row.user_email }),
    ...(row.user_phone_number !== null && { userPhoneNumber: row.user_phone_number }),
    userTags: JSON.parse(row.user_tags) as string[],
    apiKeys: credentials.map(toApiKey),
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}

function toApiKey(row: Tables["credentials"]): ApiKey {
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
