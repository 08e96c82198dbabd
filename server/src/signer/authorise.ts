/**
 * The decision point: may these approvers do this? Root quorum bypasses policies; everyone else is refused until a policy
 * allows. Policies will be weighed here, over facts the signer itself read from the stamped bytes.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { LeafGrounds } from "@keystead/core/log/leaf.ts";
import type { Pages } from "../state/pages.ts";

export type Decision = { kind: "allow"; grounds: LeafGrounds } | { kind: "refuse"; fault: Fault };

export function authorise({ members }: Pages, approvers: ReadonlySet<string>): Decision {
  const { threshold, userIds } = members.rootQuorum;
  const present = [...new Set(userIds)].filter((userId) => approvers.has(userId) && members.users.has(userId)).length;
  if (threshold >= 1 && present >= threshold) return { kind: "allow", grounds: "ROOT_QUORUM" };
  return { kind: "refuse", fault: noPolicyAllows() };
}

function noPolicyAllows(): Fault {
  return new Fault("permission_denied", "You don't have sufficient permissions to take this action.", {
    details: [
      {
        "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
        message: "No policies evaluated to outcome: Allow",
        policyEvaluations: [],
      },
    ],
  });
}
