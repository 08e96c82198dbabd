/**
 * Every table and column, declared once: Kysely's types derive from it and a test compares it with what the migrations
 * build. Ids are UUID text, times milliseconds, JSON is text. `?` marks a column that may be null.
 */
import type { ColumnKind, Row } from "./columns.ts";
import { columnsOfEntities } from "./entity_tables.ts";

export type { ColumnKind } from "./columns.ts";

export const tables = {
  /** One row per organization: its current state's head, and the few facts every request needs. */
  organizations: {
    organization_id: "text",
    parent_id: "text?",
    organization_name: "text",
    version: "integer",
    header: "bytes",
    directory: "bytes",
    created_at_ms: "integer",
    updated_at_ms: "integer",
    /** Set when the organization was deleted: its state stays, so that its id can never be used again. */
    deleted_at_ms: "integer?",
  },
  /** The current pages, as the signer wrote them. */
  pages: { organization_id: "text", name: "text", content: "bytes" },
  /** Log leaves. `version` and `header` are those of the state the leaf's activity produced, if it changed any. */
  leaves: {
    organization_id: "text",
    boot: "text",
    number: "integer",
    version: "integer?",
    activity_id: "text?",
    leaf: "bytes",
    header: "bytes?",
    sealed: "bytes?",
    /** Tags and digests of the records that came with it, as `state/drawn.ts` writes them. */
    made: "bytes?",
  },
  /** Bytes that leaves name by their SHA-256 (hex) and that no other table keeps. */
  disclosures: { organization_id: "text", digest: "text", content: "bytes" },
  /** Of these, tokens that have not ended, as the signer sealed them. */
  sealed_disclosures: { organization_id: "text", digest: "text", sealed: "bytes", ends_at_ms: "integer" },
  /** Leaves that are committed and not yet known to be released. Small and short-lived, so marking costs next to nothing. */
  unreleased: { organization_id: "text", boot: "text", number: "integer" },
  /** `slot` is the journal that lists the fingerprint, in the order of `state_version`. */
  activities: {
    organization_id: "text",
    activity_id: "text",
    fingerprint: "text",
    type: "text",
    status: "text",
    body: "bytes",
    result: "text?",
    failure: "text?",
    votes: "text",
    /** What the policies said about the submission, and JSON of why. */
    evaluations: "bytes?",
    explanation: "text?",
    slot: "integer?",
    state_version: "integer?",
    created_at_ms: "integer",
    updated_at_ms: "integer",
  },
  /** Bodies with a bearer value, as the signer sealed them. Until it ends, `activities.body` has their shown form. */
  sealed_bodies: { organization_id: "text", activity_id: "text", sealed: "bytes", ends_at_ms: "integer" },
  /**
   * App proofs of an activity that asked for them, as the signer sealed them for its leaf, and their JSON text once the leaf was released.
   */
  app_proofs: {
    organization_id: "text",
    activity_id: "text",
    boot: "text",
    number: "integer",
    sealed: "bytes",
    proofs: "text?",
  },
  /** What proven decisions were taken on: contexts, pages and records by the hex of their SHA-256. `owner_id`: whose members may read it. Long ones lie in pieces (context_pieces.ts). */
  decision_contexts: { organization_id: "text", digest: "text", owner_id: "text", content: "bytes" },
  /** Votes after the submission's own, which stands in the activity's row. */
  votes: {
    organization_id: "text",
    activity_id: "text",
    vote_id: "text",
    vote: "text",
    /** What the policies said about this vote, and JSON of why. */
    evaluations: "bytes?",
    explanation: "text?",
    created_at_ms: "integer",
  },
  /** One-time codes: whom each was sent to, its form and its end, as the signer wrote them. The code itself is nowhere. */
  otp_codes: { organization_id: "text", otp_id: "text", record: "bytes", created_at_ms: "integer" },
  /** Which bodies have taken one of the three attempts at a code, in the places from 1 on; in place 0 the one that got the token. */
  otp_attempts: {
    organization_id: "text",
    otp_id: "text",
    place: "integer",
    fingerprint: "text",
    created_at_ms: "integer",
  },
  /** Which request a client's idempotency key stands for: `request` is the digest of its body without the time. */
  idempotency_keys: {
    organization_id: "text",
    user_id: "text",
    idempotency_key: "text",
    request: "text",
    fingerprint: "text",
    created_at_ms: "integer",
  },
  /**
   * Which sign-up was the first with an identity, below the parent that `organization_id` is. It settles races and nothing else: a claim
   * whose sub-organization does not have the identity any more counts for nothing.
   */
  sign_up_claims: {
    organization_id: "text",
    identity: "text",
    sub_organization_id: "text",
    created_at_ms: "integer",
  },
  /** Which user a verified contact leads to, below the parent that `organization_id` is: see `contact_claims.ts`. */
  contact_claims: {
    organization_id: "text",
    kind: "text",
    contact: "text",
    sub_organization_id: "text",
    user_id: "text",
    /** KEY, WORD or EARLIER. */
    proof: "text",
    created_at_ms: "integer",
  },
  /** What refusals of a user have taken on a day, counted from 1970 in UTC. */
  refused_bytes: { organization_id: "text", user_id: "text", day: "integer", bytes: "integer" },
  /** Messages that activities asked to be sent, sealed for the courier. `store/outbox.ts` says how they are claimed. */
  outbox: {
    organization_id: "text",
    message_id: "text",
    activity_id: "text",
    channel: "text",
    /** None once it is over. */
    sealed: "bytes?",
    /** PENDING, SENT or FAILED. */
    state: "text",
    attempts: "integer",
    /** While it is claimed: when the claim ends. */
    next_attempt_at_ms: "integer",
    claimed_by: "text?",
    /** Why the last attempt failed. */
    error: "text?",
    expires_at_ms: "integer",
    created_at_ms: "integer",
    updated_at_ms: "integer",
    /** Of mail: whom it is for, and the sender that was asked for. */
    to_address: "text?",
    from_address: "text?",
  },
  /** What became of mail, for those who ask about its recipient. Ids sort by time. */
  email_events: {
    organization_id: "text",
    event_id: "text",
    message_id: "text",
    event_type: "text",
    to_address: "text",
    from_address: "text?",
    /** Why it was delayed or not sent. */
    error: "text?",
    created_at_ms: "integer",
  },
  /** Wallets as the signer wrote them, with what queries and look-ups ask by. Times and flags follow the key facts. */
  wallets: {
    organization_id: "text",
    wallet_id: "text",
    wallet_name: "text",
    /** The name without regard to case and compatibility forms. */
    name_key: "text",
    blind_index: "text?",
    record: "bytes",
    sealed: "bytes",
    exported: "integer",
    imported: "integer",
    created_at_ms: "integer",
    updated_at_ms: "integer",
  },
  wallet_accounts: {
    organization_id: "text",
    wallet_account_id: "text",
    wallet_id: "text",
    curve: "text",
    path: "text",
    path_key: "text",
    address_format: "text",
    address: "text",
    /** The spelling that addresses are compared in. */
    address_key: "text",
    public_key: "text",
    account_name: "text?",
    name_key: "text?",
    /** The order of lists. */
    sort_key: "text",
    record: "bytes",
    sealed: "bytes",
    created_at_ms: "integer",
    updated_at_ms: "integer",
  },
  private_keys: {
    organization_id: "text",
    private_key_id: "text",
    private_key_name: "text",
    name_key: "text",
    curve: "text",
    public_key: "text",
    /** JSON. */
    addresses: "text",
    /** JSON. */
    private_key_tags: "text",
    /** The order of lists. */
    sort_key: "text",
    blind_index: "text?",
    record: "bytes",
    sealed: "bytes",
    exported: "integer",
    imported: "integer",
    created_at_ms: "integer",
    updated_at_ms: "integer",
  },
  private_key_addresses: { organization_id: "text", address_key: "text", private_key_id: "text" },
  /** Of users, tags, policies and other entities. */
  ...columnsOfEntities,
  /** What each start of a signer has shown about itself. They are kept for ever: old app proofs refer to them. The organization is the first. */
  boot_proofs: {
    organization_id: "text",
    /** 130 bytes in hex. */
    ephemeral_key: "text",
    boot: "text",
    /** As `core/src/attestation/boot_proof.ts` writes it. */
    proof: "bytes",
    files_digest: "text",
    created_at_ms: "integer",
  },
  /** Lists of files that signers have loaded, by their SHA-256: most starts load the same. */
  loaded_files: { organization_id: "text", digest: "text", list: "bytes" },
  /**
   * Where leaves of an organization stand in a log: a row for those that were released together. Acts of the operator have rows of their
   * own, with 0 for an ordinal. `leaves` is as `log_rows.ts` writes it.
   */
  log_runs: {
    organization_id: "text",
    log_id: "text",
    first_position: "integer",
    last_position: "integer",
    first_ordinal: "integer",
    leaves: "bytes",
  },
  /** Entries of a log, 32 bytes each; no row goes beyond a tile. `organizations`: whose runs name their leaves, 16 bytes each. */
  log_entries: { log_id: "text", first_position: "integer", organizations: "bytes", entries: "bytes" },
  /** Full tiles of hashes, and the hash that stands for each one level up. */
  log_tiles: { log_id: "text", level: "integer", number: "integer", hashes: "bytes", root: "bytes" },
  /** Logs that gateways on this database have kept. `checkpoint` is the newest signed note, `cosignatures` are the lines for it. */
  logs: {
    log_id: "text",
    origin: "text",
    /** 0 once another log follows it. */
    is_open: "integer",
    opened_at_ms: "integer",
    checkpoint_size: "integer",
    checkpoint: "text?",
    cosignatures: "text",
  },
  /** Statements that one host asks of another; `created_at_ms` is when the first was asked for that is not answered yet. */
  log_statements: {
    organization_id: "text",
    log_id: "text",
    ask: "text",
    is_asked: "integer",
    statement: "text?",
    logs: "text?",
    created_at_ms: "integer",
  },
  /** One row: what belongs to the whole deployment and to no organization. */
  deployment: { id: "integer", keyring: "bytes" },
} as const satisfies Record<string, Record<string, ColumnKind>>;

export type TableName = keyof typeof tables;

/** Tables that belong to no organization: the deployment's own row, and what of the log anybody may have. */
export const commonTables = ["deployment", "log_entries", "log_tiles", "logs"] as const satisfies readonly TableName[];

/** Every table that belongs to organizations. */
export type OrganizationTable = Exclude<TableName, (typeof commonTables)[number]>;

export const organizationTables = (Object.keys(tables) as TableName[]).filter(
  (name): name is OrganizationTable => !commonTables.some((common) => common === name),
);

/** The tables as Kysely sees them. */
export type Tables = { [T in TableName]: Row<(typeof tables)[T]> };
