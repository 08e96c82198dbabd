/**
 * One row per kind of entity: the table that shows it to readers, and how an entity becomes a row of it. Commits, `check-database`
 * and the readers follow from it. The row of the same name in `state/entity_kinds.ts` says where the state keeps it.
 */
import { type Credential, credentialsOf } from "../state/credentials.ts";
import type { Entities, EntityKind } from "../state/entities.ts";
import type { AnyRecord } from "../state/records.ts";
import type { ColumnKind } from "./columns.ts";

/** A column and the field that it shows. A field that is absent is null; `form` says what else a value becomes. */
export type EntityColumn<F extends string = string> = {
  readonly kind: ColumnKind;
  readonly field: F;
  readonly form?: "json" | "flag";
};

/** A column that no field of the entity tells: the bytes of the record that came with it, or the id of its owner. */
export type OutsideColumn = { readonly kind: ColumnKind; readonly from: "record" | "owner" };

type Columns<E> = Readonly<Record<string, EntityColumn<keyof E & string> | OutsideColumn>>;

/** A table of what its owner holds a list of. All rows of an owner are replaced together. */
export type PartTable<E> = {
  readonly table: string;
  readonly id: string;
  readonly owner: string;
  readonly columns: Readonly<Record<string, EntityColumn | OutsideColumn>>;
  partsOf(entity: E): readonly object[];
};

export type EntityTable<E> = {
  readonly shownIn: "table";
  readonly table: string;
  /** The column of its id. With the organization it is the primary key. */
  readonly id: string;
  readonly columns: Columns<E>;
  /** When the id is there already: its row is replaced, or everything that the organization commits is refused. */
  readonly clash: "replace" | "refuse";
  readonly parts?: PartTable<E>;
  /** The columns that indexes are over, or that say which rows are in one: SQLite writes an index anew for each column that is set. */
  readonly indexed?: readonly string[];
  /** Of a kind whose rows hold a record: what it belongs to, for messages, and whether it is the one that came with this entity. */
  readonly text?: { readonly owner: string; isOf(record: AnyRecord, entity: E): boolean };
};

/** `page`: no reader asks a table for it. `organization`: columns of its row. `keys`: rows of wallets, accounts and private keys. */
type OtherPlace = { readonly shownIn: "page" | "organization" | "keys" };

const text = <F extends string>(field: F) => ({ kind: "text", field }) as const;
const optionalText = <F extends string>(field: F) => ({ kind: "text?", field }) as const;
const integer = <F extends string>(field: F) => ({ kind: "integer", field }) as const;
const optionalInteger = <F extends string>(field: F) => ({ kind: "integer?", field }) as const;
const json = <F extends string>(field: F) => ({ kind: "text", field, form: "json" }) as const;
const flag = <F extends string>(field: F) => ({ kind: "integer", field, form: "flag" }) as const;
const times = { created_at_ms: integer("createdAtMs"), updated_at_ms: integer("updatedAtMs") } as const;

/** Tags of users and tags of private keys look the same. */
const tagColumns = { tag_id: text("tagId"), tag_name: text("tagName"), ...times } as const;

/** Credentials of all kinds look the same: their rows in `state/credentials.ts` describe and rebuild them. */
const credentialColumns = {
  credential_id: text("credentialId"),
  user_id: { kind: "text", from: "owner" },
  credential_name: text("name"),
  type: text("type"),
  curve: text("curve"),
  public_key: text("publicKey"),
  passkey: optionalText("passkey"),
  identity: optionalText("identity"),
  expires_at_ms: optionalInteger("expiresAtMs"),
  session_profile_id: optionalText("sessionProfileId"),
  proven: flag("proven"),
  ...times,
} as const satisfies Columns<Credential>;

export const entityTables = {
  user: {
    shownIn: "table",
    table: "users",
    id: "user_id",
    columns: {
      user_id: text("userId"),
      user_name: text("userName"),
      user_email: optionalText("userEmail"),
      email_verified: flag("emailVerified"),
      user_phone_number: optionalText("userPhoneNumber"),
      phone_verified: flag("phoneVerified"),
      user_tags: json("userTags"),
      ...times,
    },
    clash: "replace",
    parts: {
      table: "credentials",
      id: "credential_id",
      owner: "user_id",
      columns: credentialColumns,
      partsOf: credentialsOf,
    },
    indexed: ["user_name", "user_email", "email_verified", "user_phone_number", "phone_verified"],
  },
  userTag: { shownIn: "table", table: "user_tags", id: "tag_id", columns: tagColumns, clash: "replace" },
  rootQuorum: { shownIn: "page" },
  settings: { shownIn: "organization" },
  /** Its status stands in the activity's own row. */
  pendingActivity: { shownIn: "page" },
  keyFacts: { shownIn: "keys" },
  privateKeyTag: { shownIn: "table", table: "private_key_tags", id: "tag_id", columns: tagColumns, clash: "replace" },
  taggedPrivateKeys: { shownIn: "keys" },
  importTarget: { shownIn: "page" },
  keyCounts: { shownIn: "page" },
  policy: {
    shownIn: "table",
    table: "policies",
    id: "policy_id",
    columns: {
      policy_id: text("policyId"),
      policy_name: text("policyName"),
      effect: text("effect"),
      // The three expressions as they were written.
      consensus: text("consensus"),
      condition: text("condition"),
      time: text("time"),
      notes: text("notes"),
      ...times,
    },
    clash: "replace",
  },
  /** An interface comes with its text, once, and is never changed. The text stands in the record as the signer wrote it. */
  contractInterface: {
    shownIn: "table",
    table: "contract_interfaces",
    id: "interface_id",
    columns: {
      interface_id: text("interfaceId"),
      type: text("type"),
      address: text("address"),
      label: text("label"),
      notes: text("notes"),
      record: { kind: "bytes", from: "record" },
      ...times,
    },
    clash: "refuse",
    text: {
      owner: "an interface",
      isOf: (record, { interfaceId, length }) =>
        record.kind === "contractInterface" &&
        record.interfaceId === interfaceId &&
        Buffer.byteLength(record.text) === length,
    },
  },
  /** Never changed: a second one with the same id is refused. */
  sessionProfile: {
    shownIn: "table",
    table: "session_profiles",
    id: "session_profile_id",
    columns: {
      session_profile_id: text("sessionProfileId"),
      session_profile_name: text("sessionProfileName"),
      scope: text("scope"),
      expiration_seconds: optionalInteger("expirationSeconds"),
      notes: text("notes"),
      ...times,
    },
    clash: "refuse",
  },
  usedToken: { shownIn: "page" },
  ipAllowlist: { shownIn: "page" },
  oauth2Credential: { shownIn: "page" },
  /** By its id alone an organization is found: see `store/across.ts`. */
  authProxy: {
    shownIn: "table",
    table: "auth_proxies",
    id: "config_id",
    columns: {
      config_id: text("configId"),
      user_id: text("userId"),
      settings: json("settings"),
      ...times,
    },
    clash: "replace",
  },
  /** The gateway reads the first organization's page. */
  log: { shownIn: "page" },
} as const satisfies { [K in EntityKind]: EntityTable<Entities[K]> | OtherPlace };

type Rows = typeof entityTables;

/** Kinds with a table of their own. */
export type TabledKind = { [K in EntityKind]: Rows[K] extends { shownIn: "table" } ? K : never }[EntityKind];

/** Those whose rows follow from their pages alone. The others have a record in theirs. */
export type PlainKind = { [K in TabledKind]: Rows[K] extends { text: unknown } ? never : K }[TabledKind];

type KindsOf<C> = { organization_id: "text" } & { [N in keyof C]: C[N] extends { kind: infer K } ? K : never };
type Flat<T> = { readonly [N in keyof T]: T[N] };

type EntityColumns = { [K in TabledKind as Rows[K]["table"]]: Flat<KindsOf<Rows[K]["columns"]>> } & {
  credentials: Flat<KindsOf<typeof credentialColumns>>;
};

export type EntityTableName = keyof EntityColumns;

/** Every kind with its row, in the order of the rows. */
export const tabledKinds: readonly TabledKind[] = (Object.keys(entityTables) as EntityKind[]).filter(isTabled);

export function isTabled(kind: EntityKind): kind is TabledKind {
  return entityTables[kind].shownIn === "table";
}

/** The row of a kind, for code that treats all alike. */
export function tableOf<K extends TabledKind>(kind: K) {
  return entityTables[kind] as unknown as Omit<EntityTable<Entities[K]>, "table" | "parts"> & {
    readonly table: EntityTableName;
    readonly parts?: Omit<PartTable<Entities[K]>, "table"> & { readonly table: EntityTableName };
  };
}

/** Whether rows of a kind hold a record, which no page has. */
export function hasRecord(kind: TabledKind): boolean {
  return tableOf(kind).text !== undefined;
}

function kindsOf(columns: Readonly<Record<string, { readonly kind: ColumnKind }>>): Record<string, ColumnKind> {
  const kinds = Object.entries(columns).map(([name, { kind }]) => [name, kind] as const);
  return { organization_id: "text", ...Object.fromEntries(kinds) };
}

/** The tables of all kinds and of their parts: one entry per table, as `tables.ts` declares them. */
export const columnsOfEntities = Object.fromEntries(
  tabledKinds.flatMap((kind) => {
    const { table, columns, parts } = tableOf(kind);
    const own = [[table, kindsOf(columns)]];
    return parts === undefined ? own : [...own, [parts.table, kindsOf(parts.columns)]];
  }),
) as EntityColumns;
