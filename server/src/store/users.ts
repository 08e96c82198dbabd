import { type SelectQueryBuilder, sql } from "kysely";
import {
  type DescribedCredential,
  type KeptCredential,
  rebuildCredential,
  withCredentials,
} from "../state/credentials.ts";
import type { ApiKey, Authenticator, User } from "../state/entities.ts";
import { mapWithBreaths } from "./breaths.ts";
import { compiled } from "./compiled.ts";
import { entityReader } from "./entity_reader.ts";
import { fromColumns, fromRow } from "./entity_rows.ts";
import { entityTables } from "./entity_tables.ts";
import { type Keyed, readByAge } from "./pieces.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

const { columns } = entityTables.user.parts;

/** Both tables have times: in a row of both, the columns of the credential are told apart by it. */
const prefix = "credential_";
const shownColumns = Object.keys(columns).filter((name) => name !== "credential_id");

/** Users with their credentials in one statement, hence of one moment: in two, a user who is deleted between them would be shown without a key. */
function withTheirCredentials(users: SelectQueryBuilder<Tables, "users", Tables["users"]>) {
  return users
    .leftJoin("credentials", (join) =>
      join
        .onRef("credentials.organization_id", "=", "users.organization_id")
        .onRef("credentials.user_id", "=", "users.user_id"),
    )
    .select("credentials.credential_id as credential_credential_id")
    .select(shownColumns.map((name) => sql.ref(`credentials.${name}`).as(prefix + name)))
    .orderBy("users.user_id")
    .orderBy("credentials.created_at_ms")
    .orderBy("credentials.credential_id");
}

const userById = compiled("user_by_id", (db, organizationId: string, userId: string) =>
  withTheirCredentials(
    db
      .selectFrom("users")
      .selectAll("users")
      .where("users.organization_id", "=", organizationId)
      .where("users.user_id", "=", userId),
  ),
);

export async function findUser(store: Store, organizationId: string, userId: string): Promise<User | undefined> {
  const [user] = toUsers(await userById(store, organizationId, userId));
  return user;
}

/** A user may have forty credentials. */
const usersOfPiece = 16;

const nextUsers = compiled("users_of_organization", (db, organizationId: string, after: string) =>
  withTheirCredentials(
    db
      .selectFrom((inner) =>
        inner
          .selectFrom("users")
          .selectAll()
          .where("organization_id", "=", organizationId)
          .where("user_id", ">", after)
          .orderBy("user_id")
          .limit(usersOfPiece)
          .as("users"),
      )
      .selectAll("users") as SelectQueryBuilder<Tables, "users", Tables["users"]>,
  ),
);

/** All users, the oldest first. How many an organization may have is limited, so they need no pages. */
export function listUsers(store: Store, organizationId: string): Promise<User[]> {
  const keyed: Keyed<User> = {
    size: usersOfPiece,
    read: async (...asked) => toUsers(await nextUsers(...asked)),
    keyOf: ({ userId }) => userId,
  };
  return readByAge(store, organizationId, keyed, ({ createdAtMs }) => createdAtMs);
}

const credentialsOfPiece = 256;

const nextCredentials = compiled("credentials_of_organization", (db, organizationId: string, after: string) =>
  db
    .selectFrom("credentials")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .where("credential_id", ">", after)
    .orderBy("credential_id")
    .limit(credentialsOfPiece),
);

/** The keys of all users, the oldest first. */
export async function listApiKeys(store: Store, organizationId: string): Promise<ApiKey[]> {
  const rows = await readByAge(
    store,
    organizationId,
    { size: credentialsOfPiece, read: nextCredentials, keyOf: (row) => row.credential_id },
    (row) => row.created_at_ms,
  );
  return (await mapWithBreaths(rows, (row) => toApiKeys([row]))).flat();
}

const credentialById = compiled("credential_by_id", (db, organizationId: string, credentialId: string) =>
  db
    .selectFrom("credentials")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .where("credential_id", "=", credentialId),
);

export async function findApiKey(store: Store, organizationId: string, apiKeyId: string): Promise<ApiKey | undefined> {
  const [apiKey] = toApiKeys(await credentialById(store, organizationId, apiKeyId));
  return apiKey;
}

/** The passkey of one of its users; undefined where there is none with this id. */
export async function findAuthenticator(
  store: Store,
  organizationId: string,
  authenticatorId: string,
): Promise<Authenticator | undefined> {
  const [found] = await credentialById(store, organizationId, authenticatorId);
  const credential = found && toCredential(found);
  return credential?.kind === "authenticator" ? credential.entity : undefined;
}

/** All user tags, the oldest first. */
export const { list: listUserTags } = entityReader("userTag");

type UserRow = Tables["users"] & { credential_credential_id: unknown };

/** The rows of one user stand together: one for each credential, or one without any. */
function toUsers(rows: readonly UserRow[]): User[] {
  return [...Map.groupBy(rows, (row) => row.user_id).values()].map((own) => toUser(own as [UserRow]));
}

function toUser(rows: readonly [UserRow, ...UserRow[]]): User {
  const credentials = rows.filter((row) => row.credential_credential_id !== null);
  const user = { ...fromRow("user", rows[0]), apiKeys: [] };
  return withCredentials(
    user,
    credentials.map((row) => toCredential(row, prefix)),
  );
}

function toCredential(row: object, before = ""): KeptCredential {
  const absent = {
    passkey: undefined,
    identity: undefined,
    expiresAtMs: undefined,
    sessionProfileId: undefined,
    proven: false,
  };
  return rebuildCredential({ ...absent, ...fromColumns(columns, row, before) } as DescribedCredential);
}

function toApiKeys(rows: readonly object[]): ApiKey[] {
  return rows.map((row) => toCredential(row)).flatMap(({ kind, entity }) => (kind === "apiKey" ? entity : []));
}
