/** Changes of policies that somebody has asked for already and that wait for approvals. */
import { isDeepStrictEqual } from "node:util";
import { type Activity, activities, type Client } from "@keystead/sdk";
import type { PlannedActivity } from "./policy_plan.ts";

const paths = ["create_policy", "create_policies", "update_policy", "delete_policy", "delete_policies"] as const;
/** One version before the current one can wait as well. */
const types = [...paths.map((path) => activities[path].type), "ACTIVITY_TYPE_UPDATE_POLICY"];

/** All of them, the newest first. */
export async function waitingChanges(client: Client): Promise<Activity[]> {
  const found: Activity[] = [];
  for (;;) {
    const before = found.at(-1)?.id;
    const page = await client.listActivities({
      filterByStatus: ["ACTIVITY_STATUS_CONSENSUS_NEEDED"],
      filterByType: types,
      paginationOptions: { limit: "100", ...(before === undefined ? {} : { before }) },
    });
    // A page of large bodies is shorter than its limit: only an empty one is the end.
    if (page.activities.length === 0) return found;
    found.push(...page.activities);
  }
}

/** The activity that asks for the very same: sent again, it would have to be approved twice. */
export function findWaiting(waiting: readonly Activity[], { path, parameters }: PlannedActivity): Activity | undefined {
  return waiting.find(
    ({ type, intent }) =>
      type === activities[path].type && Object.values(intent).some((asked) => isDeepStrictEqual(asked, parameters)),
  );
}
