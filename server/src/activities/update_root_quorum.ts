import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { checkQuorum } from "../rules/quorum.ts";
import { quorumAccess, refuseShutOut } from "../rules/quorum_origins.ts";
import { put } from "../state/entities.ts";

/** Sets who bypasses policies, and how many of them it takes. */
export const updateRootQuorum = defineActivity({
  path: "update_root_quorum",
  type: "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
  intentKey: "updateRootQuorumIntent",
  resultKey: "updateRootQuorumResult",
  summary: "Set the root quorum of an organization",
  rootQuorumOnly: true,
  params: Type.Object({
    threshold: Type.Integer({
      minimum: -2147483648,
      maximum: 2147483647,
      description: "How many members must approve.",
    }),
    userIds: Type.Array(id, { maxItems: 1_000 }),
  }),
  result: Type.Object({}),
  cost: ({ userIds }) => userIds.length * unitCosts.entry,
  state: ({ members, settings }) => ({ members, settings }),
  run({ members, settings }, { threshold, userIds }, context) {
    const rootQuorum = { threshold, userIds: [...new Set(userIds)] };
    checkQuorum(rootQuorum, members.users, settings);
    const origins = () => context.allowedOrigins();
    refuseShutOut(context, quorumAccess(members, origins), quorumAccess(members, origins, { rootQuorum }));
    return { changes: [put("rootQuorum", rootQuorum)], result: {} };
  },
});
