/** Sub-organizations of a parent: all, or those that hold a value. Deleted ones are never listed. */
import { type Kysely, sql } from "kysely";
import { compiled } from "./compiled.ts";
import { claimStands } from "./contact_claims.ts";
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
      .where("passkey", "is", null)
      .where("identity", "is", null),
  /** The digest of what makes it up, as `identityLookup` has it. */
  identity: (db: Db, digest: string) =>
    db
      .selectFrom("credentials")
      .select("organization_id")
      .where("public_key", "=", digest)
      .where("identity", "is not", null),
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
  // Where the contact leads to. Who only wrote one down is not among these.
  verifiedEmail: (db: Db, email: string, parentId: string) => claimedBy(db, parentId, "email", lowerAscii(email)),
  verifiedPhoneNumber: (db: Db, phoneNumber: string, parentId: string) => claimedBy(db, parentId, "phone", phoneNumber),
} as const;

function claimedBy(db: Db, parentId: string, kind: string, contact: string) {
  return db
    .selectFrom("contact_claims")
    .select("sub_organization_id as organization_id")
    .where("organization_id", "=", parentId)
    .where("kind", "=", kind)
    .where("contact", "=", contact)
    .where(claimStands);
}

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

/** The same of those with a user who has a verified contact, whichever it is. */
export async function listVerifiedSubOrganizationIds({ db }: Store, parentId: string, span: Span): Promise<string[]> {
  const { above, below, direction, inOrder } = boundsOf(span, "asc");
  const rows = await read(
    children(db, parentId)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom("users")
            .select("users.user_id")
            .whereRef("users.organization_id", "=", "held.organization_id")
            .where(({ eb, or }) => or([eb("users.email_verified", "=", 1), eb("users.phone_verified", "=", 1)])),
        ),
      )
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
    .selectFrom(holders[by](db, value, parentId).as("held"))
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

/** Which cursor is none of this parent's sub-organizations. One that was deleted is still a place in the order: pages go on behind it. */
export async function findUnknownCursor(
  store: Store,
  parentId: string,
  { before, after }: Pick<Span, "before" | "after">,
): Promise<string | undefined> {
  for (const cursor of [before, after]) {
    if (cursor !== undefined && (await findSubOrganization(store, parentId, cursor)) === undefined) return cursor;
  }
  return undefined;
}

const parent = compiled("parent", (db, organizationId: string) =>
  db.selectFrom("organizations").select("parent_id").where("organization_id", "=", organizationId),
);

/** The id of the parent; undefined of the first organization, and of none. */
export async function findParent(store: Store, organizationId: string): Promise<string | undefined> {
  const [row] = await parent(store, organizationId);
  return row?.parent_id ?? undefined;
}
