/** An organization's own part of all logs, in pages: log by log, each in the order of its positions, as far as it is signed. */
import type { NamedPlace } from "./log_rows.ts";
import { listPlaces, listPlacesBefore } from "./log_runs.ts";
import { type LogRow, listOperatorPlaces, listOperatorPlacesBefore } from "./public_log.ts";
import type { Store } from "./store.ts";

/** A place in one of several logs. */
export type LogPlace = NamedPlace & { logId: string };

export type LogCursor = { logId: string; position: number };

/** Both ends are left out. Without `after`, the page ends right before `before`. */
export type LogSpan = { limit: number; after: LogCursor | undefined; before: LogCursor | undefined };

/** Acts of the operator are everybody's, and in no organization's count. */
export async function listLogPage(
  store: Store,
  organizationId: string,
  logs: readonly LogRow[],
  { limit, after, before }: LogSpan,
): Promise<LogPlace[]> {
  const isBackwards = before !== undefined && after === undefined;
  const page: LogPlace[] = [];
  for (const { log_id: logId, checkpoint_size } of isBackwards
    ? between(logs, after, before).reverse()
    : between(logs, after, before)) {
    if (page.length >= limit) break;
    const from = after?.logId === logId ? after.position + 1 : 0;
    const end = before?.logId === logId ? Math.min(before.position, checkpoint_size) : checkpoint_size;
    const left = limit - page.length;
    const places = isBackwards
      ? await placesBefore(store, organizationId, logId, end, left)
      : await placesFrom(store, organizationId, { logId, from, to: end - 1 }, left);
    page.push(...places.map((place) => ({ logId, ...place })));
  }
  return isBackwards ? page.reverse() : page;
}

/** The logs that the span lies in. */
function between(logs: readonly LogRow[], after: LogCursor | undefined, before: LogCursor | undefined): LogRow[] {
  const placeOf = (cursor: LogCursor) => logs.findIndex(({ log_id }) => log_id === cursor.logId);
  return logs.slice(after === undefined ? 0 : placeOf(after), before === undefined ? undefined : placeOf(before) + 1);
}

async function placesFrom(
  store: Store,
  organizationId: string,
  range: { logId: string; from: number; to: number },
  limit: number,
): Promise<NamedPlace[]> {
  const own = await listPlaces(store, organizationId, range, limit);
  const acts = await listOperatorPlaces(store, range, limit);
  return [...own, ...acts].sort((a, b) => a.position - b.position).slice(0, limit);
}

async function placesBefore(
  store: Store,
  organizationId: string,
  logId: string,
  before: number,
  limit: number,
): Promise<NamedPlace[]> {
  const own = await listPlacesBefore(store, organizationId, logId, before, limit);
  const acts = await listOperatorPlacesBefore(store, logId, before, limit);
  return [...own, ...acts].sort((a, b) => b.position - a.position).slice(0, limit);
}
