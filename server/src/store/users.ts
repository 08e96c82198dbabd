import type { ApiKeyCurve } from "@keystead/core/crypto/api_key.ts";
import type { User } from "../state/entities.ts";
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";

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
  if (row === undefined) return undefined;
  const credentials = await credentialsOf(store, organizationId, userId);
  return {
    userId: row.user_id,
    userName: row.user_name,
    ...(row.user_email !== null && { userEmail: row.user_email }),
    ...(row.user_phone_number !== null && { userPhoneNumber: row.user_phone_number }),
    userTags: JSON.parse(row.user_tags) as string[],
    apiKeys: credentials.map((key) => ({
      apiKeyId: key.credential_id,
      apiKeyName: key.credential_name,
      curve: key.curve as ApiKeyCurve,
      publicKey: key.public_key,
      type: key.type,
      ...(key.expires_at_ms !== null && { expiresAtMs: key.expires_at_ms }),
      createdAtMs: key.created_at_ms,
      updatedAtMs: key.updated_at_ms,
    })),
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}
