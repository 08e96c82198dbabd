/** approve_activity, reject_activity: they answer with the activity they vote on. */
import type { Refusal } from "../wire.ts";

export type VoteEntry = {
  selection: "VOTE_SELECTION_APPROVED" | "VOTE_SELECTION_REJECTED";
  /** What becomes of an activity that waited for this vote. */
  status: string;
  /** Whether the proposer's own vote does anything. */
  proposerMay: boolean;
};

export const approveActivity: VoteEntry = {
  selection: "VOTE_SELECTION_APPROVED",
  status: "ACTIVITY_STATUS_COMPLETED",
  proposerMay: false,
};

export const rejectActivity: VoteEntry = {
  selection: "VOTE_SELECTION_REJECTED",
  status: "ACTIVITY_STATUS_REJECTED",
  proposerMay: true,
};

export const noVote: Refusal = {
  status: 403,
  code: 7,
  message:
    "request not authorized: this user has no vote on this activity; members of the root quorum have one, and so have users whom a policy names that the activity waits for",
  errorCode: "REQUEST_NOT_AUTHORIZED",
};

export function takesNoVotes(status: string): Refusal {
  const word = status.replace("ACTIVITY_STATUS_", "").toLowerCase();
  return { ...noVote, message: `request not authorized: the activity is ${word} and takes no votes` };
}

export const noSuchActivity: Refusal = {
  status: 404,
  code: 5,
  message: "No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint",
};
