/**
 * A group commit in PostgreSQL: one statement, hence one round trip, and row locks held no longer than it runs.
 * Its parts write only for organizations that the part `committed` lists; parts that a group does not need are left out.
 */
import pg from "pg";
import { passed } from "../state/steps.ts";
import type { Marks, ReleasedLeaf } from "./commit_item.ts";
import { organizationRow } from "./commit_plan.ts";
import { addEntities } from "./commit_postgres_entities.ts";
import { addKeys } from "./commit_postgres_keys.ts";
import type { OrganizationPlan } from "./organization_plan.ts";
import { untilNotOvertaken } from "./overtaken.ts";
import { type StatementBuilder, statementBuilder } from "./postgres_statement.ts";
import type { PostgresStore } from "./store.ts";
import { tables } from "./tables.ts";
import { columnsOf, onConflict } from "./upserts.ts";

/**
 * The ids of the organizations whose items were committed. What requires heads of other organizations is written apart, so that those
 * are locked before anything else of their statement is: see `addHeads`.
 */
export async function write(
  store: PostgresStore,
  plans: readonly OrganizationPlan[],
  marks: Marks,
): Promise<Set<string>> {
  const requiring = plans.filter(({ standing }) => standing.size > 0);
  if (requiring.length === 0 || requiring.length === plans.length) return writeGroup(store, plans, marks);
  const alone = plans.filter(({ standing }) => standing.size === 0);
  const done = await writeGroup(store, alone, marks);
  return done.union(await writeGroup(store, requiring, noMarks));
}

const noMarks: Marks = { released: [], entries: [], runs: [] };

function isEmpty({ released, entries }: Marks): boolean {
  return released.length + entries.length === 0;
}

async function writeGroup(
  { pool }: PostgresStore,
  plans: readonly OrganizationPlan[],
  marks: Marks,
): Promise<Set<string>> {
  const statement = toStatement(plans, marks);
  analyzeWhileGrowing(pool, plans.length);
  passed("begun");
  try {
    return await untilNotOvertaken(async () => idsOf(await pool.query(statement)));
  } catch (error) {
    if (!isViolation(error)) throw error;
  }
  return untilNotOvertaken(() => writeApart(pool, plans, marks));
}

const written = new WeakMap<pg.Pool, { count: number; next: number }>();

/**
 * A new database has no statistics, and plans made for empty tables read far too many rows of full ones. Autovacuum looks
 * once a minute; until it has something to go by, we ask for statistics ourselves, ever more seldom.
 */
function analyzeWhileGrowing(pool: pg.Pool, organizations: number): void {
  const growth = written.get(pool) ?? { count: 0, next: 100 };
  growth.count += organizations;
  written.set(pool, growth);
  if (growth.count < growth.next) return;
  growth.next *= 10;
  pool.query("analyze").catch(() => undefined);
}

/** All in one transaction, each organization on its own savepoint, so that one that violates takes only itself back. */
async function writeApart(pool: pg.Pool, plans: readonly OrganizationPlan[], marks: Marks): Promise<Set<string>> {
  const client = await pool.connect();
  let broken = true;
  try {
    const done = new Set<string>();
    await client.query("begin");
    if (!isEmpty(marks)) await client.query(toStatement([], marks));
    for (const plan of plans) {
      await client.query("savepoint organization");
      try {
        for (const id of idsOf(await client.query(toStatement([plan], noMarks)))) done.add(id);
      } catch (error) {
        if (!isViolation(error)) throw error;
        await client.query("rollback to savepoint organization");
      }
    }
    await client.query("commit");
    broken = false;
    return done;
  } finally {
    // A connection whose transaction did not end well is closed, and the server takes the transaction back.
    client.release(broken);
  }
}

function idsOf({ rows }: pg.QueryResult): Set<string> {
  return new Set(rows.map((row: { organization_id: string }) => row.organization_id));
}

/** Columns that become null where a row may not be replaced. */
const refusing = new Set(["activities.status", "idempotency_keys.request", "contact_claims.sub_organization_id"]);

function isViolation(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  // A claim that two organizations of the group make comes as the second.
  if (error.code === "23505" || error.code === "21000") return true;
  return error.code === "23502" && refusing.has(`${error.table}.${error.column}`);
}

const headColumns = {
  organization_id: "text",
  expected_version: "integer?",
  expected_header: "bytes?",
  version: "integer?",
  header: "bytes?",
  directory: "bytes?",
  organization_name: "text?",
  updated_at_ms: "integer?",
  deleted_at_ms: "integer?",
} as const;

const requiredColumns = { organization_id: "text", required_id: "text", required_header: "bytes" } as const;

const releasedColumns = { organization_id: "text", boot: "text", number: "integer" } as const;
const provenColumns = { organization_id: "text", activity_id: "text", proofs: "text" } as const;
const openedColumns = { organization_id: "text", activity_id: "text", result: "text" } as const;

function toStatement(groups: readonly OrganizationPlan[], { released, entries, runs }: Marks) {
  const statement = statementBuilder();
  addHeads(statement, groups);
  const plans = groups.flatMap((plan) => [plan, ...plan.births]);
  statement.insert(
    "pages",
    plans.flatMap(({ pages }) => [...pages.values()]),
  );
  statement.insert(
    "leaves",
    plans.flatMap(({ leaves }) => leaves),
  );
  statement.insert(
    "unreleased",
    plans.flatMap(({ leaves }) => leaves),
  );
  statement.insert(
    "disclosures",
    plans.flatMap(({ disclosures }) => disclosures),
  );
  statement.insert(
    "sealed_disclosures",
    plans.flatMap(({ sealedDisclosures }) => sealedDisclosures),
  );
  statement.insert(
    "activities",
    plans.flatMap(({ activities }) => [...activities.values()]),
  );
  statement.insert(
    "sealed_bodies",
    plans.flatMap(({ sealedBodies }) => sealedBodies),
  );
  statement.insert(
    "app_proofs",
    plans.flatMap(({ appProofs }) => appProofs),
  );
  statement.insert(
    "decision_contexts",
    // In one order everywhere: signatures on one state insert the same pages, and none waits for another's row.
    plans.flatMap(({ decisionContexts }) =>
      [...decisionContexts.values()].sort((a, b) => (a.digest < b.digest ? -1 : 1)),
    ),
  );
  statement.insert(
    "votes",
    plans.flatMap(({ votes }) => votes),
  );
  statement.insert(
    "otp_codes",
    plans.flatMap(({ otpCodes }) => otpCodes),
  );
  statement.insert(
    "otp_attempts",
    plans.flatMap(({ otpAttempts }) => otpAttempts),
  );
  statement.insert(
    "idempotency_keys",
    plans.flatMap(({ idempotencyKeys }) => idempotencyKeys),
  );
  // In one order: two gateways whose sign-ups share identities must not wait for each other in a circle.
  statement.insert(
    "sign_up_claims",
    plans.flatMap(({ signUpClaims }) => signUpClaims).sort((a, b) => (a.identity < b.identity ? -1 : 1)),
  );
  addContactClaims(statement, plans);
  addRefused(statement, plans);
  statement.insert(
    "outbox",
    plans.flatMap(({ outbox }) => outbox),
  );
  statement.insert(
    "boot_proofs",
    plans.flatMap(({ bootProofs }) => bootProofs),
  );
  statement.insert(
    "loaded_files",
    plans.flatMap(({ loadedFiles }) => loadedFiles),
  );
  addEntities(statement, plans);
  addKeys(statement, plans);
  addReleased(statement, released);
  statement.insertAlways("log_entries", entries);
  statement.insertAlways("log_runs", runs);
  return statement.build();
}

/**
 * Locks, compares and moves the versions. Rows are locked in one pass and with one strength, organizations without a parent first and
 * then in the order of ids, so that groups of two gateways never wait for each other in a circle; items that only need their version to
 * stand share it. Heads of parents that must stand as well are shared before the rows of their sub-organizations are locked: in that
 * same order, and however many act in their sub-organizations at once, none waits for another.
 */
function addHeads(statement: StatementBuilder, plans: readonly OrganizationPlan[]): void {
  const committed = ["select null::text as organization_id where false"];
  const standing = plans.filter(({ birth }) => birth === undefined);
  if (standing.length > 0) {
    const moves = standing.some(({ head }) => head !== undefined);
    const rows = standing.map(({ organizationId, expectedVersion, expectedHeader, head, settings }) => ({
      organization_id: organizationId,
      expected_version: expectedVersion,
      expected_header: expectedHeader,
      version: head?.version,
      header: head?.header,
      directory: head?.directory,
      organization_name: settings?.organizationName,
      updated_at_ms: settings?.updatedAtMs,
      deleted_at_ms: settings?.deleted === true ? settings.updatedAtMs : undefined,
    }));
    const isFree = addStanding(statement, standing);
    statement.part("heads", `select * from ${statement.unnest("heads", headColumns, rows)}${isFree}`);
    statement.part(
      moves ? "locked" : "locked_shared",
      `select organizations.organization_id from organizations join heads using (organization_id)
        where organizations.version = coalesce(heads.expected_version, organizations.version)
          and organizations.header = coalesce(heads.expected_header, organizations.header)
        order by organizations.parent_id is not null, organizations.organization_id for ${moves ? "no key update" : "share"} of organizations`,
    );
    if (moves) {
      statement.part(
        "moved",
        `update organizations set version = heads.version, header = heads.header, directory = heads.directory,
          organization_name = coalesce(heads.organization_name, organizations.organization_name),
          updated_at_ms = coalesce(heads.updated_at_ms, organizations.updated_at_ms),
          deleted_at_ms = coalesce(heads.deleted_at_ms, organizations.deleted_at_ms)
          from heads join locked using (organization_id)
          where organizations.organization_id = heads.organization_id
            and organizations.version = heads.expected_version and heads.version is not null
          returning organizations.organization_id`,
      );
      committed.push("select organization_id from moved");
      committed.push("select organization_id from locked join heads using (organization_id) where version is null");
    } else committed.push("select organization_id from locked_shared");
  }
  const born = plans.flatMap((plan) => [plan, ...plan.births].flatMap((each) => bornRow(each, plan)));
  if (born.length > 0) {
    statement.part("stood", committed.join(" union all "));
    const columns = columnsOf("organizations").join(", ");
    const rows = statement.unnest("input", bornColumns, born);
    statement.part(
      "born",
      `insert into organizations (${columns}) select ${columns} from ${rows}
        where requires is null or requires in (select organization_id from stood) returning organization_id`,
    );
    committed.push("select organization_id from born");
  }
  const keyrings = plans.flatMap(({ birth }) =>
    birth?.keyring === undefined ? [] : { id: 1, keyring: birth.keyring },
  );
  if (keyrings.length > 0) {
    const rows = statement.unnest("input", tables.deployment, keyrings);
    statement.part("keyring", `insert into deployment (id, keyring) select id, keyring from ${rows}`);
  }
  statement.part("committed", committed.join(" union all "));
}

/** The condition on `heads` that all other heads which an organization requires stand. */
function addStanding(statement: StatementBuilder, plans: readonly OrganizationPlan[]): string {
  const required = plans.flatMap(({ organizationId, standing }) =>
    [...standing].map(([id, header]) => ({
      organization_id: organizationId,
      required_id: id,
      required_header: header,
    })),
  );
  if (required.length === 0) return "";
  statement.part("required", `select * from ${statement.unnest("required", requiredColumns, required)}`);
  statement.part(
    "standing",
    `select organizations.organization_id, organizations.header from organizations
      where (organizations.organization_id, organizations.header) in (select required_id, required_header from required)
      order by organizations.organization_id for share of organizations`,
  );
  return ` where not exists (
    select 1 from required left join standing
      on standing.organization_id = required.required_id and standing.header = required.required_header
      where required.organization_id = heads.organization_id and standing.organization_id is null)`;
}

const bornColumns = { ...tables.organizations, requires: "text?" } as const;

/** An organization that is born by another's item comes into the world only if that item commits. */
function bornRow(plan: OrganizationPlan, by: OrganizationPlan) {
  if (plan.birth === undefined) return [];
  return [
    { ...organizationRow({ ...plan, birth: plan.birth }), requires: plan === by ? undefined : by.organizationId },
  ];
}

const claimedColumns = { ...tables.contact_claims, claimed_in: "text" } as const;

/** The claims are the parent's, whose rows are not written. In one order: see above. */
function addContactClaims(statement: StatementBuilder, plans: readonly OrganizationPlan[]): void {
  const rows = plans.flatMap(({ organizationId, contactClaims }) =>
    [...contactClaims.values()].map((row) => ({ ...row, claimed_in: organizationId })),
  );
  if (rows.length === 0) return;
  const columns = columnsOf("contact_claims").join(", ");
  statement.part(
    "insert_contact_claims",
    `insert into contact_claims (${columns})
      select ${columns} from ${statement.unnest("input", claimedColumns, rows)}
      where claimed_in in (select organization_id from committed)
      order by organization_id, kind, contact ${onConflict.contact_claims}`,
  );
}

const refusedColumns = { ...tables.refused_bytes, refused_in: "text" } as const;

/**
 * A user of a parent may be refused in several sub-organizations of a group: one row counts those that commit. Rows come in the order of
 * users, so that two gateways that refuse the same ones do not wait for each other in a circle.
 */
function addRefused(statement: StatementBuilder, plans: readonly OrganizationPlan[]): void {
  const rows = plans.flatMap(({ organizationId, refusedBytes }) =>
    [...refusedBytes.values()].map((row) => ({ ...row, refused_in: organizationId })),
  );
  if (rows.length === 0) return;
  statement.part(
    "insert_refused_bytes",
    `insert into refused_bytes (organization_id, user_id, day, bytes)
      select organization_id, user_id, day, sum(bytes)::bigint from ${statement.unnest("input", refusedColumns, rows)}
      where refused_in in (select organization_id from committed)
      group by organization_id, user_id, day order by organization_id, user_id, day ${onConflict.refused_bytes}`,
  );
}

function addReleased(statement: StatementBuilder, released: readonly ReleasedLeaf[]): void {
  if (released.length === 0) return;
  const leaves = released.map(({ organizationId, boot, number }) => ({
    organization_id: organizationId,
    boot,
    number,
  }));
  statement.part(
    "release",
    `delete from unreleased using ${statement.unnest("done", releasedColumns, leaves)}
      where unreleased.organization_id = done.organization_id and unreleased.boot = done.boot
        and unreleased.number = done.number`,
  );
  addOpenedProofs(statement, released);
  const opened = released.flatMap(({ organizationId, activityId, result }) =>
    activityId === undefined || result === undefined
      ? []
      : { organization_id: organizationId, activity_id: activityId, result },
  );
  if (opened.length === 0) return;
  statement.part(
    "open",
    `update activities set result = opened.result from ${statement.unnest("opened", openedColumns, opened)}
      where activities.organization_id = opened.organization_id and activities.activity_id = opened.activity_id
        and activities.result is null`,
  );
}

function addOpenedProofs(statement: StatementBuilder, released: readonly ReleasedLeaf[]): void {
  const opened = released.flatMap(({ organizationId, activityId, proofs }) =>
    activityId === undefined || proofs === undefined
      ? []
      : { organization_id: organizationId, activity_id: activityId, proofs },
  );
  if (opened.length === 0) return;
  statement.part(
    "open_proofs",
    `update app_proofs set proofs = proven.proofs from ${statement.unnest("proven", provenColumns, opened)}
      where app_proofs.organization_id = proven.organization_id and app_proofs.activity_id = proven.activity_id
        and app_proofs.proofs is null`,
  );
}
