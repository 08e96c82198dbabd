/** Sub-organizations of a parent: all, or those that hold a value. Deleted ones are never listed. */
import { type Kysely, sql } from "kysely";
import { compiled } from "./compiled.ts";
import { lowerAscii } from "./lower_ascii.ts";
import { read } from "./read.ts";
import { boundsOf, type Span } from "./span.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** One row per thing that can be looked for: who holds it. Each has an index of the value and the organization. */
const holders = {
  organizationName: (db: Db, name: string) =>
    db
      .selectFrom("organizations")
      .select("organization_id")
      .where("organization_name", "=", name)
      .where("deleted_at_ms", "is", null),
  userName: (db: Db, name: string) => db.selectFrom("users").select("organization_id").where("user_name", "=", name),
  userEmail: (db: Db, email: string) =>
    db
      .selectFrom("users")
      .select("organization_id")
      .where("user_email", "is not", null)
      .where(sql<string>`lower(user_email)`, "=", lowerAscii(email)),
  userPhoneNumber: (db: Db, phoneNumber: string) =>
    db.selectFrom("users").select("organization_id").where("user_phone_number", "=", phoneNumber),
  publicKey: (db: Db, publicKey: string) =>
    db
      .selectFrom("credentials")
      .select("organization_id")
      .where("public_key", "=", publicKey)
      // Whoever makes a passkey chooses its id: it must not pass for somebody's key.
      .where("passkey", "is", null),
  passkeyId: (db: Db, credentialId: string) =>
    db
      .selectFrom("credentials")
      .select("organization_id")
      .where("public_key", "=", credentialId)
      .where("passkey", "is not", null),
  credentialId: (db: Db, credentialId: string) =>
    db.selectFrom("credentials").select("organization_id").where("credential_id", "=", credentialId),
  /** In the form that addresses are looked up by. */
  walletAccountAddress: (db: Db, key: string) =>
    db.selectFrom("wallet_accounts").select("organization_id").where("address_key", "=", key),
} as const;

export type SubOrganizationFilter = { by: keyof typeof holders; value: string };

/** The ids of a page, in their own order, which is not one of time. */
export async function listSubOrganizationIds(
  { db }: Store,
  parentId: string,
  filter: SubOrganizationFilter | undefined,
  span: Span,
): Promise<string[]> {
  // Who has none, as no sub-organization has, need not look through the holders of others.
  if (filter !== undefined && (await read(children(db, parentId).limit(1))).length === 0) return [];
  const { above, below, direction, inOrder } = boundsOf(span, "asc");
  const rows = await read(
    (filter === undefined ? children(db, parentId) : holdingChildren(db, parentId, filter))
      .where("held.organization_id", ">", above)
      .where("held.organization_id", "<", below)
      .orderBy("held.organization_id", direction)
      .limit(span.limit),
  );
  return inOrder(rows.map(({ organization_id }) => organization_id));
}

function children(db: Db, parentId: string) {
  return db
    .selectFrom("organizations as held")
    .select("held.organization_id")
    .where("held.parent_id", "=", parentId)
    .where("held.deleted_at_ms", "is", null);
}

/** A comparison, not a join: planners would turn a join round and try every child of the parent. */
function holdingChildren(db: Db, parentId: string, { by, value }: SubOrganizationFilter) {
  return db
    .selectFrom(holders[by](db, value).as("held"))
    .select("held.organization_id")
    .distinct()
    .where(
      (query) =>
        query
          .selectFrom("organizations")
          .select("organizations.parent_id")
          .whereRef("organizations.organization_id", "=", "held.organization_id")
          .where("organizations.deleted_at_ms", "is", null),
      "=",
      parentId,
    );
}

const child = compiled("child", (db, parentId: string, organizationId: string) =>
  db
    .selectFrom("organizations")
    .select("deleted_at_ms as deletedAtMs")
    .where("organization_id", "=", organizationId)
    .where("parent_id", "=", parentId),
);

/** Undefined when it is none of this parent's. */
export async function findSubOrganization(
  store: Store,
  parentId: string,
  organizationId: string,
): Promise<{ deletedAtMs: number | null } | undefined> {
  const [row] = await child(store, parentId, organizationId);
  return row && { ...row };
}
