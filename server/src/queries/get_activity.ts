import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { activity } from "../fields/activity.ts";
import { id, organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { findActivityAnywhere } from "../store/across.ts";
import { findActivity } from "../store/activities.ts";
import type { Store } from "../store/store.ts";
import { findSubOrganization } from "../store/sub_organizations.ts";
import { activityView } from "../views/activity_view.ts";
import { readActivity } from "../views/read_activity.ts";

/**
 * Gets one activity. Members of a parent organization may name either it or the sub-organization the activity ran in; a member of one
 * sub-organization may name the parent, and finds what ran in its own.
 */
export const getActivity = defineQuery({
  path: "get_activity",
  summary: "Get one activity",
  request: Type.Object({ organizationId, activityId: id }),
  response: Type.Object({ activity }),
  findsSubOrganization: true,
  takesAttested: true,
  async run(store, caller, request, dialect, access) {
    const found = await findHereOrBelow(store, request.organizationId, request.activityId);
    if (found === undefined) {
      throw new Fault(
        "not_found",
        `unable to find activity ${request.activityId} in organization ${request.organizationId}`,
      );
    }
    const record = await readActivity(store, found.organizationId, found.row, caller.userId);
    // Only to who asks with a stamp: a read-only session must not lead to another one.
    const isOwn = caller.organizationId === found.organizationId && caller.isStamped;
    const shown = isOwn ? await access?.withBearer(record, caller.userId) : undefined;
    const proven = await access?.withAppProofs(shown ?? record);
    return { activity: activityView(proven ?? shown ?? record, dialect) };
  },
});

/**
 * Some clients poll with the organization of their session or configuration instead of the activity's. Who may read an
 * organization may read those below it, so this tells nobody more than asking for the right one would.
 */
async function findHereOrBelow(store: Store, organizationId: string, activityId: string) {
  const here = await findActivity(store, organizationId, activityId);
  if (here !== undefined) return { organizationId, row: here };
  const found = await findActivityAnywhere(store, activityId);
  const below = found && (await findSubOrganization(store, organizationId, found.organizationId));
  return below?.deletedAtMs === null ? found : undefined;
}
