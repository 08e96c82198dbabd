/** Where leaves stand in logs, by organization. */
import { sql } from "kysely";
import { compiled } from "./compiled.ts";
import { type NamedPlace, readRun } from "./log_rows.ts";
import type { Store } from "./store.ts";

/** The ends of the range are part of it. */
export type PositionRange = { logId: string; from: number; to: number };

const runs = compiled(
  "log_runs",
  (db, organizationId: string, logId: string, from: number, to: number, limit: number) =>
    db
      .selectFrom("log_runs")
      .select(["organization_id", "leaves"])
      .where("organization_id", "=", organizationId)
      .where("log_id", "=", logId)
      // Runs do not overlap: the one that the range begins in is the last that begins before.
      .where("first_position", ">=", (inside) =>
        inside
          .selectFrom("log_runs as before")
          .select(sql<number>`coalesce(max(before.first_position), 0)`.as("first"))
          .where("before.organization_id", "=", organizationId)
          .where("before.log_id", "=", logId)
          .where("before.first_position", "<=", from)
          .where("before.first_ordinal", ">", sql.lit(0)),
      )
      .where("first_position", "<=", to)
      .where("first_ordinal", ">", sql.lit(0))
      .orderBy("first_position")
      .limit(limit),
);

/** Leaves of an organization that stand in this part of a log, in order, at most `limit` of them. Acts of the operator are not among them. */
export async function listPlaces(
  store: Store,
  organizationId: string,
  { logId, from, to }: PositionRange,
  limit: number,
): Promise<NamedPlace[]> {
  // The first may end before the range begins.
  const rows = await runs(store, organizationId, logId, from, to, limit + 1);
  return withinRange(rows, from, to, limit);
}

type RunRow = { organization_id: string; leaves: Uint8Array };

export function withinRange(rows: readonly RunRow[], from: number, to: number, limit: number): NamedPlace[] {
  const places: NamedPlace[] = [];
  for (const row of rows) {
    places.push(...readRun(row).filter(({ position }) => position >= from && position <= to));
    if (places.length >= limit) break;
  }
  return places.slice(0, limit);
}

const runsBefore = compiled(
  "log_runs_before",
  (db, organizationId: string, logId: string, before: number, limit: number) =>
    db
      .selectFrom("log_runs")
      .select(["organization_id", "leaves"])
      .where("organization_id", "=", organizationId)
      .where("log_id", "=", logId)
      .where("first_position", "<", before)
      .where("first_ordinal", ">", sql.lit(0))
      .orderBy("first_position", "desc")
      .limit(limit),
);

/** The last leaves of an organization before a position, the last one first. */
export async function listPlacesBefore(
  store: Store,
  organizationId: string,
  logId: string,
  before: number,
  limit: number,
): Promise<NamedPlace[]> {
  return beforePosition(await runsBefore(store, organizationId, logId, before, limit), before, limit);
}

/** Of runs from the last to the first. */
export function beforePosition(rows: readonly RunRow[], before: number, limit: number): NamedPlace[] {
  const places: NamedPlace[] = [];
  for (const row of rows) {
    places.push(
      ...readRun(row)
        .filter(({ position }) => position < before)
        .reverse(),
    );
    if (places.length >= limit) break;
  }
  return places.slice(0, limit);
}
