import { fromHex } from "@keystead/core/encoding/hex.ts";
import { comparableContact } from "@keystead/core/otp/otp_types.ts";
import { type Kysely, sql } from "kysely";
import type { ContactLookup } from "../state/credentials.ts";
import { activityIdPrefix } from "../state/derived_id.ts";
import { slotMs } from "../state/journal.ts";
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

export type CallerRow = {
  organizationId: string;
  parentId?: string;
  organizationName: string;
  /** The page of its IP allowlists, where it has one. Read of named organizations alone, and of their parents. */
  ipAllowlists?: Uint8Array;
  credential?: {
    credentialId: string;
    userId: string;
    userName: string;
    /** Absent where evidence names a user and no credential. */
    type?: string;
    passkey?: string;
    expiresAtMs?: number;
  };
};

export type StoredState = {
  version: number;
  header: Uint8Array;
  directory: Uint8Array;
  pages: { name: string; content: Uint8Array }[];
};

/** What the joins of organization, credential and user yield; the latter two are null together. */
type JoinedCaller = {
  organizationId: string;
  parentId: string | null;
  organizationName: string;
  credentialId: string | null;
  userId: string | null;
  userName: string | null;
  type: string | null;
  passkey: string | null;
  expiresAtMs: number | null;
  ipAllowlists?: Uint8Array | null;
};

/** Most organizations have no such page; in one statement with the rest, asking costs next to nothing. */
const ipAllowlistsPage = sql<Uint8Array | null>`(
  select content from pages where pages.organization_id = organizations.organization_id and pages.name = 'ipAllowlists'
)`.as("ipAllowlists");

export const callerColumns = [
  "organizations.organization_id as organizationId",
  "organizations.parent_id as parentId",
  "organizations.organization_name as organizationName",
  "credentials.credential_id as credentialId",
  "users.user_id as userId",
  "users.user_name as userName",
  "credentials.type as type",
  "credentials.passkey as passkey",
  "credentials.expires_at_ms as expiresAtMs",
] as const;

export function toCallerRow(row: JoinedCaller): CallerRow {
  const { organizationId, parentId, organizationName, credentialId, userId, userName, type, passkey, expiresAtMs } =
    row;
  const caller: CallerRow = { organizationId, organizationName };
  if (parentId !== null) caller.parentId = parentId;
  if (row.ipAllowlists !== null && row.ipAllowlists !== undefined) caller.ipAllowlists = row.ipAllowlists;
  if (credentialId !== null && userId !== null && userName !== null) {
    caller.credential = { credentialId, userId, userName };
    if (type !== null) caller.credential.type = type;
    if (passkey !== null) caller.credential.passkey = passkey;
    if (expiresAtMs !== null) caller.credential.expiresAtMs = expiresAtMs;
  }
  return caller;
}

function selectCaller(db: Kysely<Tables>, organizationId: string, curve: string, publicKey: string) {
  return db
    .selectFrom("organizations")
    .leftJoin("credentials", (join) =>
      join
        .onRef("credentials.organization_id", "=", "organizations.organization_id")
        .on("credentials.curve", "=", curve)
        .on("credentials.public_key", "=", publicKey),
    )
    .leftJoin("users", (join) =>
      join
        .onRef("users.organization_id", "=", "credentials.organization_id")
        .onRef("users.user_id", "=", "credentials.user_id"),
    )
    .select([...callerColumns, ipAllowlistsPage])
    .where("organizations.organization_id", "=", organizationId);
}

const caller = compiled("caller", (db, organizationId: string, curve: string, publicKey: string) =>
  selectCaller(db, organizationId, curve, publicKey).where("organizations.deleted_at_ms", "is", null),
);

/** The organization, and its credential with this key if there is one; undefined when there is no such organization. */
export async function findCaller(
  store: Store,
  organizationId: string,
  curve: string,
  publicKey: string,
): Promise<CallerRow | undefined> {
  const [row] = await caller(store, organizationId, curve, publicKey);
  return row && toCallerRow(row);
}

const callerByUser = compiled("caller_by_user", (db, organizationId: string, userId: string) =>
  db
    .selectFrom("organizations")
    .leftJoin("users", (join) =>
      join.onRef("users.organization_id", "=", "organizations.organization_id").on("users.user_id", "=", userId),
    )
    .select([
      "organizations.organization_id as organizationId",
      "organizations.parent_id as parentId",
      "organizations.organization_name as organizationName",
      "users.user_id as credentialId",
      "users.user_id as userId",
      "users.user_name as userName",
      sql<number | null>`null`.as("expiresAtMs"),
      sql<null>`null`.as("type"),
      sql<null>`null`.as("passkey"),
      ipAllowlistsPage,
    ])
    .where("organizations.organization_id", "=", organizationId)
    .where("organizations.deleted_at_ms", "is", null),
);

/** The organization, and this user of it, for evidence that names a user and no credential. */
export async function findCallerByUser(
  store: Store,
  organizationId: string,
  userId: string,
): Promise<CallerRow | undefined> {
  const [row] = await callerByUser(store, organizationId, userId);
  return row && toCallerRow(row);
}

/** What the join of an organization and its users yields, for evidence that names no credential. */
export const contactCallerColumns = [
  "organizations.organization_id as organizationId",
  "organizations.parent_id as parentId",
  "organizations.organization_name as organizationName",
  "users.user_id as credentialId",
  "users.user_id as userId",
  "users.user_name as userName",
] as const;

/** Two are as many as nobody can tell apart. */
export const severalCallers = 2;

function selectByContact(db: Kysely<Tables>, organizationId: string) {
  return db
    .selectFrom("organizations")
    .innerJoin("users", "users.organization_id", "organizations.organization_id")
    .select([
      ...contactCallerColumns,
      sql<number | null>`null`.as("expiresAtMs"),
      sql<null>`null`.as("passkey"),
      sql<null>`null`.as("type"),
      ipAllowlistsPage,
    ])
    .where("organizations.organization_id", "=", organizationId)
    .where("organizations.deleted_at_ms", "is", null)
    .limit(severalCallers);
}

/** Each is written out: planners take the index of verified contacts only where they read the mark. */
const callersByContact = {
  email: compiled("callers_by_email", (db, organizationId: string, email: string) =>
    selectByContact(db, organizationId)
      .where("users.user_email", "is not", null)
      .where(sql<string>`lower(users.user_email)`, "=", email),
  ),
  phone: compiled("callers_by_phone_number", (db, organizationId: string, phoneNumber: string) =>
    selectByContact(db, organizationId).where("users.user_phone_number", "=", phoneNumber),
  ),
};

const callersByVerifiedContact = {
  email: compiled("callers_by_verified_email", (db, organizationId: string, email: string) =>
    selectByContact(db, organizationId)
      .where("users.email_verified", "=", sql.lit(1))
      .where(sql<string>`lower(users.user_email)`, "=", email),
  ),
  phone: compiled("callers_by_verified_phone_number", (db, organizationId: string, phoneNumber: string) =>
    selectByContact(db, organizationId)
      .where("users.phone_verified", "=", sql.lit(1))
      .where("users.user_phone_number", "=", phoneNumber),
  ),
};

/** Users of an organization with this contact, at most as many as are ambiguous. */
export async function findCallersByContact(
  store: Store,
  organizationId: string,
  { kind, contact }: Pick<ContactLookup, "kind" | "contact">,
  isVerified: boolean,
): Promise<CallerRow[]> {
  const find = (isVerified ? callersByVerifiedContact : callersByContact)[kind];
  return (await find(store, organizationId, comparableContact(kind, contact))).map(toCallerRow);
}

const formerCaller = compiled("former_caller", selectCaller);

/** The same, also of an organization that was deleted: whoever deleted it may ask once more what came of that. */
export async function findFormerCaller(
  store: Store,
  organizationId: string,
  curve: string,
  publicKey: string,
): Promise<CallerRow | undefined> {
  const [row] = await formerCaller(store, organizationId, curve, publicKey);
  return row && toCallerRow(row);
}

/** One statement, hence one snapshot: the head first (its name is null), then the pages. */
const state = compiled("state", (db, organizationId: string) =>
  db
    .selectFrom("organizations")
    .select([sql<string | null>`null`.as("name"), "version", "header", "directory as content"])
    .where("organization_id", "=", organizationId)
    .unionAll(
      db
        .selectFrom("pages")
        .select(["name", sql<number>`0`.as("version"), sql<Uint8Array>`null`.as("header"), "content"])
        .where("organization_id", "=", organizationId)
        // There may be hundreds of these; the signer asks for the few it needs.
        .where("name", "not like", "keyFacts/%"),
    ),
);

/** The current state, all of one moment. Pages come in no particular order. */
export async function loadState(store: Store, organizationId: string): Promise<StoredState | undefined> {
  const pages: StoredState["pages"] = [];
  let head: Omit<StoredState, "pages"> | undefined;
  for (const { name, version, header, content } of await state(store, organizationId)) {
    if (name === null) head = { version, header, directory: content };
    else pages.push({ name, content });
  }
  return head && { ...head, pages };
}

const stateLength = compiled("state_length", (db, organizationId: string) =>
  db
    .selectFrom("pages")
    .select(sql<number>`cast(coalesce(sum(length(content)), 0) as integer)`.as("length"))
    .where("organization_id", "=", organizationId)
    .where("name", "not like", "keyFacts/%"),
);

/** How long the pages of a state are that `loadState` would read, in bytes. None is read for it. */
export async function findStateLength(store: Store, organizationId: string): Promise<number> {
  const [row] = await stateLength(store, organizationId);
  return row?.length ?? 0;
}

const factsLength = compiled("facts_length", (db, organizationId: string) =>
  db
    .selectFrom("pages")
    .select(sql<number>`cast(coalesce(sum(length(content)), 0) as integer)`.as("length"))
    .where("organization_id", "=", organizationId)
    .where("name", "like", "keyFacts/%"),
);

/** How long all of its pages of key facts are, in bytes. None is read for it. */
export async function findFactsLength(store: Store, organizationId: string): Promise<number> {
  const [row] = await factsLength(store, organizationId);
  return row?.length ?? 0;
}

/** One statement, as with whole states. */
const partOfState = compiled("part_of_state", (db, organizationId: string, name: string) =>
  db
    .selectFrom("organizations")
    .leftJoin("pages", (join) =>
      join.onRef("pages.organization_id", "=", "organizations.organization_id").on("pages.name", "=", name),
    )
    .select(["version", "header", "directory", "content"])
    .where("organizations.organization_id", "=", organizationId),
);

/** The current state with one of its pages alone, if it has that page. */
export async function loadPartOfState(
  store: Store,
  organizationId: string,
  name: string,
): Promise<StoredState | undefined> {
  const [row] = await partOfState(store, organizationId, name);
  if (row === undefined) return undefined;
  const { version, header, directory, content } = row;
  return { version, header, directory, pages: content === null ? [] : [{ name, content }] };
}

export type StoredHead = Pick<StoredState, "version" | "header">;

const head = compiled("head", (db, organizationId: string) =>
  db.selectFrom("organizations").select(["version", "header"]).where("organization_id", "=", organizationId),
);

/** The header of the current state, without its directory and pages. */
export async function findHead(store: Store, organizationId: string): Promise<StoredHead | undefined> {
  const [row] = await head(store, organizationId);
  return row;
}

const version = compiled("version", (db, organizationId: string) =>
  db.selectFrom("organizations").select("version").where("organization_id", "=", organizationId),
);

/** The version of the current state. */
export async function findVersion(store: Store, organizationId: string): Promise<number | undefined> {
  const [row] = await version(store, organizationId);
  return row?.version;
}

const page = compiled("page", (db, organizationId: string, name: string) =>
  db.selectFrom("pages").select("content").where("organization_id", "=", organizationId).where("name", "=", name),
);

/** One page as the signer wrote it. For readers only: nothing checks here that it belongs to the current state. */
export async function findPage(store: Store, organizationId: string, name: string): Promise<Uint8Array | undefined> {
  const [row] = await page(store, organizationId, name);
  return row?.content;
}

/** Those of the named pages that are there. */
export async function findPages(
  store: Store,
  organizationId: string,
  names: readonly string[],
): Promise<{ name: string; content: Uint8Array }[]> {
  const found = await Promise.all(
    names.map(async (name) => ({ name, content: await findPage(store, organizationId, name) })),
  );
  return found.flatMap(({ name, content }) => (content === undefined ? [] : { name, content }));
}

const headers = compiled("headers", (db, organizationId: string, fromVersion: number, toVersion: number) =>
  db
    .selectFrom("leaves")
    .select("header")
    .where("organization_id", "=", organizationId)
    .where("version", "is not", null)
    .where("version", ">=", fromVersion)
    .where("version", "<=", toVersion)
    .orderBy("version"),
);

/** The headers of versions `fromVersion` to `toVersion`, both included, oldest first. */
export async function loadHeaders(
  store: Store,
  organizationId: string,
  fromVersion: number,
  toVersion: number,
): Promise<Uint8Array[]> {
  const rows = await headers(store, organizationId, fromVersion, toVersion);
  return rows.flatMap(({ header }) => header ?? []);
}

const journal = compiled("journal", (db, organizationId: string, from: string, to: string, version: number) =>
  db
    .selectFrom("activities")
    .select("fingerprint")
    .where("organization_id", "=", organizationId)
    .where("activity_id", ">=", from)
    .where("activity_id", "<", to)
    .where("slot", "is not", null)
    .where("state_version", "<=", version)
    .orderBy("state_version"),
);

/** The fingerprints of one journal as of a version, in the order in which they were executed. */
export async function loadJournal(
  store: Store,
  organizationId: string,
  slot: number,
  version: number,
): Promise<Uint8Array[]> {
  // A journal is a span of time, and so of ids: no index is needed that every activity would have to pay for.
  const [from, to] = [activityIdPrefix(slot * slotMs), activityIdPrefix((slot + 1) * slotMs)];
  const rows = await journal(store, organizationId, from, to, version);
  return rows.map(({ fingerprint }) => fromHex(fingerprint));
}
