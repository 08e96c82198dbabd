/** Places that are stored, of all organizations: for a gateway whose signer has lost the end of its log. */
import { tileWidth } from "@keystead/core/tlog/tiles.ts";
import type { Transaction } from "kysely";
import { type NamedPlace, readEntries, readOrganizations, readRun, runRow } from "./log_rows.ts";
import { listPlaces } from "./log_runs.ts";
import { findStoredEnd, listEntries, listOperatorPlaces } from "./public_log.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

/** From a position on, in the order of positions, those of one tile at a time. */
export async function* storedPlaces(store: Store, logId: string, from: number): AsyncGenerator<NamedPlace[]> {
  const end = await findStoredEnd(store, logId);
  for (let tile = from - (from % tileWidth); tile < end; tile += tileWidth) {
    const rows = await listEntries(store, logId, tile, tile + tileWidth);
    const range = { logId, from: Math.max(from, tile), to: tile + tileWidth - 1 };
    const places = await listOperatorPlaces(store, range, tileWidth);
    for (const id of new Set(rows.flatMap(readOrganizations))) {
      places.push(...(await listPlaces(store, id, range, tileWidth)));
    }
    yield places.sort((a, b) => a.position - b.position);
  }
}

/** Forgets everything from a position on. Its leaves wait for their release again. */
export async function dropPlaces(store: Store, logId: string, from: number): Promise<void> {
  const dropped: NamedPlace[] = [];
  for await (const places of storedPlaces(store, logId, from)) dropped.push(...places);
  await store.db.transaction().execute(async (tx) => {
    for (const { organizationId, boot, number } of dropped) {
      await tx
        .insertInto("unreleased")
        .values({ organization_id: organizationId, boot, number })
        .onConflict((clash) => clash.columns(["organization_id", "boot", "number"]).doNothing())
        .execute();
    }
    for (const id of new Set(dropped.map(({ organizationId }) => organizationId))) await dropRuns(tx, id, logId, from);
    await dropEntries(tx, logId, from);
  });
}

async function dropRuns(tx: Transaction<Tables>, organizationId: string, logId: string, from: number): Promise<void> {
  const all = tx.selectFrom("log_runs").selectAll().where("organization_id", "=", organizationId);
  const cut = await all
    .where("log_id", "=", logId)
    .where("first_position", "<", from)
    .where("last_position", ">=", from)
    .execute();
  for (const run of cut) {
    const kept = runRow(
      logId,
      readRun(run).filter(({ position }) => position < from),
    );
    await tx
      .updateTable("log_runs")
      .set({ last_position: kept.last_position, leaves: kept.leaves })
      .where("organization_id", "=", organizationId)
      .where("log_id", "=", logId)
      .where("first_position", "=", run.first_position)
      .execute();
  }
  await tx
    .deleteFrom("log_runs")
    .where("organization_id", "=", organizationId)
    .where("log_id", "=", logId)
    .where("first_position", ">=", from)
    .execute();
}

async function dropEntries(tx: Transaction<Tables>, logId: string, from: number): Promise<void> {
  const cut = await tx
    .selectFrom("log_entries")
    .selectAll()
    .where("log_id", "=", logId)
    .where("first_position", ">=", from - (from % tileWidth))
    .where("first_position", "<", from)
    .execute();
  for (const row of cut) {
    const kept = readEntries(row).slice(0, from - row.first_position);
    await tx
      .updateTable("log_entries")
      .set({ entries: Buffer.concat(kept) })
      .where("log_id", "=", logId)
      .where("first_position", "=", row.first_position)
      .execute();
  }
  await tx.deleteFrom("log_entries").where("log_id", "=", logId).where("first_position", ">=", from).execute();
}
