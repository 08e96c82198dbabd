/** Functions that name no organization, each with its reason: these, and those of `across_ended.ts`, are the only ones. */
import { comparableContact } from "@keystead/core/otp/otp_types.ts";
import { type Kysely, sql } from "kysely";
import { type ContactLookup, identityStart } from "../state/credentials.ts";
import type { AuthProxySettings } from "../state/entities.ts";
import { type ActivityRow, activityColumns } from "./activities.ts";
import { type BootProofRow, selectBootProofs } from "./boot_proofs.ts";
import { compiled } from "./compiled.ts";
import { isStillVerified } from "./contact_claims.ts";
import { selectUnreleased, type UnreleasedLeaf } from "./leaves.ts";
import { type CallerRow, callerColumns, contactCallerColumns, toCallerRow } from "./organizations.ts";
import type { DueMessage } from "./outbox.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

export type Head = { organizationId: string; version: number; header: Uint8Array };

export type LeafPosition = { organizationId: string; boot: string; number: number };

export type LeafRow = LeafPosition & { version: number | null; activityId: string | null; leaf: Uint8Array };

/** The most of one credential id that are read. More are no owner's: see `gateway/evidence/own_sub_organization.ts`. */
export const maxCandidates = 8;

/** Each number is written out, so that the planner knows it. Every one of the first four columns of the index is given. */
function selectInSubOrganizations(
  db: Kysely<Tables>,
  parentId: string,
  curve: string,
  publicKey: string,
  proven: 0 | 1,
) {
  return db
    .selectFrom("credentials")
    .innerJoin("organizations", "organizations.organization_id", "credentials.organization_id")
    .innerJoin("users", (join) =>
      join
        .onRef("users.organization_id", "=", "credentials.organization_id")
        .onRef("users.user_id", "=", "credentials.user_id"),
    )
    .select(callerColumns)
    .where("credentials.public_key", "=", publicKey)
    .where("credentials.curve", "=", curve)
    .where("credentials.proven", "=", sql.lit(proven))
    .where("organizations.parent_id", "=", parentId)
    .where("organizations.deleted_at_ms", "is", null)
    .orderBy("credentials.created_at_ms")
    .orderBy("credentials.organization_id")
    .limit(maxCandidates);
}

const provenInSubOrganizations = compiled(
  "proven_in_sub_organizations",
  (db, parentId: string, curve: string, publicKey: string) =>
    selectInSubOrganizations(db, parentId, curve, publicKey, 1),
);

/**
 * A client that knows only its parent organization signs in to its own: the parent rule of `whoami` and the log-ins. Where the credential
 * is proven; the oldest ones, so that nobody can push another's registration out of sight.
 */
export async function findProvenInSubOrganizations(
  store: Store,
  parentId: string,
  curve: string,
  publicKey: string,
): Promise<CallerRow[]> {
  return (await provenInSubOrganizations(store, parentId, curve, publicKey)).map(toCallerRow);
}

const unprovenInSubOrganizations = compiled(
  "unproven_in_sub_organizations",
  (db, parentId: string, curve: string, publicKey: string) =>
    selectInSubOrganizations(db, parentId, curve, publicKey, 0).select("credentials.created_at_ms as registeredAtMs"),
);

/**
 * The same, where it is not proven. None once the oldest is from before `fromMs`: a copy that a stranger makes of a key is younger, and
 * would be the only one then.
 */
export async function findUnprovenInSubOrganizations(
  store: Store,
  parentId: string,
  curve: string,
  publicKey: string,
  fromMs: number,
): Promise<CallerRow[]> {
  const rows = await unprovenInSubOrganizations(store, parentId, curve, publicKey);
  return (rows[0]?.registeredAtMs ?? fromMs) < fromMs ? [] : rows.map(toCallerRow);
}

const unprovenAlone = compiled(
  "unproven_alone",
  (db, parentId: string, curve: string, publicKey: string, fromMs: number) =>
    selectInSubOrganizations(db, parentId, curve, publicKey, 0)
      .where("credentials.created_at_ms", ">=", fromMs)
      .whereRef("credentials.created_at_ms", "=", "organizations.created_at_ms")
      .where("users.user_email", "is", null)
      .where("users.user_phone_number", "is", null)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("users as others")
              .select("others.user_id")
              .whereRef("others.organization_id", "=", "credentials.organization_id")
              .whereRef("others.user_id", "<>", "credentials.user_id"),
          ),
        ),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("credentials as others")
              .select("others.credential_id")
              .whereRef("others.organization_id", "=", "credentials.organization_id")
              .whereRef("others.credential_id", "<>", "credentials.credential_id"),
          ),
        ),
      ),
);

/**
 * The same, where it came with its organization and nothing else lets anybody in: what `isFirstSignIn` asks of pages, asked of rows, so that
 * no pages are read for a caller who names a key.
 */
export async function findUnprovenAlone(
  store: Store,
  parentId: string,
  curve: string,
  publicKey: string,
  fromMs: number,
): Promise<CallerRow[]> {
  return (await unprovenAlone(store, parentId, curve, publicKey, fromMs)).map(toCallerRow);
}

/** The first characters of an identity, which have its issuer: all of one may be longer than an entry of an index. */
const identityStarts = sql<string>`substr(identity, 1, 600)`;

const identityAt = compiled("identity_at", (db, from: string, before: string) =>
  db
    .selectFrom("credentials")
    .select("organization_id as organizationId")
    .where("identity", "is not", null)
    .where(identityStarts, ">=", from)
    .where(identityStarts, "<", before)
    .limit(1),
);

/** Strangers name issuers. One where any user here has registered an identity is known to all who ask. */
export async function hasIdentityAt(store: Store, issuer: string): Promise<boolean> {
  const start = identityStart(issuer);
  // The comma that it ends with, and the next character behind that.
  return (await identityAt(store, start, `${start.slice(0, -1)}-`)).length > 0;
}

const verifiedBelow = compiled("verified_contact_below", (db, parentId: string, kind: string, contact: string) =>
  db
    .selectFrom("contact_claims")
    .innerJoin("users", (join) =>
      join
        .onRef("users.organization_id", "=", "contact_claims.sub_organization_id")
        .onRef("users.user_id", "=", "contact_claims.user_id"),
    )
    .innerJoin("organizations", "organizations.organization_id", "users.organization_id")
    .select([
      ...contactCallerColumns,
      sql<number | null>`null`.as("expiresAtMs"),
      sql<null>`null`.as("passkey"),
      sql<null>`null`.as("type"),
    ])
    .where("contact_claims.organization_id", "=", parentId)
    .where("contact_claims.kind", "=", kind)
    .where("contact_claims.contact", "=", contact)
    .where("organizations.parent_id", "=", parentId)
    .where(isStillVerified),
);

/** The same for a client that signs in by a contact: the one user whom that leads to. */
export async function findVerifiedInSubOrganizations(
  store: Store,
  parentId: string,
  { kind, contact }: Pick<ContactLookup, "kind" | "contact">,
): Promise<CallerRow[]> {
  return (await verifiedBelow(store, parentId, kind, comparableContact(kind, contact))).map(toCallerRow);
}

const authProxyByConfig = compiled("auth_proxy_by_config", (db, configId: string) =>
  db
    .selectFrom("auth_proxies")
    .innerJoin("organizations", "organizations.organization_id", "auth_proxies.organization_id")
    .innerJoin("users", (join) =>
      join
        .onRef("users.organization_id", "=", "auth_proxies.organization_id")
        .onRef("users.user_id", "=", "auth_proxies.user_id"),
    )
    .select([
      "auth_proxies.organization_id as organizationId",
      "organizations.organization_name as organizationName",
      "auth_proxies.user_id as userId",
      "users.user_name as userName",
      "auth_proxies.settings as settings",
    ])
    .where("auth_proxies.config_id", "=", configId)
    .where("organizations.deleted_at_ms", "is", null)
    .limit(1),
);

export type AuthProxyRow = {
  organizationId: string;
  organizationName: string;
  userId: string;
  userName: string;
  settings: AuthProxySettings;
};

/** Whoever comes through an auth proxy names its configuration, and no organization. */
export async function findAuthProxyByConfig(store: Store, configId: string): Promise<AuthProxyRow | undefined> {
  const [row] = await authProxyByConfig(store, configId);
  return row && { ...row, settings: JSON.parse(row.settings) as AuthProxySettings };
}

const activityAnywhere = compiled("activity_anywhere", (db, activityId: string) =>
  db
    .selectFrom("activities")
    .select("organization_id as organizationId")
    .select(activityColumns)
    .where("activity_id", "=", activityId)
    .limit(1),
);

/** A client that knows only the parent polls with it. Whether its organization is a child is the caller's to ask next. */
export async function findActivityAnywhere(
  store: Store,
  activityId: string,
): Promise<{ organizationId: string; row: ActivityRow } | undefined> {
  const [found] = await activityAnywhere(store, activityId);
  if (found === undefined) return undefined;
  const { organizationId, ...row } = found;
  return { organizationId, row };
}

const unreleased = compiled("unreleased", (db, limit: number) =>
  selectUnreleased(db)
    .orderBy("leaves.organization_id")
    .orderBy("leaves.version", (order) => order.asc().nullsLast())
    .orderBy("leaves.number")
    .limit(limit),
);

/** After a crash a gateway releases whatever was committed and not yet opened, of every organization. */
export async function loadUnreleased(store: Store, limit: number): Promise<UnreleasedLeaf[]> {
  return (await unreleased(store, limit)).map((row) => ({ ...row }));
}

const firstOrganization = compiled("first_organization", (db) =>
  db
    .selectFrom("organizations")
    .select("organization_id as organizationId")
    .where("parent_id", "is", null)
    .where("deleted_at_ms", "is", null)
    // Tools of the operator may have added others since.
    .orderBy("created_at_ms")
    .orderBy("organization_id")
    .limit(1),
);

/** The organization that the deployment was born with lists its logs. */
export async function findFirstOrganization(store: Store): Promise<string | undefined> {
  const [row] = await firstOrganization(store);
  return row?.organizationId;
}

const heads = compiled("heads", (db, afterOrganizationId: string, limit: number) =>
  db
    .selectFrom("organizations")
    .select(["organization_id as organizationId", "version", "header"])
    .where("organization_id", ">", afterOrganizationId)
    .orderBy("organization_id")
    .limit(limit),
);

/** The signer's memory is compared with, or filled from, the whole database: joining, and `accept-database`. */
export async function listHeads(store: Store, afterOrganizationId: string | undefined, limit: number): Promise<Head[]> {
  return (await heads(store, afterOrganizationId ?? "", limit)).map((row) => ({ ...row }));
}

const deployment = compiled("deployment", (db) => db.selectFrom("deployment").select("keyring"));

/** The service keys and the root key's check value belong to the deployment. Undefined before the first birth. */
export async function findDeployment(store: Store): Promise<Uint8Array | undefined> {
  const [row] = await deployment(store);
  return row?.keyring;
}

const leaves = compiled("leaves", (db, organizationId: string, boot: string, number: number, limit: number) =>
  db
    .selectFrom("leaves")
    .select(["organization_id as organizationId", "boot", "number", "version", "activity_id as activityId", "leaf"])
    .where(sql<boolean>`(organization_id, boot, number) > (${organizationId}, ${boot}, ${number})`)
    .orderBy("organization_id")
    .orderBy("boot")
    .orderBy("number")
    .limit(limit),
);

/** The log is one tree over all organizations. */
export async function listLeaves(store: Store, after: LeafPosition | undefined, limit: number): Promise<LeafRow[]> {
  const { organizationId, boot, number } = after ?? { organizationId: "", boot: "", number: 0 };
  return (await leaves(store, organizationId, boot, number, limit)).map((row) => ({ ...row }));
}

/** The state is written out, so that PostgreSQL takes the index of these alone. */
const dueMessages = compiled("due_messages", (db, nowMs: number, limit: number) =>
  db
    .selectFrom("outbox")
    .select([
      "organization_id as organizationId",
      "message_id as messageId",
      "activity_id as activityId",
      "channel",
      "sealed",
      "attempts",
      "error",
      "expires_at_ms as expiresAtMs",
    ])
    .where("state", "=", sql.lit("PENDING"))
    .where("next_attempt_at_ms", "<=", nowMs)
    .orderBy("next_attempt_at_ms")
    .limit(limit),
);

/** One courier sends for all organizations. */
export async function listDueMessages(store: Store, nowMs: number, limit: number): Promise<DueMessage[]> {
  return (await dueMessages(store, nowMs, limit)).map((row) => ({ ...row, sealed: row.sealed ?? new Uint8Array() }));
}

/** After a start, where nobody else can have a claim. */
export async function dropClaims(store: Store, nowMs: number): Promise<void> {
  await store.db
    .updateTable("outbox")
    .set({ claimed_by: null, next_attempt_at_ms: nowMs })
    .where("state", "=", sql.lit("PENDING"))
    .where("claimed_by", "is not", null)
    .execute();
}

const bootProofByKey = compiled("boot_proof_by_key", (db, ephemeralKey: string) =>
  selectBootProofs(db).where("boot_proofs.ephemeral_key", "=", ephemeralKey).limit(1),
);

/** A start of the signer is everybody's: whoever has an app proof asks for the start that it is of. */
export async function findBootProof(store: Store, ephemeralKey: string): Promise<BootProofRow | undefined> {
  const [row] = await bootProofByKey(store, ephemeralKey);
  return row;
}

const newestBootProof = compiled("newest_boot_proof", (db) =>
  selectBootProofs(db).orderBy("boot_proofs.created_at_ms", "desc").limit(1),
);

/** The newest start of any signer of this deployment. */
export async function findNewestBootProof(store: Store): Promise<BootProofRow | undefined> {
  const [row] = await newestBootProof(store);
  return row;
}
