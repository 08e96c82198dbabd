/**
 * Everything a writer to the database can do to one row, one column, one table or one organization. The lists are made from the
 * declared tables: what is done to a column follows from its kind, and a table or a column that is missing in `found` does not
 * compile.
 */
import { maxFrameLength } from "@keystead/server/frames/frame.ts";
import { rowKeys } from "@keystead/server/store/projection.ts";
import { type ColumnKind, type TableName, tables } from "@keystead/server/store/tables.ts";
import type { Random } from "../../../core/test/seeded_random.ts";
import type { TargetOrganization } from "../../../server/test/hostile_story.ts";
import { type RawDatabase, type Row, rollBack, type Snapshot, tableNames, type Value } from "./raw_database.ts";

/** An organization that something is done to, and what its rows were in the middle of its story. */
export type Patient = { targetOrganization: TargetOrganization; before: Snapshot };

/** Which command names the organization afterwards; or why none can. */
export type Found = "check-database" | "check-log" | { nowhere: string };

export type Damage = {
  name: string;
  table: TableName;
  /** Unless it is done to whole rows. */
  column?: string;
  /** Which kind of damage it is, whatever the table. */
  what: string;
  found: Found;
  /** False when there is nothing to do it to, or the table itself does not let it be. */
  apply(raw: RawDatabase, patient: Patient, donor: Patient, random: Random): Promise<boolean>;
};

const byOrganization = "check-database" as const;
const unauthentic = { nowhere: "nothing that the signer wrote tells of it, and no decision reads it" };
const opened = { nowhere: "a result that was released is never opened again" };
const forReplay = {
  nowhere: "of texts and of keys that are deleted only whoever executes the log anew asks what was made",
};
const oneDay = { nowhere: "a key of a client stands for a request for a day, and no page knows it" };

const ofARace = { nowhere: "a claim settles races between gateways, which are over in seconds" };
const counted = { nowhere: "how much was refused decides on nothing but what is stored of further refusals" };

const shortLived = {
  nowhere: "a code lasts ten minutes at most: its record has the signer's mark, and its memory counts too",
};
const told = { nowhere: "what became of mail is the gateway's own word, and no decision reads it" };
const untilItEnds = {
  nowhere: "no activity of the story has a bearer value; `check_bodies.test.ts` changes such rows",
};
const onItsWayOut = { nowhere: "a message is sealed, is sent once or fails, and no decision reads it" };

/** Where a change of each column shows. */
export const found = {
  organizations: all("organizations", byOrganization),
  pages: all("pages", byOrganization),
  // A leaf that is somewhere else is missing here, and that of a birth tells of no activity.
  leaves: { ...all("leaves", byOrganization), organization_id: "check-log", sealed: opened, made: forReplay },
  unreleased: all("unreleased", { nowhere: "a released leaf that is marked as waiting is released once more" }),
  activities: { ...all("activities", byOrganization), evaluations: unauthentic, explanation: unauthentic },
  sealed_bodies: all("sealed_bodies", untilItEnds),
  votes: { ...all("votes", byOrganization), evaluations: unauthentic, explanation: unauthentic },
  otp_codes: all("otp_codes", shortLived),
  otp_attempts: all("otp_attempts", shortLived),
  idempotency_keys: all("idempotency_keys", oneDay),
  refused_bytes: all("refused_bytes", counted),
  sign_up_claims: all("sign_up_claims", ofARace),
  outbox: all("outbox", onItsWayOut),
  email_events: all("email_events", told),
  users: all("users", byOrganization),
  credentials: all("credentials", byOrganization),
  user_tags: all("user_tags", byOrganization),
  wallets: all("wallets", byOrganization),
  wallet_accounts: all("wallet_accounts", byOrganization),
  private_keys: {
    ...all("private_keys", byOrganization),
    updated_at_ms: {
      nowhere: "no page says when a key was last tagged: a later time than its facts' is as good as any",
    },
  },
  private_key_addresses: all("private_key_addresses", byOrganization),
  private_key_tags: all("private_key_tags", byOrganization),
  policies: all("policies", byOrganization),
  contract_interfaces: all("contract_interfaces", byOrganization),
  session_profiles: all("session_profiles", byOrganization),
  auth_proxies: all("auth_proxies", byOrganization),
  deployment: all("deployment", { nowhere: "it belongs to no organization: see the test of its own" }),
} as const satisfies { [T in TableName]: Record<keyof (typeof tables)[T], Found> };

function all<T extends TableName>(table: T, where: Found): Record<keyof (typeof tables)[T], Found> {
  const columns = Object.keys(tables[table]).map((column) => [column, where]);
  return Object.fromEntries(columns) as Record<keyof (typeof tables)[T], Found>;
}

const whoItWas = {
  nowhere: "a leaf says who voted, with which key, on what and when, but not what the voter was called then",
};

/** Columns of which one letter may be changed unseen. */
const partlyFound: Readonly<Record<string, Found>> = { "votes.vote": whoItWas, "activities.votes": whoItWas };

/** Where a whole row shows that is gone, or that should not be there. */
const rowFound: { readonly [T in TableName]?: { removed?: Found; added?: Found } } = {
  // The leaf of a birth tells of no activity.
  leaves: { removed: "check-log" },
  unreleased: { added: { nowhere: "a released leaf that is marked as waiting is released once more" } },
  sealed_bodies: { removed: untilItEnds, added: untilItEnds },
  otp_codes: { removed: shortLived, added: shortLived },
  otp_attempts: { removed: shortLived, added: shortLived },
  idempotency_keys: { removed: oneDay, added: oneDay },
  sign_up_claims: { removed: ofARace, added: ofARace },
  refused_bytes: { removed: counted, added: counted },
  outbox: { removed: onItsWayOut, added: onItsWayOut },
  email_events: { removed: told, added: told },
};

type Sort = "text" | "integer" | "bytes";
const sortOf = (kind: ColumnKind) => kind.replace("?", "") as Sort;

/** Longer than any frame. */
const hugeLength = maxFrameLength + 1024;

const flips: Record<Sort, (value: Value, random: Random) => Value> = {
  text: (value, random) => {
    const text = String(value);
    if (text === "") return "x";
    const at = random.below(text.length);
    const other = text[at] === "a" ? "b" : "a";
    return text.slice(0, at) + other + text.slice(at + 1);
  },
  integer: (value, random) => Number(value) + random.pick([-1, 1, 1_000]),
  bytes: (value, random) => {
    const bytes = Uint8Array.from((value as Uint8Array) ?? []);
    if (bytes.length === 0) return Uint8Array.of(1);
    const at = random.below(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    return bytes;
  },
};

const empties: Record<Sort, Value> = { text: "", integer: 0, bytes: new Uint8Array() };
const extremes: Record<Sort, Value> = {
  text: "\u{1f480}".repeat(20_000),
  integer: 2n ** 62n,
  bytes: new Uint8Array(hugeLength),
};

type Change = (
  table: { rows: readonly Row[]; old: readonly Row[]; theirs: readonly Row[]; keys: readonly string[] },
  column: string,
  kind: ColumnKind,
  random: Random,
) => { row: Row; value: Value }[];

const same = (a: Value | undefined, b: Value | undefined) =>
  a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : a === b;

/** What becomes of a column. Nothing, where no row gives occasion for it. */
const changes = {
  "is bent": ({ rows }, column, kind, random) => {
    const candidates = rows.filter((row) => row[column] !== null);
    return candidates.length === 0
      ? []
      : [random.pick(candidates)].map((row) => ({ row, value: flips[sortOf(kind)](row[column] ?? null, random) }));
  },
  "is emptied": ({ rows }, column, kind, random) => {
    const value = kind.endsWith("?") ? null : empties[sortOf(kind)];
    const candidates = rows.filter((row) => !same(row[column], value));
    return candidates.length === 0 ? [] : [{ row: random.pick(candidates), value }];
  },
  "is beyond all measure": ({ rows }, _column, kind, random) =>
    rows.length === 0 ? [] : [{ row: random.pick(rows), value: extremes[sortOf(kind)] }],
  "takes the place of another row's": ({ rows }, column, _kind, random) => {
    const one = rows.length < 2 ? undefined : random.pick(rows);
    const others = rows.filter((row) => one !== undefined && !same(row[column], one[column]));
    if (one === undefined || others.length === 0) return [];
    const other = random.pick(others);
    return [
      { row: one, value: other[column] ?? null },
      { row: other, value: one[column] ?? null },
    ];
  },
  "is another organization's": ({ rows, theirs }, column, _kind, random) => {
    if (rows.length === 0 || theirs.length === 0) return [];
    const row = random.pick(rows);
    const others = theirs.filter((each) => !same(each[column], row[column]));
    return others.length === 0 ? [] : [{ row, value: random.pick(others)[column] ?? null }];
  },
  "is what it was before": ({ rows, old, keys }, column, _kind, random) => {
    const isSameRow = (a: Row, b: Row) => keys.every((key) => same(a[key], b[key]));
    const pairs = rows.flatMap((row) =>
      old
        .filter((each) => isSameRow(row, each) && !same(row[column], each[column]))
        .map((each) => ({ row, value: each[column] ?? null })),
    );
    return pairs.length === 0 ? [] : [random.pick(pairs)];
  },
} as const satisfies Record<string, Change>;

function columnDamages(table: TableName): Damage[] {
  return Object.entries(tables[table]).flatMap(([column, kind]) =>
    Object.entries(changes).map(([what, change]) => ({
      name: `${table}.${column} ${what}`,
      ...{ table, column, what },
      found:
        (what === "is bent" ? partlyFound[`${table}.${column}`] : undefined) ??
        (found[table] as Record<string, Found>)[column] ??
        byOrganization,
      async apply(raw: RawDatabase, patient: Patient, donor: Patient, random: Random) {
        const rows = await raw.rows(table, patient.targetOrganization.organizationId);
        const theirs = await raw.rows(table, donor.targetOrganization.organizationId);
        const old = patient.before.get(table) ?? [];
        const made = change({ rows, theirs, old, keys: rowKeys[table] }, column, kind, random);
        let applied = false;
        for (const { row, value } of made) applied = (await raw.update(table, row, column, value)) || applied;
        return applied;
      },
    })),
  );
}

function rowDamages(table: TableName): Damage[] {
  const { removed = byOrganization, added = byOrganization } = rowFound[table] ?? {};
  return [
    {
      name: `${table}: a row is deleted`,
      table,
      what: "a row is deleted",
      found: removed,
      async apply(raw, { targetOrganization }, _donor, random) {
        const rows = await raw.rows(table, targetOrganization.organizationId);
        if (rows.length === 0) return false;
        await raw.remove(table, random.pick(rows));
        return true;
      },
    },
    {
      name: `${table}: a row is doubled under another key`,
      table,
      what: "a row is doubled under another key",
      found: added,
      async apply(raw, { targetOrganization }, _donor, random) {
        const rows = await raw.rows(table, targetOrganization.organizationId);
        const column = rowKeys[table][0];
        if (rows.length === 0 || column === undefined) return false;
        const row = random.pick(rows);
        const kind = (tables[table] as Record<string, ColumnKind>)[column] ?? "text";
        return raw.insert(table, { ...row, [column]: flips[sortOf(kind)](row[column] ?? null, random) });
      },
    },
    {
      name: `${table}: a row of another organization is put in`,
      table,
      what: "a row of another organization is put in",
      found: added,
      async apply(raw, { targetOrganization }, donor, random) {
        const rows = await raw.rows(table, donor.targetOrganization.organizationId);
        if (rows.length === 0) return false;
        return raw.insert(table, { ...random.pick(rows), organization_id: targetOrganization.organizationId });
      },
    },
    {
      name: `${table}: all rows are what they were before`,
      table,
      what: "all rows are what they were before",
      found: typeof removed === "string" ? "check-database" : removed,
      async apply(raw, { targetOrganization, before }) {
        const rows = await raw.rows(table, targetOrganization.organizationId);
        const old = before.get(table) ?? [];
        if (rows.length === old.length && JSON.stringify(rows) === JSON.stringify(old)) return false;
        await rollBack(raw, targetOrganization.organizationId, before, [table]);
        return true;
      },
    },
  ];
}

/** Nothing waits for its release while all is well, so marks are made up. */
const markDamages: Damage[] = [
  {
    name: "unreleased: a released leaf is marked as waiting",
    table: "unreleased",
    what: "a released leaf is marked as waiting",
    found: { nowhere: "it is released once more, with the same result" },
    async apply(raw, { targetOrganization }, _donor, random) {
      const leaf = random.pick(await raw.rows("leaves", targetOrganization.organizationId));
      const { organization_id = "", boot = "", number = 0 } = leaf;
      return raw.insert("unreleased", { organization_id, boot, number });
    },
  },
  {
    name: "unreleased: a leaf is marked as waiting that is not there",
    table: "unreleased",
    what: "a leaf is marked as waiting that is not there",
    found: "check-database",
    apply: (raw, { targetOrganization }, _donor, random) =>
      raw.insert("unreleased", {
        organization_id: targetOrganization.organizationId,
        boot: "00".repeat(16),
        number: random.below(1_000),
      }),
  },
  {
    name: "unreleased: a changed leaf is marked as waiting",
    table: "unreleased",
    what: "a changed leaf is marked as waiting",
    found: "check-database",
    async apply(raw, { targetOrganization }, _donor, random) {
      const leaf = random.pick(await raw.rows("leaves", targetOrganization.organizationId));
      const { organization_id = "", boot = "", number = 0 } = leaf;
      await raw.update(
        "leaves",
        leaf,
        "leaf",
        random.pick([new Uint8Array(hugeLength), new Uint8Array(300), new Uint8Array()]),
      );
      return raw.insert("unreleased", { organization_id, boot, number });
    },
  },
];

/** No activity of the story sends a message, so messages are made up, too. */
const messageDamages: Damage[] = [
  {
    name: "outbox: a message is put in that the signer did not seal",
    table: "outbox",
    what: "a message is put in that the signer did not seal",
    found: onItsWayOut,
    apply: (raw, { targetOrganization }, _donor, random) =>
      raw.insert("outbox", {
        organization_id: targetOrganization.organizationId,
        message_id: `${random.below(1_000_000)}`,
        activity_id: "",
        channel: random.pick(["email", "sms", ""]),
        sealed: random.pick([new Uint8Array(hugeLength), new Uint8Array(1_089), new Uint8Array(), null]),
        state: "PENDING",
        attempts: random.below(3),
        next_attempt_at_ms: 0,
        claimed_by: null,
        error: null,
        expires_at_ms: random.pick([0, Number.MAX_SAFE_INTEGER]),
        created_at_ms: 0,
        updated_at_ms: 0,
        to_address: random.pick(["user@example.com", "", null]),
        from_address: null,
      }),
  },
];

/** Nor has it a bearer value. */
const bodyDamages: Damage[] = [
  {
    name: "sealed_bodies: a body is put in that the signer did not seal",
    table: "sealed_bodies",
    what: "a body is put in that the signer did not seal",
    found: "check-database",
    async apply(raw, { targetOrganization }, _donor, random) {
      const { organizationId } = targetOrganization;
      const { activity_id = "" } = random.pick(await raw.rows("activities", organizationId));
      return raw.insert("sealed_bodies", {
        organization_id: organizationId,
        activity_id,
        sealed: random.pick([new Uint8Array(hugeLength), new Uint8Array(300), new Uint8Array()]),
        ends_at_ms: random.pick([0, Number.MAX_SAFE_INTEGER]),
      });
    },
  },
];

/** Nor have the organizations that are harmed session profiles: those are made at the top, and these are below. */
const profileDamages: Damage[] = [
  {
    name: "session_profiles: a profile is put in that nobody made",
    table: "session_profiles",
    what: "a profile is put in that nobody made",
    found: byOrganization,
    apply: (raw, { targetOrganization }, _donor, random) =>
      raw.insert("session_profiles", {
        organization_id: targetOrganization.organizationId,
        session_profile_id: `${random.below(1_000_000)}`,
        session_profile_name: random.pick(["Everything", ""]),
        scope: random.pick(["true", ""]),
        expiration_seconds: random.pick([null, 1, Number.MAX_SAFE_INTEGER]),
        notes: "",
        created_at_ms: 0,
        updated_at_ms: 0,
      }),
  },
];

/** What is done to an organization as a whole. They count for the table that says where it stands. */
const organizationDamages: Damage[] = [
  {
    name: "the whole organization is what it was before",
    table: "organizations",
    what: "the whole organization is what it was before",
    found: "check-database",
    async apply(raw, { targetOrganization, before }) {
      await rollBack(raw, targetOrganization.organizationId, before);
      return true;
    },
  },
  {
    name: "the whole organization is what it was before, but for its log",
    table: "organizations",
    what: "the whole organization is what it was before, but for its log",
    found: "check-database",
    async apply(raw, { targetOrganization, before }) {
      const tablesBut = tableNames.filter((table) => !["leaves", "activities", "votes"].includes(table));
      await rollBack(raw, targetOrganization.organizationId, before, tablesBut);
      return true;
    },
  },
  {
    name: "the whole organization is deleted",
    table: "organizations",
    what: "the whole organization is deleted",
    found: "check-database",
    async apply(raw, { targetOrganization }) {
      await rollBack(raw, targetOrganization.organizationId, new Map());
      return true;
    },
  },
];

/** Tables with rows of organizations; what is done to the deployment's own row is a test of its own. */
/** Nobody signs up in the story. */
const claimDamages: readonly Damage[] = [
  {
    name: "sign_up_claims: a claim is put in that nobody made",
    table: "sign_up_claims",
    what: "a claim is put in that nobody made",
    found: ofARace,
    apply: (raw, { targetOrganization: { organizationId } }) =>
      raw.insert("sign_up_claims", {
        organization_id: organizationId,
        identity: "made up",
        sub_organization_id: organizationId,
        created_at_ms: Date.now(),
      }),
  },
];

export const damagedTables: readonly TableName[] = tableNames.filter((table) => table !== "deployment");

export const damages: readonly Damage[] = [
  ...damagedTables.flatMap((table) => [...columnDamages(table), ...rowDamages(table)]),
  ...markDamages,
  ...messageDamages,
  ...bodyDamages,
  ...profileDamages,
  ...claimDamages,
  ...organizationDamages,
];
