/** Pages of an organization's activities. An organization may have millions, so every filter walks an index of its own. */
import { sql } from "kysely";
import { type ActivityRow, activityColumns } from "./activities.ts";
import { read } from "./read.ts";
import { boundsOf, type Span } from "./span.ts";
import type { Store } from "./store.ts";

/** An activity fits that has one of the statuses and one of the types; an empty list takes any. */
export type ActivityFilter = { statuses: readonly string[]; types: readonly string[] };

const completed = "ACTIVITY_STATUS_COMPLETED";

/** Bodies are up to a megabyte each, and an answer repeats them: a page of a hundred such would not fit into memory. */
export const pageBytes = 2 * 1024 * 1024;

/** The ids of a page, newest first. It ends before its bodies pass `pageBytes`, but never before the first of them. */
export async function listActivityIds(
  store: Store,
  organizationId: string,
  filter: ActivityFilter,
  span: Span,
): Promise<string[]> {
  const { direction, inOrder } = boundsOf(span, "desc");
  const ranges = rangesOf(store, organizationId, filter, span).map((range) =>
    store.db.selectFrom(range.as("range")).select("activity_id"),
  );
  const rows = await read(
    ranges
      .reduce((all, range) => all.unionAll(range))
      .orderBy("activity_id", direction)
      .limit(span.limit),
  );
  const ids = rows.map(({ activity_id }) => activity_id);
  // In the order of reading: the page that is left still lies next to its cursor, and the next one next to it.
  return inOrder(withinPageBytes(ids, await bodySizes(store, organizationId, ids)));
}

function withinPageBytes(activityIds: string[], sizes: ReadonlyMap<string, number>): string[] {
  let bytes = 0;
  const end = activityIds.findIndex((activityId, index) => {
    bytes += sizes.get(activityId) ?? 0;
    return index > 0 && bytes > pageBytes;
  });
  return end === -1 ? activityIds : activityIds.slice(0, end);
}

/** Both databases know how long a value is without reading it. */
async function bodySizes(
  store: Store,
  organizationId: string,
  activityIds: readonly string[],
): Promise<Map<string, number>> {
  if (activityIds.length === 0) return new Map();
  const rows = await read(
    store.db
      .selectFrom("activities")
      .select(["activity_id", sql<number>`octet_length(body)`.as("size")])
      .where("organization_id", "=", organizationId)
      .where("activity_id", "in", activityIds),
  );
  return new Map(rows.map(({ activity_id, size }) => [activity_id, size]));
}

/**
 * One range per status, or per type: each ends with its own page, where a list of them in one condition would be read to
 * its end and sorted. What else is asked stands in the same index.
 */
function rangesOf(store: Store, organizationId: string, filter: ActivityFilter, span: Span) {
  const { above, below, direction } = boundsOf(span, "desc");
  const [statuses, types] = [[...new Set(filter.statuses)], [...new Set(filter.types)]];
  const all = store.db
    .selectFrom("activities")
    .select("activity_id")
    .where("organization_id", "=", organizationId)
    .where("activity_id", ">", above)
    .where("activity_id", "<", below)
    .orderBy("activity_id", direction)
    .limit(span.limit);
  if (statuses.length > 0 && !statuses.includes(completed)) {
    const ofTypes = types.length === 0 ? all : all.where("type", "in", types);
    // The condition in the words of the partial index: planners do not look into parameters.
    const unfinished = ofTypes.where(sql<boolean>`status <> ${sql.lit(completed)}`);
    return statuses.map((status) => unfinished.where("status", "=", status));
  }
  const ofStatuses = statuses.length === 0 ? all : all.where("status", "in", statuses);
  // Nearly all activities are completed: those are met soon by walking all.
  return types.length === 0 ? [ofStatuses] : types.map((type) => ofStatuses.where("type", "=", type));
}

/** The activities with these ids, in their order. One that does not exist is left out. */
export async function loadActivities(
  store: Store,
  organizationId: string,
  activityIds: readonly string[],
): Promise<ActivityRow[]> {
  if (activityIds.length === 0) return [];
  const rows = await read(
    store.db
      .selectFrom("activities")
      .select(activityColumns)
      .where("organization_id", "=", organizationId)
      .where("activity_id", "in", activityIds),
  );
  const byId = new Map(rows.map((row) => [row.activityId, row]));
  return activityIds.flatMap((activityId) => byId.get(activityId) ?? []);
}

/** Votes after the submissions' own, oldest first, as JSON, by activity. Those that have none are left out. */
export async function loadVotes(
  store: Store,
  organizationId: string,
  activityIds: readonly string[],
): Promise<Map<string, string[]>> {
  const votes = new Map<string, string[]>();
  if (activityIds.length === 0) return votes;
  const rows = await read(
    store.db
      .selectFrom("votes")
      .select(["activity_id", "vote"])
      .where("organization_id", "=", organizationId)
      .where("activity_id", "in", activityIds)
      .orderBy("created_at_ms")
      .orderBy("vote_id"),
  );
  for (const { activity_id, vote } of rows) votes.set(activity_id, [...(votes.get(activity_id) ?? []), vote]);
  return votes;
}
