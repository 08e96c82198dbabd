/** What has had its time, of all organizations: jobs open it or forget it, and name none. */
import { sql } from "kysely";
import { compiled } from "./compiled.ts";
import { idempotencyMs } from "./idempotency_keys.ts";
import { dayOf } from "./refused_bytes.ts";
import type { ClosedBody } from "./sealed_bodies.ts";
import type { ClosedDisclosure } from "./sealed_disclosures.ts";
import type { Store } from "./store.ts";

const endedBodies = compiled(
  "ended_bodies",
  (db, nowMs: number, endsAtMs: number, organizationId: string, activityId: string, limit: number) =>
    db
      .selectFrom("sealed_bodies")
      .innerJoin("activities", (join) =>
        join
          .onRef("activities.organization_id", "=", "sealed_bodies.organization_id")
          .onRef("activities.activity_id", "=", "sealed_bodies.activity_id"),
      )
      .select([
        "sealed_bodies.organization_id as organizationId",
        "sealed_bodies.activity_id as activityId",
        "activities.fingerprint",
        "sealed_bodies.sealed",
        "sealed_bodies.ends_at_ms as endsAtMs",
      ])
      .where("sealed_bodies.ends_at_ms", "<=", nowMs)
      .where(
        sql<boolean>`(sealed_bodies.ends_at_ms, sealed_bodies.organization_id, sealed_bodies.activity_id)
          > (${endsAtMs}, ${organizationId}, ${activityId})`,
      )
      .orderBy("sealed_bodies.ends_at_ms")
      .orderBy("sealed_bodies.organization_id")
      .orderBy("sealed_bodies.activity_id")
      .limit(limit),
);

/** One job opens bodies of all organizations. Those that ended first come first. */
export async function listEndedBodies(
  store: Store,
  nowMs: number,
  after: ClosedBody | undefined,
  limit: number,
): Promise<ClosedBody[]> {
  const { endsAtMs, organizationId, activityId } = after ?? { endsAtMs: -1, organizationId: "", activityId: "" };
  return (await endedBodies(store, nowMs, endsAtMs, organizationId, activityId, limit)).map((row) => ({ ...row }));
}

const endedDisclosures = compiled(
  "ended_disclosures",
  (db, nowMs: number, endsAtMs: number, organizationId: string, digest: string, limit: number) =>
    db
      .selectFrom("sealed_disclosures")
      .select(["organization_id as organizationId", "digest", "sealed", "ends_at_ms as endsAtMs"])
      .where("ends_at_ms", "<=", nowMs)
      .where(sql<boolean>`(ends_at_ms, organization_id, digest) > (${endsAtMs}, ${organizationId}, ${digest})`)
      .orderBy("ends_at_ms")
      .orderBy("organization_id")
      .orderBy("digest")
      .limit(limit),
);

/** The same of tokens. */
export async function listEndedDisclosures(
  store: Store,
  nowMs: number,
  after: ClosedDisclosure | undefined,
  limit: number,
): Promise<ClosedDisclosure[]> {
  const { endsAtMs, organizationId, digest } = after ?? { endsAtMs: -1, organizationId: "", digest: "" };
  return (await endedDisclosures(store, nowMs, endsAtMs, organizationId, digest, limit)).map((row) => ({ ...row }));
}

/** What refusals took on days that are over counts for nothing. A day more is kept for clocks that differ. */
export async function forgetRefusedBytes(store: Store, nowMs: number): Promise<void> {
  await store.db
    .deleteFrom("refused_bytes")
    .where("day", "<", dayOf(nowMs) - 1)
    .execute();
}

const forgottenAtOnce = 1_000;

/** Deletes keys whose day is over, of all organizations. In portions, so that nobody waits for it; `signal` ends it early. */
export async function forgetIdempotencyKeys(store: Store, nowMs: number, signal?: AbortSignal): Promise<void> {
  for (;;) {
    const old = await store.db
      .selectFrom("idempotency_keys")
      .select(["organization_id", "user_id", "idempotency_key"])
      .where("created_at_ms", "<", nowMs - idempotencyMs)
      .orderBy("created_at_ms")
      .limit(forgottenAtOnce)
      .execute();
    for (const { organization_id, user_id, idempotency_key } of old) {
      if (signal?.aborted) return;
      await store.db
        .deleteFrom("idempotency_keys")
        .where("organization_id", "=", organization_id)
        .where("user_id", "=", user_id)
        .where("idempotency_key", "=", idempotency_key)
        .where("created_at_ms", "<", nowMs - idempotencyMs)
        .execute();
    }
    if (old.length < forgottenAtOnce) return;
  }
}

/** Codes of before are deleted, whoever's they were, and with them the contacts: their activities stay. */
export async function forgetCodes(store: Store, beforeMs: number, signal?: AbortSignal): Promise<void> {
  await forgetRows(store, "otp_codes", ["otp_id"], beforeMs, signal);
  await forgetRows(store, "otp_attempts", ["otp_id", "place"], beforeMs, signal);
}

/** Messages of before are deleted, whoever's they were, and what became of them: their activities stay. */
export async function forgetMessages(store: Store, beforeMs: number, signal?: AbortSignal): Promise<void> {
  await forgetRows(store, "outbox", ["message_id"], beforeMs, signal);
  await forgetRows(store, "email_events", ["event_id"], beforeMs, signal);
}

/** Claims of sign-ups settle races, which are over within seconds. */
export async function forgetSignUpClaims(store: Store, beforeMs: number, signal?: AbortSignal): Promise<void> {
  await forgetRows(store, "sign_up_claims", ["identity"], beforeMs, signal);
}

/** Statements that hosts have asked of each other are made anew each time. */
export async function forgetLogStatements(store: Store, beforeMs: number, signal?: AbortSignal): Promise<void> {
  await forgetRows(store, "log_statements", ["log_id"], beforeMs, signal);
}

/** In portions, as above. `key` is the rest of the table's primary key, behind the organization. */
async function forgetRows(
  { db }: Store,
  table: "otp_codes" | "otp_attempts" | "outbox" | "email_events" | "sign_up_claims" | "log_statements",
  key: readonly string[],
  beforeMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const columns = sql.join(["organization_id", ...key].map((column) => sql.ref(column)));
  for (;;) {
    if (signal?.aborted) return;
    const { numAffectedRows = 0n } = await sql`delete from ${sql.table(table)} where (${columns}) in
      (select ${columns} from ${sql.table(table)} where created_at_ms < ${beforeMs}
        order by created_at_ms limit ${forgottenAtOnce})`.execute(db);
    if (numAffectedRows < forgottenAtOnce) return;
  }
}
