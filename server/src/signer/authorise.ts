/**
 * The decision point: may this be done, with these approvals? What must be one's own act is nobody else's, whoever approves.
 * Then the root quorum bypasses policies; a user's own credentials are its own to change; everyone else is refused until a
 * policy allows. Policies will be weighed here, over facts the signer itself read from the stamped bytes.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { LeafGrounds } from "@keystead/core/log/leaf.ts";
import type { AnyActivity } from "../endpoints/define_activity.ts";
import { isActive, rootMembers } from "../rules/votes.ts";
import type { Approval } from "../state/entities.ts";
import type { MembersPage } from "../state/pages.ts";

export type Question = {
  members: MembersPage;
  activity: AnyActivity;
  /** In the newest form. */
  params: unknown;
  proposerId: string;
  approvals: readonly Approval[];
  /** It was submitted before, by somebody who might then. */
  isWaiting: boolean;
  nowMs: number;
};

export type Decision =
  | { kind: "allow"; grounds: LeafGrounds }
  /** More approvals are wanted, and could come. */
  | { kind: "consensus" }
  | { kind: "refuse"; fault: Fault };

export function authorise(question: Question): Decision {
  const { members, activity, params, proposerId, isWaiting } = question;
  if (activity.ownActOf !== undefined && activity.ownActOf(params as never) !== proposerId) {
    return { kind: "refuse", fault: refusal("`userId` must be the user who makes this request") };
  }
  const approvers = activeApprovers(question);
  const quorum = rootMembers(members);
  const { threshold } = members.rootQuorum;
  if (threshold >= 1 && quorum.filter((userId) => approvers.has(userId)).length >= threshold) {
    return { kind: "allow", grounds: "ROOT_QUORUM" };
  }
  const isOwn = activity.ownCredentialOf?.(params as never) === proposerId && approvers.has(proposerId);
  if (isOwn && activity.rootQuorumOnly !== true) return { kind: "allow", grounds: "OWN_CREDENTIAL" };
  // What waits goes on waiting while the quorum could still approve it, also when its proposer has left: one approval among
  // several that are needed must not end it.
  if ((isWaiting || quorum.includes(proposerId)) && quorum.length >= threshold) return { kind: "consensus" };
  return { kind: "refuse", fault: refusal("No policies evaluated to outcome: Allow") };
}

/** A deleted user's approval does not count, nor one whose day is over. */
function activeApprovers({ members, approvals, nowMs }: Question): Set<string> {
  const active = approvals.filter((approval) => isActive(approval, nowMs) && members.users.has(approval.userId));
  return new Set(active.map(({ userId }) => userId));
}

function refusal(message: string): Fault {
  return new Fault("permission_denied", "You don't have sufficient permissions to take this action.", {
    details: [
      {
        "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
        message,
        policyEvaluations: [],
      },
    ],
  });
}
