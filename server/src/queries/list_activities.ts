import { defineQuery } from "../endpoints/define_query.ts";
import { activity, activityStatus, activityType } from "../fields/activity.ts";
import { optional } from "../fields/credentials.ts";
import { organizationId } from "../fields/ids.ts";
import { type Page, paginationOptions, parsePagination, unknownCursor } from "../fields/pagination.ts";
import { Type } from "../fields/schema.ts";
import { findActivity } from "../store/activities.ts";
import { listActivityIds, loadActivities } from "../store/activity_lists.ts";
import type { Store } from "../store/store.ts";
import { activityView } from "../views/activity_view.ts";
import { readActivities } from "../views/read_activity.ts";

/**
 * Lists activities, the newest first: `before` the last id of a page is the next page, `after` an id is what is newer. A
 * page of large bodies has fewer activities than its limit; only an empty one is the end.
 */
export const listActivities = defineQuery({
  path: "list_activities",
  summary: "List activities, newest first",
  request: Type.Object({
    organizationId,
    filterByStatus: optional(Type.Array(activityStatus, { maxItems: 100, description: "Any of these statuses." })),
    filterByType: optional(Type.Array(activityType, { maxItems: 200, description: "Any of these types." })),
    paginationOptions,
  }),
  response: Type.Object({ activities: Type.Array(activity) }),
  inSnapshot: true,
  async run(store, caller, request, dialect) {
    const page = parsePagination(request.paginationOptions);
    await refuseUnknownCursors(store, request.organizationId, page);
    const filter = { statuses: request.filterByStatus ?? [], types: request.filterByType ?? [] };
    const activityIds = await listActivityIds(store, request.organizationId, filter, page);
    const rows = await loadActivities(store, request.organizationId, activityIds);
    const records = await readActivities(store, request.organizationId, rows, caller.userId);
    return { activities: records.map((record) => activityView(record, dialect)) };
  },
});

async function refuseUnknownCursors(store: Store, organizationId: string, { before, after }: Page): Promise<void> {
  for (const cursor of [before, after]) {
    if (cursor !== undefined && (await findActivity(store, organizationId, cursor)) === undefined) {
      throw unknownCursor(cursor);
    }
  }
}
