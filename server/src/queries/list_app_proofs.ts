import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { appProof } from "../fields/app_proofs.ts";
import { id, organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { findActivity } from "../store/activities.ts";
import { findAppProofs } from "../store/app_proofs.ts";
import { appProofsOf } from "../views/app_proofs_view.ts";

/** Lists the app proofs of an activity: of each wallet account that it derived, and of the decision. None where it asked for none. */
export const listAppProofs = defineQuery({
  path: "list_app_proofs",
  summary: "List the app proofs of an activity",
  request: Type.Object({ organizationId, activityId: id }),
  response: Type.Object({ appProofs: Type.Array(appProof) }),
  async run(store, _caller, { organizationId, activityId }, _dialect, access) {
    const stored = await findAppProofs(store, organizationId, activityId);
    if (stored !== undefined)
      return { appProofs: [...appProofsOf((await access?.openProofs(stored)) ?? stored.proofs)] };
    if ((await findActivity(store, organizationId, activityId)) === undefined) {
      throw new Fault("not_found", `unable to find activity ${activityId} in organization ${organizationId}`);
    }
    return { appProofs: [] };
  },
});
