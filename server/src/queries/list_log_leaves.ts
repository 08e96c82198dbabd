import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { optional } from "../fields/credentials.ts";
import { organizationId } from "../fields/ids.ts";
import { logId, logLeaf } from "../fields/log_leaves.ts";
import { paginationOptions, parsePagination, unknownCursor } from "../fields/pagination.ts";
import { Type } from "../fields/schema.ts";
import { type LogCursor, listLogPage } from "../store/log_pages.ts";
import { type LogRow, listLogs } from "../store/public_log.ts";
import type { Store } from "../store/store.ts";
import { logLeafViews } from "../views/log_leaf_view.ts";

/**
 * Lists an organization's leaves in the log, and the operator's acts between them, in the order of the log and log by log. A cursor is
 * `logId:position` of a leaf in the list. A page of large bodies has fewer leaves than its limit; only an empty one is the end.
 */
export const listLogLeaves = defineQuery({
  path: "list_log_leaves",
  summary: "List an organization's leaves in the log, oldest first",
  request: Type.Object({ organizationId, logId: optional(logId), paginationOptions }),
  response: Type.Object({ leaves: Type.Array(logLeaf) }),
  inSnapshot: true,
  async run(store, _caller, request) {
    const { organizationId } = request;
    const logs = await readLogs(store, request.logId ?? undefined);
    const page = parsePagination(request.paginationOptions);
    const after = page.after && (await findCursor(store, organizationId, logs, page.after));
    const before = page.before && (await findCursor(store, organizationId, logs, page.before));
    const span = { limit: page.limit, after: after || undefined, before: before || undefined };
    const places = await listLogPage(store, organizationId, logs, span);
    return { leaves: await logLeafViews(store, places, span.before !== undefined && span.after === undefined) };
  },
});

async function readLogs(store: Store, logId: string | undefined): Promise<LogRow[]> {
  const logs = await listLogs(store);
  if (logId === undefined) return logs;
  const log = logs.find(({ log_id }) => log_id === logId);
  if (log === undefined) throw new Fault("not_found", `unable to find log ${logId}`);
  return [log];
}

const cursorForm = /^([0-9a-f]{32}):(0|[1-9][0-9]{0,15})$/;

/** A cursor that names another organization's leaf is as unknown as any. */
async function findCursor(
  store: Store,
  organizationId: string,
  logs: readonly LogRow[],
  cursor: string,
): Promise<LogCursor> {
  const [, logId = "", text = ""] = cursorForm.exec(cursor) ?? [];
  const position = Number(text);
  const log = logs.find(({ log_id }) => log_id === logId);
  if (log === undefined || !Number.isSafeInteger(position)) throw unknownCursor(cursor);
  const span = { limit: 1, after: undefined, before: { logId, position: position + 1 } };
  const [found] = await listLogPage(store, organizationId, [log], span);
  if (found?.position !== position) throw unknownCursor(cursor);
  return { logId, position };
}
